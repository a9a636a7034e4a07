import type { SetAside } from '../protected-places/set-aside.ts'
import type { NetworkDoorOptions } from './network-door.ts'

/** How a machine can hold a process in. `none`: it cannot, `reason` says why and `advice` what a person can do. */
export type BoxState = {
  kind: 'bubblewrap' | 'seatbelt' | 'none'
  /** A command really ran inside and could not reach what it must not. */
  works: boolean
  reason: string | null
  advice: string | null
  /** Whether a boxed command can have a network that leads to the internet, and not to this machine's own servers. */
  network: { works: boolean; reason: string | null; advice: string | null }
  checkedAt: number
  /** What `runBoxed` starts it with. */
  setup: BubblewrapSetup | SeatbeltSetup | null
}

export type BubblewrapSetup = {
  kind: 'bubblewrap'
  bwrap: string
  /** Absolute paths of the helpers, all from fixed folders. */
  programs: BoxPrograms
  /** `--disable-userns`, from bubblewrap 0.8. Where it is missing the call filter refuses new user namespaces. */
  disablesUserNamespaces: boolean
  /** From Linux 5.14 processes are counted per box; before, per person, which would count the whole desktop. */
  countsProcessesPerBox: boolean
  /** Folders and links directly under `/` that belong to the system. */
  root: readonly RootEntry[]
}

export type BoxPrograms = {
  sh: string
  stat: string
  prlimit: string
  nice: string
  choom: string | null
  unshare: string | null
  mount: string | null
  /** Carries connections in the box to the proxy outside. null: boxed commands have no network. */
  python: string | null
}

export type RootEntry = { path: string; linkTo: string | null }

export type SeatbeltSetup = { kind: 'seatbelt'; sandboxExec: string; sh: string }

/** Programs beside the system's own: where they are looked for, and what of the disk is shown for them, to read alone. */
export type ShownPrograms = {
  /** All folders of PATH, the system's among them. */
  path: readonly string[]
  /** Files and folders, as real paths and none inside another. Nobody in a box can write to them, and no agent outside. */
  shown: readonly string[]
  /** Inside of them, but not shown. */
  covered: readonly { path: string; kind: 'file' | 'folder' }[]
  /** Where a person calls a place otherwise than it is: links in programs lead there by that name. */
  links: readonly { path: string; to: string }[]
  env: Readonly<Record<string, string>>
}

export type BoxLimits = {
  /** Processes alive at the same moment. */
  processes: number
  /** Of one process: what it may allocate. */
  memoryBytesEach: number
  /** Of all together: what they hold in memory. */
  memoryBytes: number
  /** Of one file. */
  fileBytes: number
  /** By which the room on the disk may shrink while it runs; never by more than half of what was free. */
  diskBytes: number
  /** Files and folders, in the same way. */
  diskFiles: number
  /** Of the private folders for temporary files, which live in memory. */
  temporaryBytes: number
  /** Written to the output streams, before the command is stopped. */
  outputBytes: number
}

export type BoxOptions = {
  /** As `findBox` answered. With `none` the command runs unboxed, with the same caps on time and output. */
  box: BoxState
  /** The program as an absolute path, and its arguments. No shell reads them. */
  command: readonly [program: string, ...args: string[]]
  /** Where it starts: one of the writable folders or inside it. All folders are real paths: no part may be a link. */
  folder: string
  writable: readonly string[]
  /** Visible, but not writable, besides the system's own folders. */
  readable?: readonly string[]
  /** Left out: the system's alone. */
  programs?: ShownPrograms
  /** Files and folders that stay hidden where they lie inside the others. */
  closed?: readonly string[]
  /** The internet through a proxy. Has no effect where the box's own `network` does not work. */
  network?: boolean | NetworkDoorOptions
  /** Added to the short list of variables that every command gets. */
  env?: Readonly<Record<string, string>>
  timeoutMs: number
  /** How much of the output is kept: half from its beginning, half from its end. */
  keepBytes?: number
  limits?: Partial<BoxLimits>
  /** The output while it comes, in pieces of whole characters. */
  onOutput?(text: string): void
  signal?: AbortSignal
}

export type ReachedLimit = 'processes' | 'memory' | 'disk' | 'output'

export type BoxedEnding = {
  ended: 'exited' | 'timeout' | 'cancelled' | 'limit'
  /** Of the command, where it ended on its own; 128 + n for one that signal n ended. */
  exitCode: number | null
  signal: NodeJS.Signals | null
  limit: ReachedLimit | null
  /** Both streams in the order in which they were written, with a mark where the middle was cut out. */
  output: string
  outputBytes: number
  durationMs: number
  /** What it put where things run by themselves, and what that is called now. */
  setAside: SetAside[]
}

export type BoxedProcess = {
  /** Throws BoxFailed when the command was never started. */
  ending: Promise<BoxedEnding>
  /** SIGTERM to everything in it, and SIGKILL to what is left after a moment. */
  stop(): void
}

/** The box could not be built; the command did not run. The message is a sentence for people. */
export class BoxFailed extends Error {
  override readonly name = 'BoxFailed'
}
