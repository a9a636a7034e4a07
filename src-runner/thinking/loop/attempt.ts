import { say } from '../../kit/said.ts'
import type { PromptMessage, PromptToolCall } from '../models/model.ts'
import type { LoopDeps, LoopEnding, LoopInput, Used } from './loop-types.ts'
import type { WindowBook } from './window-book.ts'

/** What one run of the loop knows while it goes on. Lives and dies with it; all that must last is recorded. */
export type Attempt = {
  readonly input: LoopInput
  readonly deps: LoopDeps
  /** The whole conversation, of which the model reads next what it can hold. */
  readonly messages: PromptMessage[]
  readonly windows: WindowBook
  readonly takenIds: Set<string>
  readonly used: Used
  /** What was said in this job, reply by reply, without empty ones. */
  readonly said: string[]
  /** Aborts on Stop, on shutdown, and when the working time is up. */
  readonly signal: AbortSignal
  /** The model that answered last is asked first: falling back is not repeated at every turn. */
  modelIndex: number
  readonly startedAt: number
}

export function saidSoFar(attempt: Attempt): string {
  return attempt.said.join('\n\n')
}

export function failedWith(attempt: Attempt, error: Extract<LoopEnding, { ending: 'failed' }>['error'], message: string): LoopEnding {
  return { ending: 'failed', error, message, text: saidSoFar(attempt) }
}

/** The ending of an attempt whose signal has aborted. Stop wins over a limit that is reached at the same moment. */
export function stoppedEnding(attempt: Attempt): LoopEnding {
  if (attempt.input.signal.aborted) return { ending: 'aborted', text: saidSoFar(attempt) }
  return failedWith(attempt, 'time_limit', `The job reached its limit of ${wordsFor(attempt.input.limits.maxWorkingMs)} of working time.`)
}

/** The limit that forbids another model call, or null. */
export function limitReached(attempt: Attempt): LoopEnding | null {
  const { limits } = attempt.input
  if (attempt.used.turns >= limits.maxTurns) {
    return failedWith(attempt, 'turn_limit', say('job_turns', { turns: limits.maxTurns }))
  }
  // With a purse, it is the purse that knows what may be spent: a person may have added to the limit.
  if (attempt.deps.money === undefined && attempt.used.costMicros >= Math.round(limits.maxCostUsd * 1_000_000)) {
    return failedWith(attempt, 'cost_limit', say('job_cost', { limitUsd: limits.maxCostUsd }))
  }
  const workingMs = attempt.used.workingMs + attempt.deps.clock.monotonic() - attempt.startedAt
  return workingMs >= limits.maxWorkingMs ? stoppedEnding(attempt) : null
}

/** The calls of the last reply that have no result yet, each with its place in that reply. */
export function openCallsOf(messages: readonly PromptMessage[]): { call: PromptToolCall; index: number }[] {
  const answered = new Set<string>()
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!
    if (message.role === 'tool') answered.add(message.callId)
    else if (message.role === 'assistant') {
      return message.toolCalls.map((call, index) => ({ call, index })).filter(({ call }) => !answered.has(call.callId))
    } else return []
  }
  return []
}

function wordsFor(ms: number): string {
  const [amount, unit] = ms < 120_000 ? [ms / 1_000, 'second'] : ms < 7_200_000 ? [ms / 60_000, 'minute'] : [ms / 3_600_000, 'hour']
  const shown = Math.round(amount * 10) / 10
  return `${shown} ${unit}${shown === 1 ? '' : 's'}`
}
