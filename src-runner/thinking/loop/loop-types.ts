import type { Limits, ModelRef } from '../../contract/agents.ts'
import type { JobErrorCode } from '../../contract/errors.ts'
import type { JobOutput } from '../../contract/jobs.ts'
import type { Brings, CallFacts } from '../../contract/rules.ts'
import type { Clock } from '../../kit/clock.ts'
import type { ModelSource, PromptMessage, PromptToolCall, ReplyParts, Usage } from '../models/model.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import type { WindowBook } from './window-book.ts'

/** One call that wants to run. */
export type GateQuestion = {
  call: PromptToolCall
  tool: Tool
  /** The arguments as the tool would get them: exactly what would run. */
  args: Record<string, unknown>
  context: ToolContext
  /** A `once` call that an earlier attempt had begun: nobody knows whether it happened. */
  startedBefore: boolean
  /**
   * Another call of the same reply waits, and this one comes behind it: it will not run now, but what has to be asked about
   * it is asked, so that a person answers everything at once.
   */
  ahead: boolean
}

/**
 * What the gate says of one tool call. `run`: with these facts, which the tool compares with what it finds. `wait`: the attempt ends here and the answer wakes the job. `answer`: the
 * model reads this in place of a run ("it did happen"). A call that was started before runs only when the verdict
 * says so by `again`, which stands for a person's own decision; a plain `run` is then not enough.
 */
export type GateVerdict =
  | { verdict: 'run'; facts?: CallFacts; again?: true }
  | { verdict: 'deny'; reason: string; brings?: readonly Brings[] }
  | { verdict: 'answer'; ok: boolean; output: string; brings?: readonly Brings[] }
  | { verdict: 'wait'; status: 'awaiting_approval' | 'awaiting_child' }

/** What was used up before this attempt, read from the recorded steps. */
export type Used = { turns: number; toolCalls: number; costMicros: number; workingMs: number }

/** A complete reply, ready to be recorded. */
export type RecordedReply = {
  text: string
  reasoning: string
  toolCalls: PromptToolCall[]
  model: ModelRef
  usage: Usage
  estimated: boolean
  costMicros: number
  priced: boolean
  interrupted: boolean
  durationMs: number
  /** What is to go back to the model with it. */
  sent?: ReplyParts
}

export type RecordedResult = {
  callId: string
  name: string
  ok: boolean
  output: string
  durationMs: number
  /** Whether the tool was really run: what was refused brought nothing in and let nothing out. */
  ran: boolean
  brings: readonly Brings[]
  result?: JobOutput
}

/**
 * Where the loop writes. Each promise resolves after the step is on disk. They throw `ClaimLost` when this attempt
 * is no longer the one that may write; the loop then ends at once and does nothing more.
 */
export type StepRecorder = {
  reply(reply: RecordedReply): Promise<void>
  toolStarted(call: { callId: string; name: string }): Promise<void>
  toolResult(result: RecordedResult): Promise<void>
}

export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

/** What a page sees while it happens. Never awaited, never recorded. */
export type LoopProgress = {
  delta(text: string): void
  /** The reply under way broke off and starts again: the deltas since the last step are void. */
  reset(): void
  tool(call: { callId: string; name: string; state: 'running' | 'done' | 'failed' | 'denied' }): void
  /** What a call says while it still runs. */
  toolOutput(callId: string, text: string): void
  /** A sign of life with nothing to show: the model is thinking. */
  moved(): void
  activity(activity: 'model' | 'tool' | 'retry_wait', detail: string | null, until: number | null): void
}

export type LoopInput = {
  /** The models to try, in order: the agent's own first. Never empty. */
  models: ModelRef[]
  /** System text, earlier turns, the task. */
  prompt: PromptMessage[]
  /** The job's own steps so far, as messages. Its last assistant message may have calls without results. */
  transcript: PromptMessage[]
  /** Calls that were written down as started and have no result (a `once` tool when the process died). */
  startedCallIds: ReadonlySet<string>
  tools: Tool[]
  toolContext: Omit<ToolContext, 'callId' | 'signal'>
  limits: Limits
  used: Used
  /** How often the job was postponed since it last got on. */
  postponed: number
  signal: AbortSignal
}

/**
 * The purse of a job. `reserve` is asked before every model call with the most that it is expected to cost (null: the
 * model has no known price) and resolves when the money is set aside; `settle` gives back what was set aside, since what
 * the call really cost is recorded with its reply.
 */
export type Money = {
  reserve(estimateMicros: number | null, costSoFarMicros: number, signal: AbortSignal): Promise<Reserved>
  settle(): void
}
/** `wait`: a person is asked for more money, and the answer wakes the job. `refused`: there is none, in words. */
export type Reserved = { reserved: true } | { reserved: false; wait: 'awaiting_approval' } | { reserved: false; refused: string }

export type LoopDeps = {
  models: ModelSource
  /** Absent: the job's own limit is all there is. */
  money?: Money
  /** What other jobs learned of how much models hold. Absent: this one learns by itself. */
  windows?: WindowBook
  gate: (question: GateQuestion) => Promise<GateVerdict>
  record: StepRecorder
  progress: LoopProgress
  clock: Clock
  /** Uniform in [0, 1): spreads retries. */
  random: () => number
}

/** How an attempt ends. Endings are values; only ClaimLost and bugs are thrown. */
export type LoopEnding =
  /**
   * `reply` is the last reply and is NOT recorded yet, so that it can be committed together with the end of the job.
   * It is null when it is recorded already. `quiet`: there is nothing in it that anybody has to be told.
   */
  | { ending: 'completed'; text: string; reply: RecordedReply | null; quiet?: boolean }
  /** `text` is what was said so far. */
  | { ending: 'waiting'; status: 'awaiting_approval' | 'awaiting_child'; text: string }
  | { ending: 'failed'; error: JobErrorCode; message: string; text: string }
  /** No model answers now. The job is to be asked again later, by whoever is free then. `tell`: a person should know. */
  | { ending: 'postponed'; waitMs: number; message: string; tell: boolean; text: string }
  /** The signal aborted: Stop or shutdown. `text` is what was written so far and already recorded. */
  | { ending: 'aborted'; text: string }
