import { and, between, eq, gt, isNotNull, isNull } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { isTimezone, nextLocalDayStart } from '../../lib/zone-offsets.ts'
import { findOverspend, type ScheduleChange } from './daily-budget.ts'
import { dueTimesBetween, nextDueAfter } from './due-times.ts'
import { RUN_HISTORY_KEEPS } from './prune-run-history.ts'
import { saveChanges } from './record-runs.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import { occurrences } from './schedules-table.ts'
import { deleteFoundAgain, listToMove, type ScheduleRow, type ScheduleToDecide, type ScheduleToMove } from './schedules.sql.ts'

/**
 * Due times follow the wall clock, which may be wrong, so the run history decides in the end:
 *
 * - If the wall clock moved forward, it was set, the machine slept, or the app was off. These look the same. Due times in between
 *   were missed, and the newest one runs if the schedule catches up that far. Of a longer absence, the last 400 days are recorded,
 *   which is all that the run history keeps.
 * - If the wall clock moved back, it shows less than when a schedule was last decided. After a start this is assumed. Each schedule
 *   continues with its first due time from now on that has made no job, so a clock that was a year ahead silences nothing. Rows
 *   ahead of the clock stay, hidden until their time comes.
 * - If a due time comes again, it never makes a second job. If it made none, it is decided again while it is the newest, and keeps
 *   its row otherwise. So setting the clock back and forth loses no history.
 * - A clock that shows a date before 2026 is certainly wrong. Nothing is decided until it is set.
 *
 * Budgets and pruning use the trusted clock (`platform/time/trusted-clock.ts`), which a wrong clock does not move.
 */

const FIRST_POSSIBLE_DATE = Date.UTC(2026, 0, 1)

export function isPossibleDate(now: number): boolean {
  return now >= FIRST_POSSIBLE_DATE
}

type Plan = Pick<ScheduleRow, 'seq' | 'cron' | 'timezone'>

/** Makes every schedule continue from what the clock shows now. */
export function followClockBack(tx: Tx, { clock, money }: Pick<ScheduleDeps, 'clock' | 'money'>): void {
  const [now, moneyNow] = [clock.now(), money.now()]
  deleteFoundAgain(tx, now)
  const changes = listToMove(tx, now)
    .filter(({ timezone }) => isTimezone(timezone))
    .map((row) => ({ seq: row.seq, id: row.id, change: { ...moveDueTime(tx, row, now), ...moveBudgetDay(tx, row, now, moneyNow) } }))
    .filter(({ change }) => Object.keys(change).length > 0)
  saveChanges(tx, changes)
  tx.emitAll(changes.map(({ id }) => ({ type: 'schedule.changed', payload: { scheduleId: id } })))
}

function moveDueTime(tx: Tx, row: ScheduleToMove, now: number): ScheduleChange {
  const { cron, timezone, nextDueAt } = row
  const again = findDoubtful(tx, row, now)
  if (nextDueAt === null) return {}
  if (again !== null) return { nextDueAt: Math.min(again, nextDueAt) }
  if (nextDueAt <= now || nextDueAfter(cron, timezone, now) === nextDueAt) return {}
  const soonest = nextFreeDueAfter(tx, row, now)
  return soonest !== null && soonest < nextDueAt ? { nextDueAt: soonest } : {}
}

/**
 * The newest due time that has come, if it made no job and was decided by a clock that was ahead. Of a row shared by many due
 * times, the part that has come stays.
 */
function findDoubtful(tx: Tx, row: ScheduleToMove, now: number): number | null {
  const { newestSeq: seq, newestDueAt: dueAt, newestUntilAt: untilAt } = row
  const isOfPlan = (at: number) => nextDueAfter(row.cron, row.timezone, at - 1) === at
  if (untilAt === null) return row.newestIsInDoubt === 1 && isOfPlan(dueAt!) ? dueAt : null
  if (untilAt <= now) return null
  const times = [dueAt!, ...dueTimesBetween(row.cron, row.timezone, dueAt!, now, row.newestTimes! - 1)]
  const newest = isOfPlan(times.at(-1)!) ? times.pop()! : null
  if (times.length === 0) deleteOccurrence(tx, seq!)
  else {
    const until = times.length === 1 ? null : times.at(-1)!
    tx.update(occurrences).set({ times: times.length, untilAt: until }).where(eq(occurrences.seq, seq!)).run()
  }
  return newest
}

/** A schedule with a spent budget waits until tomorrow at most, whatever day the clock showed. */
function moveBudgetDay(tx: Tx, row: ScheduleToMove, now: number, moneyNow: number): ScheduleChange {
  const tomorrow = nextLocalDayStart(now, row.timezone)
  if (row.resumeAt === null || row.resumeAt <= tomorrow) return {}
  return findOverspend(tx, row, row.dailyBudgetMicros, moneyNow) === null ? { status: 'active', resumeAt: null } : { resumeAt: tomorrow }
}

const isFrom = (scheduleSeq: number) => and(eq(occurrences.scheduleSeq, scheduleSeq), eq(occurrences.origin, 'clock'))

/** The first due time after `after` that has made no job. Throws a RangeError for an unknown time zone. */
export function nextFreeDueAfter(db: Db, { seq, cron, timezone }: Plan, after: number): number | null {
  let at = nextDueAfter(cron, timezone, after)
  while (at !== null && hasRun(db, seq, at)) at = nextDueAfter(cron, timezone, at)
  return at
}

function hasRun(db: Db, scheduleSeq: number, dueAt: number): boolean {
  const isRun = and(isFrom(scheduleSeq), eq(occurrences.dueAt, dueAt), isNotNull(occurrences.jobSeq))
  return db.select({ seq: occurrences.seq }).from(occurrences).where(isRun).get() !== undefined
}

/** Future due times that have made a job already, because the clock was ahead. */
export function listRunsAfter(db: Db, scheduleSeq: number, now: number): ReadonlySet<number> {
  const isRun = and(isFrom(scheduleSeq), gt(occurrences.dueAt, now), isNotNull(occurrences.jobSeq))
  const runs = db.select({ at: occurrences.dueAt }).from(occurrences).where(isRun).all()
  return new Set(runs.map(({ at }) => at))
}

/** Deletes future due times without a job, because another expression has other due times. */
export function forgetOldPlan(tx: Tx, scheduleSeq: number, now: number): void {
  const isPlanned = and(isFrom(scheduleSeq), gt(occurrences.dueAt, now), isNull(occurrences.jobSeq))
  tx.delete(occurrences).where(isPlanned).run()
}

function deleteOccurrence(tx: Tx, seq: number): void {
  tx.delete(occurrences).where(eq(occurrences.seq, seq)).run()
}

/** The due times of a schedule that have come. */
export type DueTimes = {
  /** Ranges of due times to decide, oldest first. Between two ranges the run history has rows already. */
  ranges: readonly (readonly number[])[]
  /** The last of them, if it may run. null: the newest due time has run already. */
  newest: number | null
  next: number | null
}

export type DueTimesBetween = (cron: string, timezone: string, after: number, until: number) => readonly number[]

/** If the newest due time is in the run history without a job, its row is deleted. Throws a RangeError for an unknown time zone. */
export function findDueTimes(tx: Tx, row: ScheduleToDecide, now: number, timesBetween: DueTimesBetween): DueTimes {
  const { seq, cron, timezone, createdAt, nextDueAt } = row
  // A clock that was behind finds due times from before the schedule was created.
  const from = Math.max(nextDueAt!, createdAt <= now ? createdAt : 0, now - RUN_HISTORY_KEEPS.forMs)
  const found = timesBetween(cron, timezone, from - 1, now)
  // The zone's rules may have changed since this one was computed.
  const times = from === nextDueAt && found[0] !== from ? [from, ...found] : found
  if (row.isAhead === 0)
    return { ranges: times.length === 0 ? [] : [times], newest: times.at(-1) ?? null, next: nextDueAfter(cron, timezone, now) }

  const { seq: key, dueAt, jobSeq } = occurrences
  const known = tx
    .select({ seq: key, dueAt, jobSeq })
    .from(occurrences)
    .where(and(isFrom(seq), between(dueAt, from, now)))
    .orderBy(dueAt)
    .all()
  const newest = times.at(-1) ?? null
  const again = known.find((row) => row.dueAt === newest && row.jobSeq === null)
  if (again !== undefined) deleteOccurrence(tx, again.seq)
  const decided = known.flatMap((row) => (row === again ? [] : row.dueAt))
  return {
    ranges: rangesBetween(times, decided),
    newest: newest !== null && decided.includes(newest) ? null : newest,
    next: nextFreeDueAfter(tx, row, now),
  }
}

/** The times that are not decided, divided where a decided one lies between them. Both lists are ascending. */
function rangesBetween(times: readonly number[], decided: readonly number[]): number[][] {
  const known = new Set(decided)
  const undecided = times.filter((at) => !known.has(at))
  let passed = 0
  const rangeOf = (at: number) => {
    while (decided[passed]! < at) passed++
    return passed
  }
  return [...Map.groupBy(undecided, rangeOf).values()]
}
