import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import { CODING_PROGRAM_NAMES } from '../../contract/coding-programs.ts'
import type { CodeTask } from '../../contract/code-tasks.ts'
import type { ToolCall } from '../../contract/jobs.ts'
import { CODE_START, type CallFacts } from '../../contract/rules.ts'
import { foldName } from '../../platform/protected-places/path-patterns.ts'
import { isInside } from '../../platform/protected-places/places-by-path.ts'
import { isRecord } from '../../lib/json-values.ts'
import { createMessage, englishText } from '../../lib/messages.ts'
import { cutText } from '../../lib/text.ts'
import { diffTexts } from '../../domain/files/unified-diff.ts'
import type { CodingCall } from '../../agent/coding/coding-session.ts'
import { CODING_PROGRAMS } from '../../agent/coding/coding-ways.ts'
import { findNamedFiles } from '../../agent/tools/run-command/named-files.ts'
import { namesWhatItRuns, wordsOfLine } from '../../agent/tools/run-command/names-what-it-runs.ts'
import { NO_EFFECTS, type Tool } from '../../agent/tools/tool.ts'

/** What the calls of a coding program are called in steps, approvals and rules. */
export type CodeCallName = 'code_read' | 'code_edit' | 'code_command' | 'code_fetch' | 'code_other'

/** `folder`: where the program works. */
export type CodePlace = Pick<CodeTask, 'cli' | 'repository' | 'sandboxed' | 'internet'> & { folder: string }

const MAX_DIFF_CHARS = 20_000
/** The limit of one diff. A reply can have many, and the time grows with the square of the edits. More would not be shown anyway. */
const MAX_EDITS = 300
const MAX_INPUT_CHARS = 20_000
const MAX_SUMMARY_CHARS = 600
const MAX_SHOWN_PATHS = 50

/**
 * By what it would do, not by what the program calls it: a command is a command, also if it is said to read. But a tool that nobody
 * knows may use all its arguments, so all of them are shown.
 */
export function nameOfCall(call: CodingCall): CodeCallName {
  if (call.kind === 'other' && (call.isInputMissing || (isRecord(call.rawInput) && Object.keys(call.rawInput).length > 1)))
    return 'code_other'
  if (call.command !== null) return 'code_command'
  if (call.url !== null) return 'code_fetch'
  if (call.kind === 'read' || call.kind === 'search') return 'code_read'
  const changesFiles = call.kind === 'edit' || call.kind === 'delete' || call.kind === 'move'
  return changesFiles && pathsOf(call).length > 0 ? 'code_edit' : 'code_other'
}

/** The call as it is recorded and as a person sees it. */
export function recordedCall(callId: string, call: CodingCall, { folder }: CodePlace): ToolCall {
  const name = nameOfCall(call)
  const paths = pathsOf(call).map((path) => shownPath(folder, path))
  const places = paths.length === 1 ? { path: paths[0]! } : { paths: paths.slice(0, MAX_SHOWN_PATHS) }
  const title = { title: call.title }
  switch (name) {
    case 'code_read':
      return { callId, name, args: { ...title, ...places } }
    case 'code_edit': {
      let diff = ''
      for (const change of call.diffs) {
        if (diff.length > MAX_DIFF_CHARS) break
        const { path, before, after } = change
        const shown = shownPath(folder, path)
        const names = { before: before === null ? '/dev/null' : `a/${shown}`, after: `b/${shown}` }
        diff += diffTexts(names, before ?? '', after, { maxEdits: MAX_EDITS }).text
      }
      // Two changes that begin alike are different calls.
      const digest = diff.length > MAX_DIFF_CHARS ? { sha256: sha256(JSON.stringify(call.diffs)) } : {}
      return { callId, name, args: { ...title, ...places, action: call.kind, diff: cutText(diff, MAX_DIFF_CHARS, '\n[… cut]'), ...digest } }
    }
    case 'code_command':
      return { callId, name, args: { ...title, command: call.command } }
    case 'code_fetch':
      return { callId, name, args: { ...title, url: call.url } }
    case 'code_other':
      return { callId, name, args: { ...title, ...places, input: cutText(inputOf(call), MAX_INPUT_CHARS) } }
  }
}

/**
 * A call that the program asks about, for the policy. All of it is the program's word, so what it does not say counts as everything.
 * The facts throw for files outside of its folder, for those by which Git knows the folder, and for a call that cannot be shown whole.
 */
export function toolOfCall(call: CodingCall, place: CodePlace): Tool {
  const name = nameOfCall(call)
  return policyTool(name, name === 'code_read' ? 'read' : 'once', () => factsOfCall(name, call, place))
}

/** The start of a program. In the sandbox, the person or the call of their agent has decided on it already. */
export function toolOfStart({ cli, repository, sandboxed }: CodePlace, program: string): Tool {
  return policyTool(CODE_START, 'once', async () => {
    const effectOn = createMessage('effect_code_start', {
      program: CODING_PROGRAM_NAMES[cli],
      path: program,
      folder: repository,
      sandbox: sandboxed ? 'yes' : 'no',
    })
    const outside = { paths: [repository], runsCode: true, leavesMachine: true, costsMoney: true, sandboxed: false, program }
    return {
      tool: CODE_START,
      effect: 'once' as const,
      subject: cli,
      summary: englishText(effectOn),
      effectOn,
      ...NO_EFFECTS,
      ...(sandboxed ? { effect: 'read' as const } : outside),
    }
  })
}

function policyTool(name: string, effect: Tool['effect'], facts: () => Promise<CallFacts>): Tool {
  return {
    name,
    effect,
    description: '',
    args: z.looseObject({}),
    parallel: false,
    facts,
    run: () => Promise.reject(new Error('The program runs it by itself.')),
  }
}

async function factsOfCall(name: CodeCallName, call: CodingCall, place: CodePlace): Promise<CallFacts> {
  if (call.isCut || (name === 'code_other' && (call.isInputMissing || inputOf(call).length > MAX_INPUT_CHARS)))
    throw new Error('It is too long to be shown. Make it smaller.')
  const { cli, folder, repository, sandboxed, internet } = place
  const program = CODING_PROGRAM_NAMES[cli]
  const relatives = await Promise.all(pathsOf(call).map((path) => pathInside(folder, path)))
  // As they will be in the person's checkout, so that rules for its folders apply.
  const paths = relatives.map((path) => join(repository, path))
  const files = cutText(relatives.slice(0, MAX_SHOWN_PATHS).join(', '), MAX_SUMMARY_CHARS)
  const facts = (effectOn: NonNullable<CallFacts['effectOn']>, subject: string, more: Partial<CallFacts>): CallFacts => ({
    tool: name,
    effect: 'once',
    subject,
    summary: englishText(effectOn),
    effectOn,
    ...NO_EFFECTS,
    paths,
    ...more,
  })
  // The program reaches its own service from the same sandbox.
  const { hosts: reaches } = CODING_PROGRAMS[cli]
  const hosts = reaches.join(', ')
  const sandbox = sandboxed ? (internet ? 'with_network' : 'only_hosts') : 'none'
  const runs = { runsCode: true, leavesMachine: true, sandboxed, ...(sandbox === 'only_hosts' ? { reaches: [...reaches] } : {}) }
  switch (name) {
    case 'code_read':
      return facts(createMessage('effect_code_read', { program, files }), files, { effect: 'read' })
    case 'code_edit':
      // Only its own folder changes. The person's files change when they take the result over.
      return facts(createMessage('effect_code_edit', { program, files }), files, { effect: 'idempotent' })
    case 'code_command': {
      const line = cutText(call.command!, MAX_SUMMARY_CHARS, `… (${call.command!.length} characters)`)
      const subject = subjectOf(call.command!, folder)
      return facts(createMessage('effect_code_command', { program, line, sandbox, hosts }), subject, {
        ...runs,
        ...(await boundTo(call.command!, place)),
        paths: [repository],
        argv: wordsOfLine(subject),
      })
    }
    case 'code_fetch':
      return facts(createMessage('effect_code_fetch', { program, url: cutText(call.url!, MAX_SUMMARY_CHARS) }), call.url!, {
        leavesMachine: true,
      })
    case 'code_other':
      return facts(
        createMessage('effect_code_other', { program, title: cutText(call.title, MAX_SUMMARY_CHARS), sandbox, hosts }),
        call.title,
        {
          leavesMachine: true,
          costsMoney: true,
          deletes: true,
          overwrites: true,
          runsCode: true,
          sandboxed,
        },
      )
  }
}

function pathsOf({ paths, diffs }: CodingCall): string[] {
  return [...new Set([...paths, ...diffs.map(({ path }) => path)])]
}

/**
 * With the folder of this job as `.`, so that a rule for the command also holds for the next job. Not if the command may leave it: then
 * the guardrails see Deckhand's own folder.
 */
function subjectOf(command: string, folder: string): string {
  return command.includes('..') ? command : command.split(`${folder}/`).join('./').split(folder).join('.')
}

/** The files that a command names, by their places in the person's checkout: each job has a folder of its own. */
async function boundTo(line: string, { folder, repository, sandboxed }: CodePlace): Promise<Pick<CallFacts, 'found' | 'runsUnnamed'>> {
  const words = wordsOfLine(line)
  const found = await findNamedFiles(words, { program: null, folder, sandboxed })
  const placed = (text: string) => text.replace(`${folder}${sep}`, `${repository}${sep}`)
  return {
    found: found.map(({ path, mark }) => ({ path: placed(path), mark: mark === null ? null : placed(mark) })),
    ...((await namesWhatItRuns(words, found, folder)) ? {} : { runsUnnamed: true }),
  }
}

function inputOf({ rawInput }: CodingCall): string {
  return JSON.stringify(rawInput) ?? ''
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function shownPath(folder: string, path: string): string {
  return isInside(folder, path) ? relative(folder, path) || '.' : path
}

/** Relative to the folder, which is a real path. Throws if it is outside, also by a link, or Git's own. */
async function pathInside(folder: string, path: string): Promise<string> {
  const full = resolve(folder, path)
  const within = relative(folder, full)
  if (!isInside(folder, full) || !isInside(folder, await realPathOf(full)))
    throw new Error(`${path} is outside of the folder of this task.`)
  if (within.split(sep).some((part) => foldName(part) === '.git')) throw new Error(`${path} belongs to Git.`)
  return within === '' ? '.' : within
}

/** Resolves the part of the path that exists. */
async function realPathOf(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => null)
    if (real !== null) return join(real, relative(at, path))
    if (dirname(at) === at) return path
  }
}
