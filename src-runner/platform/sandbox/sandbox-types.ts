import type { Message } from '../../contract/messages.ts'
import type { SetAside } from '../protected-places/set-aside.ts'
import type { NetworkProxyOptions } from './network-proxy.ts'

/** `none`: there is no sandbox; `reason` says why and `advice` what the person can do. */
export type SandboxState = {
  kind: 'bubblewrap' | 'seatbelt' | 'none'
  /** A test command ran in it and could not escape. */
  works: boolean
  reason: Message | null
  advice: Message | null
  /** Whether a sandboxed command can reach the internet without reaching this machine's own servers. */
  network: { works: boolean; reason: Message | null; advice: Message | null }
  checkedAt: number
  setup: BubblewrapSetup | SeatbeltSetup | null
}

export type BubblewrapSetup = {
  kind: 'bubblewrap'
  bwrap: string
  /** Absolute paths. */
  programs: SandboxPrograms
  /** `--disable-userns`, from bubblewrap 0.8. Without it the seccomp filter refuses new user namespaces. */
  disablesUserNamespaces: boolean
  /** From Linux 5.14 processes are counted per sandbox. Before, the limit would count the whole desktop. */
  countsProcessesPerSandbox: boolean
  /** Folders and links directly under `/` that belong to the system. */
  root: readonly RootEntry[]
}

export type SandboxPrograms = {
  sh: string
  stat: string
  prlimit: string
  nice: string
  choom: string | null
  unshare: string | null
  mount: string | null
  /** Runs the network forwarder. null: sandboxed commands have no network. */
  python: string | null
}

export type RootEntry = { path: string; linkTo: string | null }

export type SeatbeltSetup = { kind: 'seatbelt'; sandboxExec: string; sh: string }

/** Covered by an empty folder or file. */
export type HiddenPlace = { path: string; kind: 'file' | 'folder' }

/** The person's programs, shown read-only. */
export type ShownPrograms = {
  /** All folders of PATH, including the system's. */
  path: readonly string[]
  /** Real paths of files and folders, none inside another. No agent can write to them. */
  shown: readonly string[]
  /** Hidden places inside `shown`. */
  covered: readonly HiddenPlace[]
  /** Other names of places, such as a home that is a link. Links in programs use them. */
  links: readonly { path: string; to: string }[]
  env: Readonly<Record<string, string>>
}

export type SandboxLimits = {
  /** Alive at the same time. */
  processes: number
  /** Allocated by one process. */
  memoryBytesEach: number
  /** Resident memory of all processes. */
  memoryBytes: number
  /** The limit of one file. */
  fileBytes: number
  /** How much free disk space may shrink in about a minute, and never by more than half. */
  diskBytes: number
  /** The same for the number of free inodes. */
  diskFiles: number
  /** The limit of each private temporary folder, which is in memory. */
  temporaryBytes: number
  /** The limit of output. At it, the command is stopped. */
  outputBytes: number
}

export type SandboxOptions = {
  /** From `findSandbox`. With `none` the command runs unsandboxed, with the same limits on time and output. */
  sandbox: SandboxState
  /** An absolute path and arguments. No shell parses them. */
  command: readonly [program: string, ...args: string[]]
  /** The working folder, in one of the writable ones. All folders are real paths. */
  folder: string
  writable: readonly string[]
  /**
   * Those of `writable` whose files get nowhere before a person has seen them. There, only repositories are guarded: settings of
   * editors, hooks and workflows are files like others.
   */
  reviewed?: readonly string[]
  /** Those of `writable` that nobody else enters, such as the program's home. What appears there is renamed only after it has ended. */
  own?: readonly string[]
  /** Read-only, besides the system's folders. */
  readable?: readonly string[]
  /** Default: the system's. */
  programs?: ShownPrograms
  /** Files and folders that stay hidden inside the others. */
  closed?: readonly string[]
  /** Access to the internet through a proxy. No effect if the sandbox's `network` does not work. */
  network?: boolean | NetworkProxyOptions
  /** Its errors are a stream of their own. Default: part of the output. */
  separatesErrors?: boolean
  /** Added to the variables that every command gets. */
  env?: Readonly<Record<string, string>>
  timeoutMs: number
  /** How much output is kept, half from its beginning and half from its end. */
  keepBytes?: number
  limits?: Partial<SandboxLimits>
  /** Receives output while the command runs, in whole characters. */
  onOutput?(text: string): void
  /** Receives what was renamed as soon as it was. */
  onSetAside?(setAside: readonly SetAside[]): void
  signal?: AbortSignal
}

export type ReachedLimit = 'processes' | 'memory' | 'disk' | 'output'

export type SandboxedOutcome = {
  ended: 'exited' | 'timeout' | 'cancelled' | 'limit'
  /** If the command exited by itself; 128 + n if signal n ended it. */
  exitCode: number | null
  signal: NodeJS.Signals | null
  limit: ReachedLimit | null
  /** Both streams in order, with a mark where the middle was left out. */
  output: string
  outputBytes: number
  durationMs: number
  /** What it put where files run by themselves, with its new name. */
  setAside: SetAside[]
}

export type SandboxedProcess = {
  /** Rejects with SandboxFailed if the command was never started. */
  outcome: Promise<SandboxedOutcome>
  /** Sends SIGTERM to every process, then SIGKILL. */
  stop(): void
}

/** The command did not run. The message is for people. */
export class SandboxFailed extends Error {
  override readonly name = 'SandboxFailed'
}
