import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'
import type { PromptMessage, PromptToolCall } from '../providers/model.ts'
import type { LoopDeps, LoopOutcome, LoopInput, Used } from './loop-types.ts'
import type { ContextWindows } from './context-windows.ts'

/** The state of one run of the loop. Everything that must survive it is recorded. */
export type Attempt = {
  readonly input: LoopInput
  readonly deps: LoopDeps
  /** The whole conversation; the model gets what fits its context window. */
  readonly messages: PromptMessage[]
  readonly windows: ContextWindows
  readonly takenIds: Set<string>
  readonly used: Used
  /** The non-empty texts of this job's replies. */
  readonly texts: string[]
  /** Aborts on Stop, on shutdown, and when the working time is over. */
  readonly signal: AbortSignal
  /** The model that replied last is tried first, so that each turn does not fall back again. */
  modelIndex: number
  /** By the clock's time awake. */
  readonly startedAt: number
}

export function textSoFar(attempt: Attempt): string {
  return attempt.texts.join('\n\n')
}

export function failedWith(attempt: Attempt, error: Extract<LoopOutcome, { kind: 'failed' }>['error'], message: Message): LoopOutcome {
  return { kind: 'failed', error, message, text: textSoFar(attempt) }
}

/** The outcome of an attempt whose signal has aborted. Stop wins over a limit reached at the same moment. */
export function stoppedOutcome(attempt: Attempt): LoopOutcome {
  if (attempt.input.signal.aborted) return { kind: 'aborted', text: textSoFar(attempt) }
  return failedWith(attempt, 'time_limit', timeLimitMessage(attempt.input.limits.maxWorkingMs))
}

/** The limit that forbids another model call, or null. */
export function limitReached(attempt: Attempt): LoopOutcome | null {
  const { limits } = attempt.input
  if (attempt.used.turns >= limits.maxTurns) {
    return failedWith(attempt, 'turn_limit', createMessage('job_turns', { turns: limits.maxTurns }))
  }
  // A budget knows what a person has added to the limit.
  if (attempt.deps.budget === undefined && attempt.used.costMicros >= Math.round(limits.maxCostUsd * 1_000_000)) {
    return failedWith(attempt, 'cost_limit', createMessage('job_cost', { limitUsd: limits.maxCostUsd }))
  }
  const workingMs = attempt.used.workingMs + attempt.deps.clock.awake() - attempt.startedAt
  return workingMs >= limits.maxWorkingMs ? stoppedOutcome(attempt) : null
}

/** The calls of the last reply that have no result yet, with their index in that reply. */
export function openCallsOf(messages: readonly PromptMessage[]): { call: PromptToolCall; index: number }[] {
  const answered = new Set<string>()
  const at = messages.findLastIndex((message) => {
    if (message.role === 'tool') answered.add(message.callId)
    return message.role !== 'tool'
  })
  const last = messages[at]
  if (last?.role !== 'assistant') return []
  return last.toolCalls.map((call, index) => ({ call, index })).filter(({ call }) => !answered.has(call.callId))
}

export function timeLimitMessage(ms: number): Message {
  if (ms < 120_000) return createMessage('job_seconds', { seconds: rounded(ms / 1_000) })
  if (ms < 7_200_000) return createMessage('job_minutes', { minutes: rounded(ms / 60_000) })
  return createMessage('job_hours', { hours: rounded(ms / 3_600_000) })
}

function rounded(amount: number): number {
  return Math.round(amount * 10) / 10
}
