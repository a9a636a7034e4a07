import { createHash } from 'node:crypto'
import type { CallFacts } from '../../contract/rules.ts'
import { canonicalJson } from '../../lib/json-values.ts'

/** SHA-256 in hex over the tool, the arguments and, if known, the deciding facts. An approved call must have the same hash when it runs. */
export function hashOfCall(tool: string, args: unknown, facts: CallFacts | null = null): string {
  const bound = facts === null ? '' : `\n${canonicalJson(boundFactsOf(facts))}`
  return sha256(`${tool}\n${canonicalJson(args)}${bound}`)
}

/** SHA-256 in hex over the folder, program and scripts of a command, apart from its words. */
export function digestOfCommand({ paths, program = null, found = [] }: CallFacts): string {
  return sha256(canonicalJson({ paths, program, found }))
}

/** The facts that show whether the same call would now do more or affect something else. The summary is not one of them. */
function boundFactsOf(facts: CallFacts) {
  const {
    subject,
    paths,
    found = [],
    program,
    sandboxed,
    leavesMachine,
    reaches,
    costsMoney,
    deletes,
    overwrites,
    runsCode,
    runsLater,
  } = facts
  const marks = found.map(({ path, mark }) => ({ path, mark }))
  return { subject, paths, found: marks, program, sandboxed, leavesMachine, reaches, costsMoney, deletes, overwrites, runsCode, runsLater }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
