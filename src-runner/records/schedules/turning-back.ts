import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import { isTimezone, nextLocalDayStart } from '../../kit/zone-offsets.ts'
import { nextFreeDueAfter } from './coming-again.ts'
import { saveChanges } from './deciding.ts'
import { dueTimesBetween, nextDueAfter } from './due-times.ts'
import { findOverspend, type ScheduleChange } from './exhausting.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import type { OccurrenceRow, ScheduleRow } from './schedule-rows.ts'

/** Before this there was no Deckhand: a clock that shows less is wrong for certain, as after an empty battery. */
const FIRST_POSSIBLE = Date.UTC(2026, 0, 1)
/** Schedules that one bite looks at. */
const BITE = 256

type Row = Pick<
  ScheduleRow,
  'seq' | 'id' | 'agent_id' | 'cron' | 'timezone' | 'daily_budget_micros' | 'next_due_at' | 'resume_at' | 'status'
> & {
  /** Of the newest due time that the ledger has, and when it was noted; null: it has none. */
  ledger_ends_at: number | null
  ledger_noted_at: number | null
}
type Plan = Pick<Row, 'seq' | 'cron' | 'timezone' | 'next_due_at'>
type Newest = Pick<OccurrenceRow, 'seq' | 'due_at' | 'state' | 'times' | 'until_at' | 'noted_at' | 'job_seq'>

const BITE_OF_ROWS = `
  SELECT schedule.seq, schedule.id, schedule.agent_id, schedule.cron, schedule.timezone, schedule.daily_budget_micros,
    schedule.next_due_at, schedule.resume_at, schedule.status, ifnull(newest.until_at, newest.due_at) AS ledger_ends_at,
    newest.noted_at AS ledger_noted_at
  FROM schedules AS schedule LEFT JOIN occurrences AS newest ON newest.seq = (SELECT seq FROM occurrences
    WHERE schedule_seq = schedule.seq AND origin = 'clock' ORDER BY due_at DESC LIMIT 1)
  WHERE schedule.seq > ? ORDER BY schedule.seq LIMIT ?`
const NEWEST = `SELECT seq, due_at, state, times, until_at, noted_at, job_seq FROM occurrences
  WHERE schedule_seq = ? AND origin = 'clock' AND due_at <= ? ORDER BY due_at DESC LIMIT 1`

export function isPossible(now: number): boolean {
  return now >= FIRST_POSSIBLE
}

/**
 * The clock is behind what schedules were computed from: it was ahead and is right again, or it was right and is wrong now,
 * which looks the same. Of some schedules behind `afterSeq`, in their order, everything that is still to come is computed
 * anew from now, so that none is quiet for longer than by its own expression: the next due time, and the day whose budget is
 * spent. Answers where the next bite begins; null: all schedules were looked at.
 *
 * The ledger keeps what it has of later due times: what ran has run, and the rest is unseen until its time comes again
 * (`coming-again.ts`). When it is this clock that is wrong, it will be set forward, and then nothing of it is lost.
 */
export function turnBackSome(tx: Tx, { clock, money }: Pick<ScheduleDeps, 'clock' | 'money'>, afterSeq: number): number | null {
  const now = clock.now()
  const moneyNow = money.now()
  const rows = tx.prepare<Row>(BITE_OF_ROWS).all(afterSeq, BITE)
  const changes = rows.flatMap((row) => {
    const change = turnBack(tx, row, { now, moneyNow })
    return Object.keys(change).length === 0 ? [] : { seq: row.seq, id: row.id, change }
  })
  saveChanges(tx, changes)
  tx.emitAll(changes.map(({ id: scheduleId }) => ({ type: 'schedule.changed', payload: { scheduleId } })))
  return rows.length < BITE ? null : rows.at(-1)!.seq
}

function turnBack(tx: Tx, row: Row, { now, moneyNow }: { now: number; moneyNow: number }): ScheduleChange {
  if (!isTimezone(row.timezone)) return {}
  const isAhead = row.ledger_ends_at !== null && Math.max(row.ledger_ends_at, row.ledger_noted_at!) > now
  const again = isAhead ? takeBackUndecided(tx, row, now) : null
  return { ...(again === null ? nextDueFrom(tx, row, now) : { next_due_at: again }), ...budgetDayFrom(tx, row, { now, moneyNow }) }
}

function nextDueFrom(db: Db, row: Row, now: number): ScheduleChange {
  const { cron, timezone, next_due_at: nextDueAt } = row
  if (nextDueAt === null || nextDueAt <= now) return {}
  // Of nearly all it is the one that is known, and the ledger need not be asked.
  if (nextDueAfter(cron, timezone, now) === nextDueAt) return {}
  const soonest = nextFreeDueAfter(db, row, now)
  return soonest !== null && soonest < nextDueAt ? { next_due_at: soonest } : {}
}

/** It waits for a day that is not tomorrow: the budget of this one counts. */
function budgetDayFrom(tx: Tx, row: Row, { now, moneyNow }: { now: number; moneyNow: number }): ScheduleChange {
  if (row.resume_at === null) return {}
  const tomorrow = nextLocalDayStart(now, row.timezone)
  if (row.resume_at <= tomorrow) return {}
  return findOverspend(tx, row, moneyNow) === null ? { status: 'active', resume_at: null } : { resume_at: tomorrow }
}

/**
 * What is later than now and not a decision of its own leaves the ledger: a due time that waits for the run before it, and
 * the part of a row for many times that is still to come. Both are found again when their time comes.
 *
 * Answers the newest due time that has come, if it came to nothing at a moment that is still to come: while the clock was set
 * right, or the app was off. It is to be decided by this clock. null: what became of that is known.
 */
function takeBackUndecided(tx: Tx, row: Plan, now: number): number | null {
  const { seq, cron, timezone } = row
  tx.prepare("DELETE FROM occurrences WHERE schedule_seq = ? AND origin = 'clock' AND due_at > ? AND (times > 1 OR state = 'due')").run(
    seq,
    now,
  )
  const newest = tx.prepare<Newest>(NEWEST).get(seq, now)
  if (newest === undefined || newest.noted_at <= now || newest.job_seq !== null || newest.state === 'due') return null
  if (newest.until_at === null) return isToComeAgain(row, newest.due_at, now) ? newest.due_at : null
  const times = [newest.due_at, ...dueTimesBetween(cron, timezone, newest.due_at, now, newest.times - 1).times]
  const last = times.at(-1)!
  // All of it has come. By another plan than the present one, it stays as it is.
  if (newest.until_at <= now && (times.length !== newest.times || last !== newest.until_at)) return null
  const comesAgain = isToComeAgain(row, last, now)
  if (comesAgain) times.pop()
  if (times.length === 0) tx.prepare('DELETE FROM occurrences WHERE seq = ?').run(newest.seq)
  else {
    const until = times.length === 1 ? null : times.at(-1)
    tx.prepare('UPDATE occurrences SET times = ?, until_at = ? WHERE seq = ?').run(times.length, until, newest.seq)
  }
  return comesAgain ? last : null
}

/** By the present plan it is the newest that has come, and nothing behind it waits for its decision. */
function isToComeAgain({ cron, timezone, next_due_at: nextDueAt }: Plan, dueAt: number, now: number): boolean {
  if (nextDueAt === null || nextDueAt <= now || nextDueAfter(cron, timezone, dueAt - 1) !== dueAt) return false
  return (nextDueAfter(cron, timezone, dueAt) ?? Infinity) > now
}

/** By another plan nothing of what the old one had for later comes: what made no job leaves the ledger. */
export function takeBackPlan(tx: Tx, { seq, cron, timezone }: Plan, now: number): void {
  if (isTimezone(timezone)) takeBackUndecided(tx, { seq, cron, timezone, next_due_at: null }, now)
  tx.prepare("DELETE FROM occurrences WHERE schedule_seq = ? AND origin = 'clock' AND due_at > ? AND job_seq IS NULL").run(seq, now)
}
