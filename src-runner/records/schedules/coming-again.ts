import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import { dueTimesBetween, nextDueAfter } from './due-times.ts'
import { keptFrom } from './forgetting.ts'
import type { ScheduleToDecide } from './schedule-rows.ts'

/**
 * Due times that come a second time, because the clock was set back since they were decided. Nobody can tell which of the
 * two clocks was right, so neither is believed more than the other:
 * - a due time that made a job never makes another one;
 * - one that came to nothing is decided anew if it is the newest when it comes again, and stays what it was if it is passed
 *   over;
 * - one that the ledger does not have is decided like any other.
 */

/** What has come due of a schedule. `next`: the first due time behind it that has made no job. */
export type DueTimes = {
  /** The oldest first, each stretch without a due time of the ledger in between. The last of all is the newest, if that is one of them. */
  stretches: readonly (readonly number[])[]
  /** The one that may run; null: it has run already, or it is not among these. */
  newest: number | null
  /** There are due times left to find. */
  more: boolean
  next: number | null
}

type Timed = Pick<ScheduleToDecide, 'seq' | 'cron' | 'timezone'>

const HAS_RUN = "SELECT 1 FROM occurrences WHERE schedule_seq = ? AND due_at = ? AND origin = 'clock' AND job_seq IS NOT NULL"
const RUNS_AFTER = "SELECT due_at AS at FROM occurrences WHERE schedule_seq = ? AND due_at > ? AND origin = 'clock' AND job_seq IS NOT NULL"
const STANDING = `SELECT seq, due_at, job_seq FROM occurrences
  WHERE schedule_seq = ? AND origin = 'clock' AND due_at BETWEEN ? AND ? ORDER BY due_at`

/** Whether the ledger may have due times that are still to be decided, or the schedule was made after them. */
export function mayComeAgain(row: ScheduleToDecide): boolean {
  return row.is_ahead === 1 || row.next_due_at! < row.created_at
}

/** The first due time after `after` that has made no job. Throws a RangeError for a time zone that is not known. */
export function nextFreeDueAfter(db: Db, { seq, cron, timezone }: Timed, after: number): number | null {
  let at = nextDueAfter(cron, timezone, after)
  while (at !== null && db.prepare(HAS_RUN).get(seq, at) !== undefined) at = nextDueAfter(cron, timezone, at)
  return at
}

/** Later due times that have made a job, by a clock that was ahead. */
export function listRunsAfter(db: Db, scheduleSeq: number, now: number): ReadonlySet<number> {
  return new Set(
    db
      .prepare<{ at: number }>(RUNS_AFTER)
      .all(scheduleSeq, now)
      .map(({ at }) => at),
  )
}

/** What has come due up to now, of which the newest is taken out of the ledger when it came to nothing before. */
export function findDueAgain(tx: Tx, row: ScheduleToDecide, now: number, mostTimes: number): DueTimes {
  const from = Math.max(row.next_due_at!, knownFrom(tx, row, now))
  const { times, more } = dueTimesFrom(row, from, now, mostTimes)
  const newest = more ? null : (times.at(-1) ?? null)
  const standing = new Set<number>()
  for (const known of tx
    .prepare<{ seq: number; due_at: number; job_seq: number | null }>(STANDING)
    .all(row.seq, from, more ? times.at(-1)! : now)) {
    if (known.due_at === newest && known.job_seq === null) tx.prepare('DELETE FROM occurrences WHERE seq = ?').run(known.seq)
    else standing.add(known.due_at)
  }
  return {
    stretches: stretchesOf(times, standing),
    newest: newest === null || standing.has(newest) ? null : newest,
    more,
    next: more ? nextDueAfter(row.cron, row.timezone, times.at(-1)!) : nextFreeDueAfter(tx, row, now),
  }
}

/** With the next due time in any case: the zone's rules may have been changed since, and what was due then is due all the same. */
export function dueTimesFrom(
  { cron, timezone, next_due_at: nextDueAt }: Pick<ScheduleToDecide, 'cron' | 'timezone' | 'next_due_at'>,
  from: number,
  now: number,
  mostTimes: number,
): { times: number[]; more: boolean } {
  const due = dueTimesBetween(cron, timezone, from - 1, now, mostTimes)
  if (from === nextDueAt && due.times[0] !== from) due.times.unshift(from)
  return due
}

/** What the ledger does not have before this was forgotten, or there was no schedule yet. */
function knownFrom(db: Db, { seq, created_at: createdAt, is_ahead: isAhead }: ScheduleToDecide, now: number): number {
  return Math.max(createdAt <= now ? createdAt : 0, isAhead === 1 ? keptFrom(db, seq, now) : 0)
}

/** `standing` in its order. One of a plan that was changed since parts them too, although it is none of these times. */
function stretchesOf(times: readonly number[], standing: ReadonlySet<number>): number[][] {
  const known = [...standing]
  const stretches: number[][] = []
  let passed = 0
  let isOpen = false
  for (const at of times) {
    for (; known[passed]! <= at; passed++) isOpen = false
    if (standing.has(at)) continue
    if (isOpen) stretches.at(-1)!.push(at)
    else isOpen = stretches.push([at]) > 0
  }
  return stretches
}
