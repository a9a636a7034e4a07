import type { Message } from '../../contract/messages.ts'
import type { AskedQuestion } from '../../contract/approvals.ts'
import type { Limits, ModelRef } from '../../contract/agents.ts'
import type { JobErrorCode } from '../../contract/errors.ts'
import type { JobOutput } from '../../contract/jobs.ts'
import type { Taint, CallFacts } from '../../contract/rules.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ModelSource, PromptMessage, PromptToolCall, ReplyParts } from '../providers/model.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import type { ContextWindows } from './context-windows.ts'
import type { CallCost } from './cost-of-call.ts'

export type PolicyQuestion = {
  call: PromptToolCall
  tool: Tool
  /** The parsed arguments: exactly what would run. */
  args: Record<string, unknown>
  context: ToolContext
  /** A `once` call that an earlier attempt started and never finished: its effect is unknown. */
  startedBefore: boolean
  /**
   * The call comes after one of the same reply that waits, so it cannot run now. The policy still asks about it, so that
   * the person can answer everything at once.
   */
  ahead: boolean
  /** What the call, which is under way, asks the person. */
  asks?: AskedQuestion
}

/**
 * What the tool policy decides about one call. `run`: the tool gets `facts` and compares them with what it finds; a call
 * that was started before runs only with `again`, a person's own decision, or if it is still under way. `answer`: the model reads
 * this instead of a
 * run. `wait`: the attempt ends here, and the answer wakes the job.
 */
export type PolicyVerdict =
  | { verdict: 'run'; facts?: CallFacts; again?: true; underWay?: true; note?: PersonNote }
  | { verdict: 'deny'; reason: string; addsTaint?: readonly Taint[] }
  | { verdict: 'answer'; ok: boolean; output: string; addsTaint?: readonly Taint[] }
  | { verdict: 'wait'; status: 'awaiting_approval' | 'awaiting_child' }

/** What the person wrote when they approved the call. The model reads it with the result. */
export type PersonNote = { text: string; addsTaint: readonly Taint[] }

export type Used = { turns: number; toolCalls: number; costMicros: number; workingMs: number }

export type RecordedReply = CallCost & {
  text: string
  reasoning: string
  toolCalls: PromptToolCall[]
  model: ModelRef
  interrupted: boolean
  durationMs: number
  /** What goes back to the model with this reply. */
  sent?: ReplyParts
}

export type RecordedResult = {
  callId: string
  name: string
  ok: boolean
  output: string
  durationMs: number
  /** false: the call was refused, so it neither read nor sent anything. */
  ran: boolean
  addsTaint: readonly Taint[]
  result?: JobOutput
}

/** Each promise resolves when the step is on disk, and rejects with `StaleClaimError` if this attempt may no longer write. */
export type StepRecorder = {
  reply(reply: RecordedReply): Promise<void>
  toolStarted(call: { callId: string; name: string }): Promise<void>
  toolResult(result: RecordedResult): Promise<void>
}

/** Live progress for the page. Never awaited, never recorded. */
export type LoopProgress = {
  delta(text: string): void
  /** The current reply starts again: drop the deltas since the last step. */
  reset(): void
  tool(call: { callId: string; name: string; state: 'running' | 'done' | 'failed' | 'denied' }): void
  toolOutput(callId: string, text: string): void
  /** A sign of life without text: the model is thinking. */
  alive(): void
  activity(activity: 'model' | 'tool' | 'retry_wait', detail: string | Message | null, until: number | null): void
}

export type LoopInput = {
  /** The models to try, in order. Never empty. */
  models: ModelRef[]
  /** System text, earlier turns, the task. */
  prompt: PromptMessage[]
  /** The job's own steps so far. The last reply may have calls without results. */
  transcript: PromptMessage[]
  /** Calls that were recorded as started and have no result. */
  startedCallIds: ReadonlySet<string>
  tools: Tool[]
  toolContext: Omit<ToolContext, 'callId' | 'signal'>
  limits: Limits
  /** What earlier attempts used. */
  used: Used
  /** How often the job was postponed in a row for one cause since its last step. null: it was not. */
  postponed: { cause: PostponeCause; times: number } | null
  signal: AbortSignal
}

export type LoopBudget = {
  /**
   * Called before every model call with its highest expected cost (null: the price is unknown). `costSoFarMicros`: what
   * calls for the same reply have cost, which no row knows yet.
   */
  reserve(estimateMicros: number | null, costSoFarMicros: number, signal: AbortSignal): Promise<Reserved>
  /** Releases the reservation, except for what calls have cost that no row knows yet. */
  release(unrecordedMicros?: number): void
}
/** `wait`: a person is asked for more money. `refused`: there is none; the text says why. */
export type Reserved = { reserved: true } | { reserved: false; wait: 'awaiting_approval' } | { reserved: false; refused: Message }

export type LoopDeps = {
  models: ModelSource
  /** Absent: only the job's own limit applies. */
  budget?: LoopBudget
  /** Shared with other jobs. Absent: this job learns context windows by itself. */
  windows?: ContextWindows
  policy: (question: PolicyQuestion) => Promise<PolicyVerdict>
  record: StepRecorder
  progress: LoopProgress
  clock: Clock
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
}

/** No model responds, or what may last a day: the keychain with their keys is locked, or this machine is offline. */
export type PostponeCause = 'silence' | 'keychain'

/** How an attempt ends. `text` is what was said so far. */
export type LoopOutcome =
  /**
   * `reply` is the last reply, not recorded yet, so that it commits together with the end of the job; null if it is
   * recorded already. `noOp`: it found nothing new, so nobody is notified.
   */
  | { kind: 'completed'; text: string; reply: RecordedReply | null; noOp?: boolean }
  | { kind: 'waiting'; status: 'awaiting_approval' | 'awaiting_child'; text: string }
  | { kind: 'failed'; error: JobErrorCode; message: Message; text: string }
  /** No model responds now; the job runs again later. */
  | { kind: 'postponed'; cause: PostponeCause; waitMs: number; message: Message; notifiesOwner: boolean; text: string }
  | { kind: 'aborted'; text: string }
