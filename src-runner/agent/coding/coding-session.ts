import type { CodingCli } from '../../contract/coding-programs.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { englishText } from '../../lib/messages.ts'
import type { SetAside } from '../../platform/protected-places/set-aside.ts'
import type { SandboxState, ShownPrograms } from '../../platform/sandbox/sandbox-types.ts'

/** Everything in it is what the program says: untrusted, cleaned of invisible characters where a person reads it, and bounded. */
export type CodingCall = {
  /** Unique in this session. */
  callId: string
  kind: CodingCallKind
  /** One line. */
  title: string
  status: 'pending' | 'in_progress' | 'completed' | 'failed'
  /** Absolute, as the program names them. They may lie anywhere, and need not exist. */
  paths: string[]
  command: string | null
  url: string | null
  diffs: CodingDiff[]
  output: string | null
  exitCode: number | null
  rawInput: unknown
  /** A path, the list of files, the command or the address was too long and is not all here. */
  isCut: boolean
  /** `rawInput` was too long and is missing. */
  isInputMissing: boolean
}
export type CodingCallKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'other'
export type CodingDiff = { path: string; before: string | null; after: string }

/** Totals of this session so far. What the program does not tell is missing. */
export type CodingUsage = { inputTokens?: number; outputTokens?: number; cachedTokens?: number; costUsd?: number; model?: string }

/** `later`: the request stays open, and nothing more is told until `resume`. */
export type CodingAnswer = 'allow' | 'deny' | 'later'

/** They are called in the order of the program's messages. */
export type CodingHandlers = {
  text(delta: string): void
  thinking(delta: string): void
  /** When it is first seen, and again when it changes. It is over when its status is `completed` or `failed`. */
  toolCall(call: CodingCall): void
  usage(usage: CodingUsage): void
  /** If it rejects, that counts as `later`. */
  permission(request: CodingCall): Promise<CodingAnswer>
}

export type CodingTurn = { stopReason: CodingStopReason; text: string }
export type CodingStopReason = 'end_turn' | 'max_tokens' | 'max_turns' | 'refusal' | 'cancelled'

/** `limit`: it sent more than it may, or reached a limit of the sandbox. The detail is for a log. */
export type CodingEnd = { reason: 'stopped' | 'exited' | 'limit'; detail: string }

export type CodingSession = {
  /** For `loadSessionId`. Codex without its adapter has one only when its first turn has begun; until then it is empty. */
  readonly sessionId: string
  /** Whether another process of the program can go on with this session. */
  readonly canLoad: boolean
  /** One turn. Rejects with CodingSessionFailed if the program ends or refuses. A turn at a time. */
  prompt(text: string, handlers: CodingHandlers): Promise<CodingTurn>
  /**
   * Goes on with the turn that was left with `later`: tells what came meanwhile, then asks each open request again. null: there is
   * no such turn.
   */
  resume(handlers: CodingHandlers): Promise<CodingTurn> | null
  /** Ends the turn, and every process if it does not end by itself. Resolves within 2 s. */
  cancel(): Promise<void>
  /** Ends every process of it, within 2 s. */
  stop(): Promise<void>
  readonly ended: Promise<CodingEnd>
}

export type CodingFailure = 'not_signed_in' | 'too_old' | 'no_answer' | 'ended' | 'no_sandbox' | 'refused'

/** `shown` is for people. `detail` is what the program said: untrusted text, for a log. */
export class CodingSessionFailed extends Error {
  override readonly name = 'CodingSessionFailed'
  readonly code: CodingFailure
  readonly shown: Message
  readonly detail: string

  constructor(code: CodingFailure, shown: Message, detail = '', options?: ErrorOptions) {
    super(englishText(shown), options)
    this.code = code
    this.shown = shown
    this.detail = detail
  }
}

export type CodingSessionOptions = {
  cli: CodingCli
  /** Absolute, from `findCodingProgram`. Its name tells which protocol it speaks. */
  program: string
  /** The worktree. A real path. */
  folder: string
  /** `kind: 'none'`: outside. The caller has asked the person. */
  sandbox: SandboxState
  /** The person's programs, which the sandbox shows. */
  programs?: ShownPrograms
  /** Real paths of folders. */
  writable: readonly string[]
  readable: readonly string[]
  /** Hidden inside the others. */
  closed: readonly string[]
  /** false: only the hosts of the program's own service. */
  internet: boolean
  env: Readonly<Record<string, string>>
  /** A session of an earlier process. */
  loadSessionId?: string
  /** Lines of its error output, and those of its output that are no messages. */
  onLog(text: string): void
  /** What it put where files run by themselves, as soon as it is renamed. The text of a turn names it too. */
  onSetAside(setAside: readonly SetAside[]): void
  signal: AbortSignal
  clock: Pick<Clock, 'sleep' | 'monotonic'>
  limits?: Partial<CodingLimits>
}

export type CodingLimits = {
  /** For each answer while it starts. */
  startMs: number
  /** Between asking it to stop its turn and killing it. */
  cancelMs: number
}
