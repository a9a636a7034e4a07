import { lstat, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { SandboxFailed, type SandboxedOutcome, type SandboxState } from '../../../platform/sandbox/sandbox-types.ts'
import { runSandboxed } from '../../../platform/sandbox/run-sandboxed.ts'
import { isInside } from '../../../platform/protected-places/places-by-path.ts'
import { placeAroundPrograms } from '../../../platform/protected-places/protected-places.ts'
import type { UserToolchain } from '../../../platform/programs/user-toolchain.ts'
import type { Message } from '../../../contract/messages.ts'
import { cutText } from '../../../lib/text.ts'
import { createMessage, englishText } from '../../../lib/messages.ts'
import { nameFolders, parsePath, PathRefused, showName, showPlace } from '../../files/folder-paths.ts'
import { openInside } from '../../files/open-inside.ts'
import { defineTool, MAX_TOOL_OUTPUT_CHARS, NO_EFFECTS, type Tool, type ToolContext, type ToolFacts, type ToolOutput } from '../tool.ts'
import { namesOf, SET_ASIDE } from '../set-aside-note.ts'
import { findProgram, NoSuchProgram } from './find-program.ts'
import { findNamedFiles } from './named-files.ts'
import { namesWhatItRuns } from './names-what-it-runs.ts'
import { createPlainStream, plainOutput } from './plain-output.ts'
import { quoteCommand, shellLineOf } from './quote-command.ts'
import { findSkills, unpackSkills, type SkillScripts } from './skill-scripts.ts'

export type RunCommandDeps = {
  /** Read for each call: a person may have installed one meanwhile. */
  sandbox: () => Promise<SandboxState>
  /** Whether a rule opens the network to this command. */
  network: (context: ToolContext, call: Pick<ToolFacts, 'subject' | 'paths'>) => Promise<boolean>
  /** The programs outside the working folder. `closed`: what the agent may not see. */
  programs: (closed: readonly string[]) => Promise<UserToolchain>
  /** The skills that an agent may use. */
  skills: SkillScripts
  /** Well-known programs, for the model. */
  names: readonly string[]
}

const MAX_ARGUMENTS = 1_000
const MAX_COMMAND_CHARS = 100_000
const DEFAULT_SECONDS = 120
const MAX_SECONDS = 1_800
const KEEP_BYTES = MAX_TOOL_OUTPUT_CHARS - 4_000
/** Shown live at most. */
const MAX_SHOWN_CHARS = 400_000
const MAX_SUMMARY_CHARS = 600

const Args = z.object({
  command: z
    .array(z.string())
    .min(1)
    .max(MAX_ARGUMENTS)
    .describe(
      `The program and its arguments, one per element: ["git", "log", "-3"]. There is no shell: no quotes, no wildcards, no pipes. If you need a shell, name it: ["sh", "-c", "…"]. Start a script in the folder with './'.`,
    ),
  folder: z
    .string()
    .describe("Where the program runs, and the only place where it can write: one of the agent's folders or a folder inside it."),
  timeoutSeconds: z
    .number()
    .int()
    .min(1)
    .max(MAX_SECONDS)
    .optional()
    .describe(`The program and everything it started are stopped after this time. Default: ${DEFAULT_SECONDS}, at most ${MAX_SECONDS}.`),
})
type RunArgs = z.output<typeof Args>

export function runCommandTool(deps: RunCommandDeps): Tool {
  return defineTool({
    name: 'run_command',
    description:
      "Runs a program in one of the agent's folders and returns its output and exit code. The program can write only in that folder, sees neither the person's home nor other files, " +
      'has no input and usually no network, and cannot continue in the background. The app asks the person first if that is needed.' +
      describePrograms(deps.names),
    args: Args,
    effect: 'once',
    parallel: false,
    limitMs: MAX_SECONDS * 1_000,
    addsTaint: ['private', 'untrusted'],
    facts: (args, context) => factsOf(args, context, deps),
    run: (args, context) => run(args, context, deps),
  })
}

function describePrograms(names: readonly string[]): string {
  if (names.length === 0) return ''
  return ` Installed, among others: ${names.join(', ')}. They run without the person's logins and settings.`
}

type PreparedCall = Awaited<ReturnType<typeof prepare>>

/** The call as it would run now. */
async function prepare({ command, folder }: RunArgs, context: ToolContext, deps: RunCommandDeps) {
  const { path, shown } = await resolveFolder(folder, context)
  // The rules allowed the call for its own folder, also inside one that they deny.
  const closed = [...context.closedFolders, ...(context.hiddenFolders ?? []).filter((hidden) => !isInside(hidden, path))]
  const [sandbox, isAllowed, programs] = await Promise.all([
    deps.sandbox(),
    deps.network(context, { subject: quoteCommand(command), paths: [path] }),
    deps.programs(closed),
  ])
  // A rule may open a network that the sandbox does not have.
  const network = { isAllowed, isOn: isAllowed && sandbox.network.works }
  const program = await findProgram(command[0]!, path, programs).catch((thrown: unknown) => {
    if (thrown instanceof NoSuchProgram) return thrown
    throw thrown
  })
  const known = typeof program === 'string' ? program : null
  const skills = await findSkills(command, context.agentId, deps.skills)
  if (skills.length > 0 && !sandbox.works)
    throw new SandboxFailed('Scripts of skills run only in the sandbox, and there is none that works on this machine.')
  const found = [
    ...(await findNamedFiles(command, { program: known, folder: path, sandboxed: sandbox.works })),
    ...skills.map(({ name, digest }) => ({ path: `skill:${name}`, mark: digest })),
  ]
  /** What an approval of the command is bound to, besides its words. */
  const bound = { paths: [path], sandboxed: sandbox.works, leavesMachine: !sandbox.works || network.isOn, program: known, found }
  const runsUnnamed = !(await namesWhatItRuns(command, found, path))
  return { path, shown, closed, sandbox, network, programs, program, skills, bound, runsUnnamed }
}

async function factsOf(args: RunArgs, context: ToolContext, deps: RunCommandDeps): Promise<ToolFacts> {
  const { shown, sandbox, network, bound, runsUnnamed } = await prepare(args, context, deps)
  return {
    ...NO_EFFECTS,
    subject: quoteCommand(args.command),
    argv: args.command,
    effectOn: effectOf(args.command, shown, sandbox, network.isOn),
    runsCode: true,
    ...(runsUnnamed ? { runsUnnamed } : {}),
    ...bound,
  }
}

/**
 * The last check before the start: throws if the command would now run something else than was allowed. A file that changes
 * between this and the program reading it is not noticed; only other jobs can run in the folder meanwhile.
 */
function requireAsJudged({ judged }: ToolContext, now: PreparedCall['bound']): void {
  if (judged === undefined) return
  const { paths, sandboxed, leavesMachine, program, found } = judged
  if (!isDeepStrictEqual({ paths, sandboxed, leavesMachine, program, found }, now))
    throw new SandboxFailed('Not run: the program, a file named in the command, or the sandbox has just changed. Call it again.')
}

function effectOf(command: readonly string[], folder: string, sandbox: SandboxState, network: boolean): Message {
  const line = shellLineOf(command)
  const held = sandbox.works ? (network ? 'with_network' : 'without_network') : 'none'
  const effect =
    line === null
      ? createMessage('effect_run', { line: cut(quoteCommand(command)), folder, sandbox: held })
      : createMessage('effect_run_shell', { line: cut(showName(line)), shell: quoteCommand(command.slice(0, 1)), folder, sandbox: held })
  return sandbox.works || sandbox.reason === null ? effect : createMessage('effect_unsandboxed', { effect, why: sandbox.reason })
}

function cut(text: string): string {
  return cutText(text, MAX_SUMMARY_CHARS, `… (${text.length} characters)`)
}

async function run(args: RunArgs, context: ToolContext, deps: RunCommandDeps): Promise<ToolOutput> {
  refuseUnusable(args.command)
  const { path, shown, closed, sandbox, network, programs, program, skills, bound } = await prepare(args, context, deps)
  if (program instanceof NoSuchProgram) throw program
  requireAsJudged(context, bound)
  const timeoutSeconds = args.timeoutSeconds ?? DEFAULT_SECONDS
  const unpacked = await unpackSkills(skills)
  const start = async () => {
    try {
      return await runSandboxed({
        sandbox,
        command: [program, ...args.command.slice(1).map(unpacked.placeOf)],
        folder: path,
        writable: [path],
        readable: unpacked.folders,
        programs,
        closed,
        network: network.isOn,
        timeoutMs: timeoutSeconds * 1_000,
        keepBytes: KEEP_BYTES,
        signal: context.signal,
        ...(context.show === undefined ? {} : { onOutput: shownIn(context.show) }),
      }).outcome
    } finally {
      await unpacked.remove()
    }
  }
  const outcome = await start()
  const notes = [
    ...(network.isAllowed && !network.isOn && sandbox.works
      ? [`[no network: ${sandbox.network.reason === null ? 'the sandbox has none' : englishText(sandbox.network.reason)}]`]
      : []),
    ...(outcome.setAside.length === 0
      ? []
      : [`[${SET_ASIDE} To restore one, use move_file; the person is asked.`, ...namesOf(outcome.setAside), ']']),
  ]
  return answerFor(outcome, { shown, timeoutSeconds, notes })
}

function refuseUnusable(command: readonly string[]): void {
  if (command.some((argument) => argument.includes('\0'))) throw new SandboxFailed('An argument cannot contain a NUL character.')
  const chars = command.reduce((sum, argument) => sum + argument.length, 0)
  if (chars > MAX_COMMAND_CHARS)
    throw new SandboxFailed(
      `A command has at most ${MAX_COMMAND_CHARS} characters, and this has ${chars}. Write long text to a file first.`,
    )
}

/** The real path of the folder. Refuses a link on the way: it could change between the decision and the start of the command. */
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
  if (around !== null)
    throw new PathRefused(
      `The folder '${shown}' is in ${showName(around)}, where files run by themselves or keys are kept. Agents cannot work in it.`,
    )
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
  processes: 'it started too many processes',
  memory: 'it used more memory than this machine can spare',
  disk: 'it wrote more to the disk than one command may, or left too little free space',
  output: 'it wrote too much output',
}

function answerFor(
  outcome: SandboxedOutcome,
  { shown, timeoutSeconds, notes }: { shown: string; timeoutSeconds: number; notes: string[] },
): ToolOutput {
  const seconds = `${(outcome.durationMs / 1000).toFixed(1)} s in ${shown}`
  const heading = {
    exited: () => `Exit code ${outcome.exitCode}${outcome.signal === null ? '' : ` (${outcome.signal})`} after ${seconds}`,
    timeout: () => `Stopped: not finished after ${timeoutSeconds} s in ${shown}. Everything it started was ended`,
    cancelled: () => `Stopped after ${seconds}`,
    limit: () => `Stopped after ${seconds}: ${LIMITS[outcome.limit!]}`,
  }[outcome.ended]()
  const body = cutText(plainOutput(outcome.output).trimEnd(), KEEP_BYTES + 100, '\n[… cut here …]')
  return { ok: outcome.exitCode === 0, output: [`${heading}.`, ...notes, body === '' ? '[no output]' : body].join('\n') }
}
