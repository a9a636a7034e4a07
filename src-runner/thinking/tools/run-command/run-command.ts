import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { BoxFailed, type BoxedEnding, type BoxState } from '../../../base/box/box-types.ts'
import { runBoxed } from '../../../base/box/run-boxed.ts'
import { isInside, placeAroundPrograms } from '../../../base/protected-places/protected-places.ts'
import type { OwnPrograms } from '../../../base/programs/own-programs.ts'
import type { CallEffect } from '../../../contract/rules.ts'
import { say, saidAs } from '../../../kit/said.ts'
import { nameFolders, parsePath, PathRefused, showName, showPlace } from '../../folder-access/folder-paths.ts'
import { openInside } from '../../folder-access/open-inside.ts'
import { defineTool, MAX_TOOL_OUTPUT_CHARS, type Tool, type ToolContext, type ToolFacts, type ToolOutput } from '../tool.ts'
import { findProgram, NoSuchProgram } from './find-program.ts'
import { findNamedFiles } from './named-files.ts'
import { createPlainStream, plainOutput } from './plain-output.ts'
import { quoteCommand, shellLineOf } from './quote-command.ts'

export type RunCommandDeps = {
  /** Which box there is now. Asked anew for each call: a person may have installed one meanwhile. */
  box: () => Promise<BoxState>
  /** Whether a rule opens the network to this command, which the call's `subject` and `paths` tell. */
  network: (context: ToolContext, call: Pick<ToolFacts, 'subject' | 'paths'>) => Promise<boolean>
  /** Which programs there are, besides those of the working folder. `closed`: what the agent may not see. */
  programs: (closed: readonly string[]) => Promise<OwnPrograms>
  /** Well-known ones among them, for the model. */
  names: readonly string[]
}

const MAX_ARGUMENTS = 1_000
const MAX_COMMAND_CHARS = 100_000
const DEFAULT_SECONDS = 120
const MAX_SECONDS = 1_800
const KEEP_BYTES = MAX_TOOL_OUTPUT_CHARS - 4_000
/** A page is not meant to follow more than this while it happens. */
const MAX_SHOWN_CHARS = 400_000
const MAX_SUMMARY_CHARS = 600

const Args = z.object({
  command: z
    .array(z.string())
    .min(1)
    .max(MAX_ARGUMENTS)
    .describe(
      `The program and its arguments, each an element of its own: ["git", "log", "-3"]. No shell reads them: no quotes, no wildcards, no pipes. Where a shell is really needed, name it: ["sh", "-c", "…"]. A script in the folder begins with './'.`,
    ),
  folder: z.string().describe("Where it runs, and the only place where it can write: one of the agent's folders or a folder inside it."),
  timeoutSeconds: z
    .number()
    .int()
    .min(1)
    .max(MAX_SECONDS)
    .optional()
    .describe(`It is stopped after this time, with all that it has started. Default: ${DEFAULT_SECONDS}, at most ${MAX_SECONDS}.`),
})
type RunArgs = z.output<typeof Args>

export function runCommandTool(deps: RunCommandDeps): Tool {
  return defineTool({
    name: 'run_command',
    description:
      "Runs a program in one of the agent's folders and answers with its output and exit code. It can write in that folder only, sees neither the person's home nor other files, " +
      'has no input and usually no network, and nothing of it goes on in the background. The system asks the person first where that is needed.' +
      saidOf(deps.names),
    args: Args,
    effect: 'once',
    parallel: false,
    brings: ['private', 'untrusted'],
    facts: (args, context) => factsOf(args, context, deps),
    run: (args, context) => run(args, context, deps),
  })
}

/** A program runs without the person's settings, so one that has a login in a terminal has none here. */
function saidOf(names: readonly string[]): string {
  if (names.length === 0) return ''
  return ` Here are, among others: ${names.join(', ')}. None of them is logged in to anything, and none has the person's settings.`
}

async function factsOf(args: RunArgs, context: ToolContext, deps: RunCommandDeps): Promise<ToolFacts> {
  const place = await resolveFolder(args.folder, context)
  const { box, network } = await circumstances(args, place.path, context, deps)
  return { ...(await boundFacts(args, place.path, { box, network }, context, deps)), ...wordsOf(args, place, { box, network }) }
}

function wordsOf(args: RunArgs, place: { path: string; shown: string }, { box, network }: Pick<Circumstances, 'box' | 'network'>) {
  return {
    subject: quoteCommand(args.command),
    argv: args.command,
    summary: summaryOf(args.command, place.shown, box, network),
    effectOn: effectOf(args.command, place.shown, box, network),
    costsMoney: false,
    deletes: false,
    overwrites: false,
    runsCode: true,
  }
}

type BoundFacts = Required<Pick<ToolFacts, 'paths' | 'boxed' | 'leavesMachine' | 'program' | 'found'>>

/** What a decision about the command holds for, apart from its words. */
async function boundFacts(
  { command }: RunArgs,
  path: string,
  { box, network }: Pick<Circumstances, 'box' | 'network'>,
  context: ToolContext,
  deps: RunCommandDeps,
): Promise<BoundFacts> {
  const programs = await deps.programs(context.closedFolders)
  const program = await findProgram(command[0]!, path, programs).catch((thrown: unknown) => {
    if (thrown instanceof NoSuchProgram) return null
    throw thrown
  })
  const found = await findNamedFiles(command, program, path)
  return { paths: [path], boxed: box.works, leavesMachine: !box.works || network, program, found }
}

/**
 * The last look before the start: throws when the command would no longer run what it was allowed for. A file that changes
 * between this and the program reading it is not seen; nothing of the agent runs in its folder meanwhile but other jobs.
 */
function requireAsJudged({ judged }: ToolContext, now: BoundFacts): void {
  if (judged === undefined) return
  const { paths, boxed, leavesMachine, program, found } = judged
  if (!isDeepStrictEqual({ paths, boxed, leavesMachine, program, found }, now))
    throw new BoxFailed('Not run: the program, a file that the command names, or the sandbox changed just now. Call it again.')
}

type Circumstances = { box: BoxState; network: boolean; wanted: boolean }

async function circumstances({ command }: RunArgs, path: string, context: ToolContext, deps: RunCommandDeps): Promise<Circumstances> {
  const call = { subject: quoteCommand(command), paths: [path] }
  const [box, wanted] = await Promise.all([deps.box(), deps.network(context, call)])
  return { box, wanted, network: wanted && box.network.works }
}

function summaryOf(command: readonly string[], folder: string, box: BoxState, network: boolean): string {
  const line = shellLineOf(command)
  const what =
    line === null ? `“${quoteCommand(command)}”` : `the shell line “${showName(line)}” (read by ${quoteCommand(command.slice(0, 1))})`
  const how = box.works
    ? `boxed, ${network ? 'with network' : 'without network'}`
    : `without a box: it can do whatever you can. ${box.reason ?? ''}`.trim()
  return `Runs ${cut(what)} in ${folder}, ${how}`
}

function effectOf(command: readonly string[], folder: string, box: BoxState, network: boolean): CallEffect {
  const line = shellLineOf(command)
  return {
    code: 'run',
    line: cut(line === null ? quoteCommand(command) : showName(line)),
    shell: line === null ? null : quoteCommand(command.slice(0, 1)),
    folder,
    box: box.works ? (network ? 'with_network' : 'without_network') : 'none',
    ...saidAs('why', box.works ? null : box.reason),
  }
}

function cut(text: string): string {
  return text.length <= MAX_SUMMARY_CHARS ? text : `${text.slice(0, MAX_SUMMARY_CHARS).toWellFormed()}… (${text.length} characters)`
}

async function run(args: RunArgs, context: ToolContext, deps: RunCommandDeps): Promise<ToolOutput> {
  refuseUnusable(args.command)
  const { path, shown } = await resolveFolder(args.folder, context)
  const { box, network, wanted } = await circumstances(args, path, context, deps)
  const [name, ...rest] = args.command as [string, ...string[]]
  const programs = await deps.programs(context.closedFolders)
  const program = await findProgram(name, path, programs)
  requireAsJudged(context, await boundFacts(args, path, { box, network }, context, deps))
  const timeoutSeconds = args.timeoutSeconds ?? DEFAULT_SECONDS
  const ending = await runBoxed({
    box,
    command: [program, ...rest],
    folder: path,
    writable: [path],
    programs,
    closed: context.closedFolders,
    network,
    timeoutMs: timeoutSeconds * 1_000,
    keepBytes: KEEP_BYTES,
    signal: context.signal,
    ...(context.show === undefined ? {} : { onOutput: shownIn(context.show) }),
  }).ending
  const notes = [
    ...(wanted && !network && box.works ? [`[no network: ${box.network.reason ?? 'the box has none'}]`] : []),
    ...notesOn(ending.setAside),
  ]
  return answerFor(ending, { shown, timeoutSeconds, notes })
}

const MAX_NAMED = 20

/** For the model: what it meant may need another way, and moving such a file back is a call that a person is asked about. */
function notesOn(setAside: BoxedEnding['setAside']): string[] {
  if (setAside.length === 0) return []
  const lines = setAside.slice(0, MAX_NAMED).map(({ path, to }) => {
    return to === null
      ? `${showName(path)}: this could not be done, and a person has to look at it`
      : `${showName(path)} is now ${showName(to)}`
  })
  const more = setAside.length > MAX_NAMED ? [`… and ${setAside.length - MAX_NAMED} more`] : []
  return [
    '[Set aside, because it would run by itself later (git, shell, editor, CI). To put one back, use move_file: the person is asked.',
    ...lines,
    ...more,
    ']',
  ]
}

function refuseUnusable(command: readonly string[]): void {
  if (command.some((argument) => argument.includes('\0'))) throw new BoxFailed('An argument of a command cannot hold a NUL character.')
  const chars = command.reduce((sum, argument) => sum + argument.length, 0)
  if (chars > MAX_COMMAND_CHARS)
    throw new BoxFailed(`A command has at most ${MAX_COMMAND_CHARS} characters; this one has ${chars}. Write long text to a file first.`)
}

/**
 * The real path of the folder that is meant. A link on the way is refused: where it leads could change between the
 * moment in which the rules were asked about the folder and the moment in which the command starts in it.
 */
async function resolveFolder(text: string, { folders, closedFolders }: ToolContext): Promise<{ path: string; shown: string }> {
  const place = parsePath(text, nameFolders(folders, { closedFolders }))
  if (place === null) throw new PathRefused("Name the folder to run in: one of the agent's folders or a folder inside it.")
  const opened = await openInside(place)
  await opened.close()
  const shown = showPlace(opened.place)
  if (opened.kind === 'file') throw new PathRefused(`'${shown}' is a file. Name the folder to run in.`)
  const root = await realpath(place.folder.path)
  const path = join(root, ...opened.place.parts)
  if ((await realpath(path)) !== path || !isInside(root, path) || !(await lstat(path)).isDirectory())
    throw new PathRefused(`'${shown}' leads through a link. Name the folder itself.`)
  const around = await placeAroundPrograms({ path, folder: root })
  if (around !== null) throw new PathRefused(say('path_folder_protected', { folder: shown, path: showName(around) }))
  return { path, shown }
}

function shownIn(show: (text: string) => void): (text: string) => void {
  const plain = createPlainStream()
  let room = MAX_SHOWN_CHARS
  return (piece) => {
    if (room <= 0) return
    const text = plain(piece)
    room -= text.length
    show(room > 0 ? text : `${text.slice(0, text.length + room).toWellFormed()}\n[… the rest is shown at the end …]\n`)
  }
}

const LIMITS = {
  processes: 'it had started too many processes',
  memory: 'it took more memory than this machine can spare',
  disk: 'it wrote more to the disk than one command may, or left too little space there',
  output: 'it wrote more output than is read',
}

function answerFor(
  ending: BoxedEnding,
  { shown, timeoutSeconds, notes }: { shown: string; timeoutSeconds: number; notes: string[] },
): ToolOutput {
  const seconds = `${(ending.durationMs / 1000).toFixed(1)} s in ${shown}`
  const heading = {
    exited: () => `Exit code ${ending.exitCode}${ending.signal === null ? '' : ` (${ending.signal})`} after ${seconds}`,
    timeout: () => `Stopped: not done after ${timeoutSeconds} s in ${shown}. Everything that it had started was ended`,
    cancelled: () => `Stopped after ${seconds}`,
    limit: () => `Stopped after ${seconds}: ${LIMITS[ending.limit!]}`,
  }[ending.ended]()
  const text = plainOutput(ending.output).trimEnd()
  const body = text.length <= KEEP_BYTES + 100 ? text : `${text.slice(0, KEEP_BYTES).toWellFormed()}\n[… cut here …]`
  return { ok: ending.exitCode === 0, output: [`${heading}.`, ...notes, body === '' ? '[no output]' : body].join('\n') }
}
