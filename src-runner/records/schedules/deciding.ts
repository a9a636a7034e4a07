import type { Tx } from '../../base/db/transact.ts'
import type { OccurrenceState } from '../../contract/schedules.ts'
import { messageOf } from '../../kit/errors.ts'
import { isBrakeOn } from '../settings/settings.ts'
import { dueTimesBetween, nextDueAfter } from './due-times.ts'
import { exhaust, findOverspend, isExhausted, resumeFromBudget, type ScheduleChange } from './exhausting.ts'
import { fireSchedule } from './firing.ts'
import { decideWaiting, insertOccurrence, noteTimes } from './noting.ts'
import { behindBrake, heldBy, lateBy, overBudget, REASONS, skippedFor, tooLongAgo } from './reasons.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import { findLiveJob, findRow, findWaiting, type OccurrenceRow, type ScheduleRow } from './schedule-rows.ts'

/**
 * A due time that is looked at within this is late, not missed, whatever kept us: a restart, a busy machine, a clock that
 * was set. It is more than the time between two looks of the safety net, so nothing that happens while the app runs is
 * ever called missed, and nobody would call a run a minute after its time a catch-up.
 */
export const LATE_MS = 90_000

/** Lateness that is not worth a word. */
const ON_TIME_MS = 5_000

/** So many due times of a schedule are decided in one go at most: that takes some hundredths of a second. */
const MOST_TIMES = 10_000

export type Decision = {
  /** A job was made. */
  fired: boolean
  /** A due time met a spent budget. */
  exhausted: boolean
  /** There are due times left to decide. */
  more: boolean
}

const NOTHING: Decision = { fired: false, exhausted: false, more: false }

/**
 * Decides what has come due of one schedule: at most one run, whatever was missed. The ledger, the job, the next due time
 * and the events are one transaction, so after a crash a due time is either wholly decided or still ahead; and since the
 * next due time only ever goes forward, none is decided twice when the clock goes back.
 */
export function decideSchedule(tx: Tx, deps: ScheduleDeps, scheduleId: string, mostTimes = MOST_TIMES): Decision {
  const row = findRow(tx, scheduleId)
  if (row === null) return NOTHING
  const now = deps.clock.now()
  const due = findDue(deps, row, now, mostTimes)
  if (due === null) {
    save(tx, row, { next_due_at: null })
    return NOTHING
  }
  if (row.status === 'paused') {
    note(tx, deps, row, { ...due, state: 'paused', reason: REASONS.paused })
    save(tx, row, due.move)
    return { ...NOTHING, more: due.more }
  }
  const resumed = row.status === 'budget_exhausted' && !isExhausted(row, now) ? resumeFromBudget(tx, row) : {}
  const outcome = due.times.length > 0 ? decideTimes(tx, deps, row, due) : decideWhatWaits(tx, deps, row)
  save(tx, row, { ...resumed, ...due.move, ...outcome.change })
  return { fired: outcome.fired, exhausted: outcome.exhausted, more: due.more }
}

type Due = { times: readonly number[]; more: boolean; move: ScheduleChange }
type Outcome = { fired: boolean; exhausted: boolean; change: ScheduleChange }

const UNCHANGED: Outcome = { fired: false, exhausted: false, change: {} }

/** null: the schedule cannot be read any more, because this machine does not know its time zone. */
function findDue({ log }: ScheduleDeps, row: ScheduleRow, now: number, mostTimes: number): Due | null {
  const { id, cron, timezone, next_due_at: nextDueAt } = row
  if (nextDueAt === null || nextDueAt > now) return { times: [], more: false, move: {} }
  try {
    const { times, more } = dueTimesBetween(cron, timezone, nextDueAt - 1, now, mostTimes)
    // The zone's rules were changed since, by an update of the system: what was due then is due all the same.
    if (times[0] !== nextDueAt) times.unshift(nextDueAt)
    return { times, more, move: { next_due_at: nextDueAfter(cron, timezone, times.at(-1)!) } }
  } catch (error) {
    log.error({ err: error, scheduleId: id }, `a schedule has no more due times: ${messageOf(error)}`)
    return null
  }
}

function decideTimes(tx: Tx, deps: ScheduleDeps, row: ScheduleRow, { times, more }: Due): Outcome {
  const now = deps.clock.now()
  overtakeWaiting(tx, deps, row, now)
  const last = times.at(-1)!
  const tooOld = whyTooOld(deps, row, now - last)
  // With more to come, the newest is not among these.
  const runs = !more && tooOld === null
  const reason = tooOld ?? (row.catch_up_ms === 0 ? REASONS.noCatchUp : REASONS.missed)
  note(tx, deps, row, { times: runs ? times.slice(0, -1) : times, more, state: 'missed', reason })
  return runs ? decideNewest(tx, deps, row, last) : UNCHANGED
}

/** null: it is not. */
function whyTooOld({ safeMode }: ScheduleDeps, row: ScheduleRow, ageMs: number): string | null {
  if (safeMode) return REASONS.safeMode
  if (ageMs <= LATE_MS || ageMs <= row.catch_up_ms) return null
  return row.catch_up_ms === 0 ? REASONS.noCatchUp : tooLongAgo(row.catch_up_ms)
}

function decideNewest(tx: Tx, deps: ScheduleDeps, row: ScheduleRow, dueAt: number): Outcome {
  const now = deps.clock.now()
  const insert = (state: OccurrenceState, reason: string) =>
    insertOccurrence(tx, deps, { scheduleId: row.id, dueAt, origin: 'clock', state, reason })
  const spent = findOverspend(tx, row, now)
  if (spent !== null) {
    insert('skipped_budget', overBudget(spent, row.daily_budget_micros))
    tellSkipped(tx, row, 'skipped_budget')
    return { fired: false, exhausted: true, change: exhaust(tx, deps, row, spent) }
  }
  const brake = isBrakeOn(tx)
  const live = findLiveJob(tx, row.id)
  if (live !== null) {
    insert('due', heldBy(live, now, brake))
    tellSkipped(tx, row, 'due')
    return UNCHANGED
  }
  const lateMs = now - dueAt
  const caughtUp = lateMs > LATE_MS
  const reason = caughtUp ? REASONS.caughtUp : lateMs > ON_TIME_MS ? lateBy(lateMs) : REASONS.onTime
  const occurrenceId = insert(caughtUp ? 'caught_up' : 'ran', brake ? behindBrake(reason) : reason)
  return fire(tx, deps, row, { occurrenceId, dueAt, caughtUp })
}

/** Nothing new has come due: perhaps a due time waits, and the run before it has ended. */
function decideWhatWaits(tx: Tx, deps: ScheduleDeps, row: ScheduleRow): Outcome {
  if (deps.safeMode) return UNCHANGED
  const waiting = findWaiting(tx, row.id)
  if (waiting === null || findLiveJob(tx, row.id) !== null) return UNCHANGED
  const spent = findOverspend(tx, row, deps.clock.now())
  if (spent !== null) {
    decideWaiting(tx, deps, waiting, 'skipped_budget', overBudget(spent, row.daily_budget_micros))
    tellSkipped(tx, row, 'skipped_budget')
    return { fired: false, exhausted: true, change: exhaust(tx, deps, row, spent) }
  }
  const caughtUp = waiting.noted_at - waiting.due_at > LATE_MS
  decideWaiting(tx, deps, waiting, caughtUp ? 'caught_up' : 'ran', isBrakeOn(tx) ? behindBrake(REASONS.waited) : REASONS.waited)
  return fire(tx, deps, row, { occurrenceId: waiting.id, dueAt: waiting.due_at, caughtUp })
}

function fire(
  tx: Tx,
  deps: ScheduleDeps,
  row: ScheduleRow,
  { occurrenceId, dueAt, caughtUp }: { occurrenceId: string; dueAt: number; caughtUp: boolean },
): Outcome {
  fireSchedule(tx, deps, row, { occurrenceId, dueAt, origin: 'clock', caughtUp })
  const back: ScheduleChange = row.status === 'budget_exhausted' ? { status: 'active', resume_at: null } : {}
  return { fired: true, exhausted: false, change: { ...back, last_status: 'running', last_run_id: occurrenceId } }
}

/** Only the newest of the due times that come while a run is going is still to be run after it. */
function overtakeWaiting(tx: Tx, deps: ScheduleDeps, row: ScheduleRow, now: number): void {
  const waiting = findWaiting(tx, row.id)
  if (waiting === null) return
  decideWaiting(tx, deps, waiting, 'skipped_overlap', skippedFor(findLiveJob(tx, row.id), now, isBrakeOn(tx)))
  tellSkipped(tx, row, 'skipped_overlap')
}

/** A schedule that is paused: what waited will not run. */
export function pauseWaiting(tx: Tx, deps: ScheduleDeps, waiting: OccurrenceRow): void {
  decideWaiting(tx, deps, waiting, 'paused', REASONS.pausedWaiting)
}

function note(
  tx: Tx,
  deps: ScheduleDeps,
  row: ScheduleRow,
  noted: { times: readonly number[]; more: boolean; state: 'missed' | 'paused'; reason: string },
): void {
  if (noted.times.length === 0) return
  noteTimes(tx, deps, row.id, noted)
  tellSkipped(tx, row, noted.state)
}

function tellSkipped(tx: Tx, row: ScheduleRow, state: OccurrenceState): void {
  tx.emit({ type: 'schedule.skipped', payload: { scheduleId: row.id, state } })
}

/** Writes what changed and nothing else: each column that is named costs the indices that it is in. */
function save(tx: Tx, { seq }: ScheduleRow, change: ScheduleChange): void {
  const columns = Object.keys(change) as (keyof ScheduleChange)[]
  if (columns.length === 0) return
  const sets = columns.map((column) => `${column} = ?`).join(', ')
  tx.prepare(`UPDATE schedules SET ${sets} WHERE seq = ?`).run(...columns.map((column) => change[column]), seq)
}
