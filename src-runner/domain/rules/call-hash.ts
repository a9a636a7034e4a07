import { createHash } from 'node:crypto'
import type { CallFacts } from '../../contract/rules.ts'

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
  const { subject, paths, found = [], program, sandboxed, leavesMachine, costsMoney, deletes, overwrites, runsCode, runsLater } = facts
  const marks = found.map(({ path, mark }) => ({ path, mark }))
  return { subject, paths, found: marks, program, sandboxed, leavesMachine, costsMoney, deletes, overwrites, runsCode, runsLater }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** JSON with sorted keys. Arguments come from JSON and are bounded in size and depth before they get here. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, held]) => held !== undefined)
  // Not by locale, so that the order is the same everywhere.
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, held]) => `${JSON.stringify(key)}:${canonicalJson(held)}`).join(',')}}`
}
