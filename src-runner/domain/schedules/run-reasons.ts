import type { Message } from '../../contract/messages.ts'
import { STUCK_AFTER_MS } from '../../contract/schedules.ts'
import { createMessage } from '../../lib/messages.ts'
import { toUsd } from '../../lib/micros.ts'
import type { LiveJob } from './schedules.sql.ts'

/** The reasons recorded with the state of a due time. */
export const REASONS = {
  onTime: createMessage('due_on_time'),
  caughtUp: createMessage('due_caught_up'),
  waited: createMessage('due_waited'),
  startedByPerson: createMessage('due_asked_for'),
  paused: createMessage('due_paused'),
  pausedWaiting: createMessage('due_paused_waiting'),
  planChanged: createMessage('due_plan_changed'),
  missed: createMessage('due_missed'),
  noCatchUp: createMessage('due_no_catch_up'),
  safeMode: createMessage('due_safe_mode'),
  overtaken: createMessage('due_overtaken'),
} as const

export function tooLongAgo(catchUpMs: number): Message {
  return createMessage('due_too_long_ago', { hours: Math.round(catchUpMs / 36_000) / 100 })
}

/** For a run that started late although Deckhand was running. */
export function lateBy(lateMs: number): Message {
  return createMessage('due_late', { seconds: Math.round(lateMs / 1000) })
}

export function overBudget(spentMicros: number, budgetMicros: number): Message {
  return createMessage('due_over_budget', { spentUsd: toUsd(spentMicros), budgetUsd: toUsd(budgetMicros) })
}

/** Why a due time that has come does not run yet. */
export function heldBy(live: LiveJob, pauseAll: boolean): Message {
  const cause = causeOf(live, pauseAll)
  return createMessage(cause === null ? 'due_held' : `due_held_by_${cause}`)
}

/** Why a due time that waited will not run. */
export function skippedFor(live: LiveJob | null, pauseAll: boolean): Message {
  if (live === null) return REASONS.overtaken
  const cause = causeOf(live, pauseAll)
  return createMessage(cause === null ? 'due_skipped' : `due_skipped_by_${cause}`)
}

export function behindPauseAll(reason: Message): Message {
  return createMessage('due_behind_pause_all', { reason })
}

/** Only working time counts as stuck, not time in the queue or asleep. null: the run is simply active. */
function causeOf({ status, workingMs }: LiveJob, pauseAll: boolean): 'pause_all' | 'question' | 'stuck' | null {
  if (status === 'pending' && pauseAll) return 'pause_all'
  if (status === 'awaiting_approval') return 'question'
  return workingMs > STUCK_AFTER_MS ? 'stuck' : null
}
