import { STUCK_AFTER_MS } from '../../contract/schedules.ts'
import { toUsd } from '../micros.ts'
import type { LiveJob } from './schedule-rows.ts'

const AWAY = 'At that time Deckhand was not running or the computer was asleep'

/** Why a due time became what it is: sentences for people, beside the state. */
export const REASONS = {
  onTime: 'On time.',
  caughtUp: `${AWAY}. This run makes up for it.`,
  waited: 'It came while the run before it was still going, and ran when that had ended.',
  askedFor: 'A person asked for it.',
  paused: 'The schedule was paused.',
  pausedWaiting: 'It waited for the run before it to end when the schedule was paused.',
  missed: `${AWAY}. Of the runs that were missed, only the newest is made up for.`,
  noCatchUp: `${AWAY}, and this schedule does not catch up.`,
  safeMode: 'Schedules do not run in safe mode.',
  overtaken: 'The next due time came before it could run.',
} as const

export function tooLongAgo(catchUpMs: number): string {
  const hours = Math.round(catchUpMs / 36_000) / 100
  return `${AWAY}, and it is longer ago than the ${hours === 1 ? 'hour' : `${hours} hours`} that this schedule catches up with.`
}

/** A run that begins a while after its time, for which nobody was away. */
export function lateBy(lateMs: number): string {
  return `${Math.round(lateMs / 1000)} seconds late.`
}

export function overBudget(spentMicros: number, budgetMicros: number): string {
  return `The agent's jobs cost $${dollars(spentMicros)} today, and this schedule's budget for a day is $${dollars(budgetMicros)}.`
}

/** Why the due time that came now does not run yet. */
export function heldBy(live: LiveJob, brake: boolean): string {
  return `${doingOf(live, brake)}. It runs when that has ended.`
}

/** Why a due time that waited will not run. */
export function skippedFor(live: LiveJob | null, brake: boolean): string {
  return live === null ? REASONS.overtaken : `${doingOf(live, brake)} when the next due time came.`
}

export function behindBrake(reason: string): string {
  return `${reason} The emergency brake is on: it starts when that is released.`
}

/** A run that waits in a queue, or whose machine sleeps, is not stuck: what counts is the time that it was at work. */
function doingOf({ status, working_ms: workingMs }: LiveJob, brake: boolean): string {
  if (status === 'pending' && brake) return 'The run before it had not started, because the emergency brake is on'
  if (status === 'awaiting_approval') return 'The run before it was waiting for an answer of yours'
  if (workingMs > STUCK_AFTER_MS) return 'The run before it had been going for more than 2 hours and seems stuck'
  return 'The run before it was still going'
}

function dollars(micros: number): string {
  return toUsd(micros).toFixed(2)
}
