import type { Message } from '../../contract/messages.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { OccurrenceState } from '../../contract/schedules.ts'
import { messageOf } from '../../lib/errors.ts'
import { memoize } from '../../lib/memoize.ts'
import { localDayStart, nextLocalDayStart } from '../../lib/zone-offsets.ts'
import { isAllPaused } from '../settings/settings.ts'
import { findDueTimes, type DueTimes, type DueTimesBetween } from './clock-changes.ts'
import { decideExhausted, readSpendOfDay, reportExhausted, type ScheduleChange } from './daily-budget.ts'
import { dueTimesBetween } from './due-times.ts'
import { createRunRecords, saveChanges, type Run, type RunRecords } from './record-runs.ts'
import { behindPauseAll, heldBy, lateBy, overBudget, REASONS, skippedFor, tooLongAgo } from './run-reasons.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import { liveOf, waitingOf, type Waiting } from './schedule-rows.ts'
import { readToDecide, type ScheduleToDecide } from './schedules.sql.ts'

/**
 * A due time that is decided within this time is late, not missed, whatever the cause. It is longer than the interval of the
 * scheduler's safety check, so nothing is missed while the app runs.
 */
export const LATE_MS = 90_000
/** Less lateness than this is not mentioned. */
const ON_TIME_MS = 5_000

/** Whether a job was made, and whether a due time met a spent budget. */
export type Decision = { ran: boolean; exhausted: boolean }

/** What all schedules of one transaction share. */
type Batch = {
  tx: Tx
  deps: ScheduleDeps
  now: number
  pauseAll: boolean
  records: RunRecords
  timesBetween: DueTimesBetween
  spendOfDay: (agentId: string, timezone: string) => number
  dayIn: (timezone: string) => { startsAt: number; endsAt: number }
  /** Reports to the owner, written after everything else. */
  reports: (() => void)[]
}

type Outcome = { run?: Run; exhausted?: true; change: ScheduleChange }

const NOTHING: Outcome = { change: {} }
const NOTHING_DUE: DueTimes = { ranges: [], newest: null, next: null }

/**
 * Decides all due times of these schedules that have come, with at most one run for each schedule. Each id is given once. The run
 * history, the jobs, the next due times and the events are one transaction, so after a crash a due time is either decided
 * completely or still to come. Schedules that do not exist are left out of the result.
 */
export function decideSchedules(tx: Tx, deps: ScheduleDeps, scheduleIds: readonly string[]): Map<string, Decision> {
  const now = deps.clock.now()
  const moneyNow = deps.money.now()
  deps.clockSeen(now)
  const batch: Batch = {
    tx,
    deps,
    now,
    pauseAll: isAllPaused(tx),
    records: createRunRecords(tx, deps),
    reports: [],
    timesBetween: memoize((cron: string, timezone: string, after: number, until: number) => dueTimesBetween(cron, timezone, after, until)),
    spendOfDay: memoize((agentId: string, timezone: string) => readSpendOfDay(tx, agentId, timezone, moneyNow)),
    dayIn: memoize((timezone: string) => ({ startsAt: localDayStart(now, timezone), endsAt: nextLocalDayStart(now, timezone) })),
  }
  const decided = readToDecide(tx, scheduleIds).map((row) => ({ row, ...decide(batch, row) }))
  for (const { run } of decided) if (run !== undefined) batch.records.addRun(run)
  const made = batch.records.write().values()
  saveChanges(
    tx,
    decided.map(({ row: { seq }, change, run }) => ({
      seq,
      change: run === undefined ? change : { ...change, lastStatus: 'running', lastRunSeq: made.next().value!.occurrenceSeq },
    })),
  )
  for (const report of batch.reports) report()
  return new Map(decided.map(({ row, run, exhausted = false }) => [row.id, { ran: run !== undefined, exhausted }]))
}

function decide(batch: Batch, row: ScheduleToDecide): Outcome {
  const { now, records } = batch
  const isDue = row.nextDueAt !== null && row.nextDueAt <= now
  const due = isDue ? readDueTimes(batch, row) : NOTHING_DUE
  if (due === null) return { change: { nextDueAt: null } }
  const move: ScheduleChange = isDue ? { nextDueAt: due.next } : {}
  if (row.status === 'paused') {
    recordUnrun(batch, row, due.ranges, 'paused', REASONS.paused)
    return { change: move }
  }
  const hasNewDay = row.status === 'budget_exhausted' && row.resumeAt! <= now
  if (hasNewDay) records.addEvent({ type: 'schedule.changed', payload: { scheduleId: row.id } })
  const outcome = due.ranges.length > 0 ? decideTimes(batch, row, due) : isDue ? NOTHING : decideWaiting(batch, row)
  return { ...outcome, change: { ...(hasNewDay ? ACTIVE : {}), ...move, ...outcome.change } }
}

const ACTIVE: ScheduleChange = { status: 'active', resumeAt: null }

/** null: this machine no longer knows the schedule's time zone. */
function readDueTimes({ tx, deps, now, timesBetween }: Batch, row: ScheduleToDecide): DueTimes | null {
  try {
    return findDueTimes(tx, row, now, timesBetween)
  } catch (error) {
    deps.log.error({ err: error, scheduleId: row.id }, `a schedule has no more due times: ${messageOf(error)}`)
    return null
  }
}

function decideTimes(batch: Batch, row: ScheduleToDecide, { ranges, newest }: DueTimes): Outcome {
  const waiting = waitingOf(row)
  // If several due times come during a run, only the newest runs after it.
  if (waiting !== null) skipWaiting(batch, row, waiting, 'skipped_overlap', skippedFor(liveOf(row), batch.pauseAll))
  const tooOld = whyTooOld(batch.deps, row, batch.now - ranges.at(-1)!.at(-1)!)
  const reason = tooOld ?? (row.catchUpMs === 0 ? REASONS.noCatchUp : REASONS.missed)
  const runs = newest !== null && tooOld === null
  const missed = runs ? ranges.with(-1, ranges.at(-1)!.slice(0, -1)).filter(({ length }) => length > 0) : ranges
  recordUnrun(batch, row, missed, 'missed', reason)
  return runs ? decideNewest(batch, row, newest) : NOTHING
}

/** Why the newest due time does not run, or null if it is recent enough. */
function whyTooOld({ safeMode }: ScheduleDeps, row: ScheduleToDecide, ageMs: number): Message | null {
  if (safeMode) return REASONS.safeMode
  if (ageMs <= LATE_MS || ageMs <= row.catchUpMs) return null
  return row.catchUpMs === 0 ? REASONS.noCatchUp : tooLongAgo(row.catchUpMs)
}

function decideNewest(batch: Batch, row: ScheduleToDecide, dueAt: number): Outcome {
  const spent = findOverspend(batch, row)
  if (spent !== null) {
    recordUnrun(batch, row, [[dueAt]], 'skipped_budget', overBudget(spent, row.dailyBudgetMicros))
    return meetSpentBudget(batch, row, spent)
  }
  const live = liveOf(row)
  if (live !== null) {
    recordUnrun(batch, row, [[dueAt]], 'due', heldBy(live, batch.pauseAll))
    return NOTHING
  }
  const lateMs = batch.now - dueAt
  const caughtUp = lateMs > LATE_MS
  const reason = caughtUp ? REASONS.caughtUp : lateMs > ON_TIME_MS ? lateBy(lateMs) : REASONS.onTime
  return runAt(batch, row, { dueAt, state: caughtUp ? 'caught_up' : 'ran', reason, waiting: null })
}

/** For a schedule without a new due time: one may wait for a run that has ended. */
function decideWaiting(batch: Batch, row: ScheduleToDecide): Outcome {
  const waiting = waitingOf(row)
  if (batch.deps.safeMode || waiting === null || liveOf(row) !== null) return NOTHING
  const spent = findOverspend(batch, row)
  if (spent !== null) {
    skipWaiting(batch, row, waiting, 'skipped_budget', overBudget(spent, row.dailyBudgetMicros))
    return meetSpentBudget(batch, row, spent)
  }
  const caughtUp = waiting.notedAt - waiting.dueAt > LATE_MS
  return runAt(batch, row, { dueAt: waiting.dueAt, state: caughtUp ? 'caught_up' : 'ran', reason: REASONS.waited, waiting })
}

function runAt({ pauseAll }: Batch, row: ScheduleToDecide, run: Pick<Run, 'dueAt' | 'state' | 'reason' | 'waiting'>): Outcome {
  const reason = pauseAll ? behindPauseAll(run.reason) : run.reason
  return { run: { ...run, schedule: row, origin: 'clock', reason }, change: row.status === 'budget_exhausted' ? ACTIVE : {} }
}

function findOverspend({ spendOfDay }: Batch, row: ScheduleToDecide): number | null {
  const spent = spendOfDay(row.agentId, row.timezone)
  return spent >= row.dailyBudgetMicros ? spent : null
}

function meetSpentBudget({ tx, deps, now, records, dayIn, reports }: Batch, row: ScheduleToDecide, spentMicros: number): Outcome {
  const today = dayIn(row.timezone)
  const { change, isNew, notifiesOwner } = decideExhausted(row, now, today)
  if (notifiesOwner) reports.push(() => reportExhausted(tx, deps, row, spentMicros, today.endsAt))
  else if (isNew) records.addEvent({ type: 'schedule.changed', payload: { scheduleId: row.id } })
  return { exhausted: true, change }
}

function recordUnrun(
  { records }: Batch,
  row: ScheduleToDecide,
  ranges: DueTimes['ranges'],
  state: 'missed' | 'paused' | 'due' | 'skipped_budget',
  reason: Message,
): void {
  for (const times of ranges) records.addUnrun(row.seq, times, state, reason)
  if (ranges.length > 0) reportSkipped(records, row, state)
}

function skipWaiting(
  { records }: Batch,
  row: ScheduleToDecide,
  waiting: Waiting,
  state: 'skipped_overlap' | 'skipped_budget',
  reason: Message,
): void {
  records.decideWaiting(waiting, state, reason)
  reportSkipped(records, row, state)
}

function reportSkipped(records: RunRecords, { id: scheduleId }: ScheduleToDecide, state: OccurrenceState): void {
  records.addEvent({ type: 'schedule.skipped', payload: { scheduleId, state } })
}
