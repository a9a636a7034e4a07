import type { Message } from '../../contract/messages.ts'
import type { Tx } from '../../platform/db/transact.ts'
import type { OccurrenceState } from '../../contract/schedules.ts'
import { messageOf } from '../../lib/errors.ts'
import { memoize } from '../../lib/memoize.ts'
import { localDayStart, nextLocalDayStart } from '../../lib/zone-offsets.ts'
import { isAllPaused } from '../settings/settings.ts'
import { findDueTimes, type DueTimes, type DueTimesBetween } from './clock-changes.ts'
import { exhaust, readSpendOfDay, tellExhausted, type ScheduleChange } from './daily-budget.ts'
import { dueTimesBetween } from './due-times.ts'
import { createRunRecords, saveChanges, type Run, type RunRecords } from './record-runs.ts'
import { behindPauseAll, heldBy, lateBy, overBudget, REASONS, skippedFor, tooLongAgo } from './run-reasons.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import { liveOf, waitingOf, type Waiting } from './schedule-rows.ts'
import { readToDecide, type ScheduleToDecide } from './schedules.sql.ts'

/**
 * A due time that is decided within this is late, not missed, whatever the cause: a restart, a busy machine, a clock that
 * was set. It is longer than the scheduler's safety check, so nothing is called missed while the app runs.
 */
export const LATE_MS = 90_000
/** Lateness that is not worth a word. */
const ON_TIME_MS = 5_000

/** What became of a schedule: a job was made, or a due time met a spent budget. */
export type Decision = { fired: boolean; exhausted: boolean }

/** What all schedules of one transaction share. */
type Round = {
  tx: Tx
  deps: ScheduleDeps
  now: number
  pauseAll: boolean
  records: RunRecords
  timesBetween: DueTimesBetween
  spendOfDay: (agentId: string, timezone: string) => number
  dayIn: (timezone: string) => { startsAt: number; endsAt: number }
  /** What the owner is told behind the rest. */
  exhausted: (() => void)[]
}

type Outcome = { run?: Run; exhausted?: true; change: ScheduleChange }

const NOTHING: Outcome = { change: {} }
const NOTHING_DUE: DueTimes = { stretches: [], newest: null, next: null }

/**
 * Decides all that has come due of these schedules, each named once: at most one run for each, whatever was missed. The run
 * history, the jobs, the next due times and the events are one transaction, so after a crash a due time is either wholly
 * decided or still to come. Schedules that do not exist are left out of the result.
 */
export function decideSchedules(tx: Tx, deps: ScheduleDeps, scheduleIds: readonly string[]): Map<string, Decision> {
  const now = deps.clock.now()
  const moneyNow = deps.money.now()
  deps.clockSeen(now)
  const round: Round = {
    ...{ tx, deps, now, pauseAll: isAllPaused(tx), records: createRunRecords(tx, deps), exhausted: [] },
    timesBetween: memoize((cron: string, timezone: string, after: number, until: number) => dueTimesBetween(cron, timezone, after, until)),
    spendOfDay: memoize((agentId: string, timezone: string) => readSpendOfDay(tx, agentId, timezone, moneyNow)),
    dayIn: memoize((timezone: string) => ({ startsAt: localDayStart(now, timezone), endsAt: nextLocalDayStart(now, timezone) })),
  }
  const decided = readToDecide(tx, scheduleIds).map((row) => ({ row, ...decide(round, row) }))
  for (const { run } of decided) if (run !== undefined) round.records.addRun(run)
  const made = round.records.write().values()
  saveChanges(
    tx,
    decided.map(({ row: { seq }, change, run }) => ({
      seq,
      change: run === undefined ? change : { ...change, lastStatus: 'running', lastRunSeq: made.next().value!.occurrenceSeq },
    })),
  )
  for (const tell of round.exhausted) tell()
  return new Map(decided.map(({ row, run, exhausted = false }) => [row.id, { fired: run !== undefined, exhausted }]))
}

function decide(round: Round, row: ScheduleToDecide): Outcome {
  const { now, records } = round
  const isDue = row.nextDueAt !== null && row.nextDueAt <= now
  const due = isDue ? readDueTimes(round, row) : NOTHING_DUE
  if (due === null) return { change: { nextDueAt: null } }
  const move: ScheduleChange = isDue ? { nextDueAt: due.next } : {}
  if (row.status === 'paused') {
    recordUnrun(round, row, due.stretches, 'paused', REASONS.paused)
    return { change: move }
  }
  const hasNewDay = row.status === 'budget_exhausted' && row.resumeAt! <= now
  if (hasNewDay) records.tell({ type: 'schedule.changed', payload: { scheduleId: row.id } })
  const outcome = due.stretches.length > 0 ? decideTimes(round, row, due) : isDue ? NOTHING : decideWaiting(round, row)
  return { ...outcome, change: { ...(hasNewDay ? ACTIVE : {}), ...move, ...outcome.change } }
}

const ACTIVE: ScheduleChange = { status: 'active', resumeAt: null }

/** null: this machine does not know the schedule's time zone any more. */
function readDueTimes({ tx, deps, now, timesBetween }: Round, row: ScheduleToDecide): DueTimes | null {
  try {
    return findDueTimes(tx, row, now, timesBetween)
  } catch (error) {
    deps.log.error({ err: error, scheduleId: row.id }, `a schedule has no more due times: ${messageOf(error)}`)
    return null
  }
}

function decideTimes(round: Round, row: ScheduleToDecide, { stretches, newest }: DueTimes): Outcome {
  const waiting = waitingOf(row)
  // Of the due times that come during a run, only the newest is to run after it.
  if (waiting !== null) skipWaiting(round, row, waiting, 'skipped_overlap', skippedFor(liveOf(row), round.pauseAll))
  const tooOld = whyTooOld(round.deps, row, round.now - stretches.at(-1)!.at(-1)!)
  const reason = tooOld ?? (row.catchUpMs === 0 ? REASONS.noCatchUp : REASONS.missed)
  const runs = newest !== null && tooOld === null
  const missed = runs ? stretches.with(-1, stretches.at(-1)!.slice(0, -1)).filter(({ length }) => length > 0) : stretches
  recordUnrun(round, row, missed, 'missed', reason)
  return runs ? decideNewest(round, row, newest) : NOTHING
}

/** null: it is not. */
function whyTooOld({ safeMode }: ScheduleDeps, row: ScheduleToDecide, ageMs: number): Message | null {
  if (safeMode) return REASONS.safeMode
  if (ageMs <= LATE_MS || ageMs <= row.catchUpMs) return null
  return row.catchUpMs === 0 ? REASONS.noCatchUp : tooLongAgo(row.catchUpMs)
}

function decideNewest(round: Round, row: ScheduleToDecide, dueAt: number): Outcome {
  const spent = findOverspend(round, row)
  if (spent !== null) {
    recordUnrun(round, row, [[dueAt]], 'skipped_budget', overBudget(spent, row.dailyBudgetMicros))
    return meetSpentBudget(round, row, spent)
  }
  const live = liveOf(row)
  if (live !== null) {
    recordUnrun(round, row, [[dueAt]], 'due', heldBy(live, round.pauseAll))
    return NOTHING
  }
  const lateMs = round.now - dueAt
  const caughtUp = lateMs > LATE_MS
  const reason = caughtUp ? REASONS.caughtUp : lateMs > ON_TIME_MS ? lateBy(lateMs) : REASONS.onTime
  return runAt(round, row, { dueAt, state: caughtUp ? 'caught_up' : 'ran', reason, waiting: null })
}

/** Nothing has come due since. A due time may wait, and the run before it may have ended. */
function decideWaiting(round: Round, row: ScheduleToDecide): Outcome {
  const waiting = waitingOf(row)
  if (round.deps.safeMode || waiting === null || liveOf(row) !== null) return NOTHING
  const spent = findOverspend(round, row)
  if (spent !== null) {
    skipWaiting(round, row, waiting, 'skipped_budget', overBudget(spent, row.dailyBudgetMicros))
    return meetSpentBudget(round, row, spent)
  }
  const caughtUp = waiting.notedAt - waiting.dueAt > LATE_MS
  return runAt(round, row, { dueAt: waiting.dueAt, state: caughtUp ? 'caught_up' : 'ran', reason: REASONS.waited, waiting })
}

function runAt({ pauseAll }: Round, row: ScheduleToDecide, run: Pick<Run, 'dueAt' | 'state' | 'reason' | 'waiting'>): Outcome {
  const reason = pauseAll ? behindPauseAll(run.reason) : run.reason
  return { run: { ...run, schedule: row, origin: 'clock', reason }, change: row.status === 'budget_exhausted' ? ACTIVE : {} }
}

function findOverspend({ spendOfDay }: Round, row: ScheduleToDecide): number | null {
  const spent = spendOfDay(row.agentId, row.timezone)
  return spent >= row.dailyBudgetMicros ? spent : null
}

function meetSpentBudget({ tx, deps, now, records, dayIn, exhausted }: Round, row: ScheduleToDecide, spentMicros: number): Outcome {
  const today = dayIn(row.timezone)
  const { change, isNew, tellOwner } = exhaust(row, now, today)
  if (tellOwner) exhausted.push(() => tellExhausted(tx, deps, row, spentMicros, today.endsAt))
  else if (isNew) records.tell({ type: 'schedule.changed', payload: { scheduleId: row.id } })
  return { exhausted: true, change }
}

function recordUnrun(
  { records }: Round,
  row: ScheduleToDecide,
  stretches: DueTimes['stretches'],
  state: 'missed' | 'paused' | 'due' | 'skipped_budget',
  reason: Message,
): void {
  for (const times of stretches) records.addUnrun(row.seq, times, state, reason)
  if (stretches.length > 0) tellSkipped(records, row, state)
}

function skipWaiting(
  { records }: Round,
  row: ScheduleToDecide,
  waiting: Waiting,
  state: 'skipped_overlap' | 'skipped_budget',
  reason: Message,
): void {
  records.decideWaiting(waiting, state, reason)
  tellSkipped(records, row, state)
}

function tellSkipped(records: RunRecords, { id: scheduleId }: ScheduleToDecide, state: OccurrenceState): void {
  records.tell({ type: 'schedule.skipped', payload: { scheduleId, state } })
}
