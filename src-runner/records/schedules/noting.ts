import type { Tx } from '../../base/db/transact.ts'
import type { OccurrenceState } from '../../contract/schedules.ts'
import type { OccurrenceRow } from './schedule-rows.ts'
import type { ScheduleDeps } from './schedule-deps.ts'

/** Due times in a row of which nothing else is to be said have a row each up to so many; more share one. */
export const MOST_ROWS_IN_A_ROW = 1000

type Decided = Exclude<OccurrenceState, 'due'>

const INSERT = `INSERT INTO occurrences (schedule_id, due_at, origin, id, state, reason, times, until_at, noted_at, decided_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** Writes one occurrence. Answers its id. A due time that the ledger has already is refused by the database. */
export function insertOccurrence(
  tx: Tx,
  { clock, ids }: Pick<ScheduleDeps, 'clock' | 'ids'>,
  { scheduleId, dueAt, origin, state, reason }: Pick<OccurrenceRow, 'origin' | 'state' | 'reason'> & { scheduleId: string; dueAt: number },
): string {
  const id = ids.next()
  const now = clock.now()
  tx.prepare(INSERT).run(scheduleId, dueAt, origin, id, state, reason, 1, null, now, state === 'due' ? null : now)
  return id
}

/** What became of a due time that waited. */
export function decideWaiting(
  tx: Tx,
  { clock }: Pick<ScheduleDeps, 'clock'>,
  waiting: OccurrenceRow,
  state: Decided,
  reason: string,
): void {
  tx.prepare('UPDATE occurrences SET state = ?, reason = ?, decided_at = ? WHERE schedule_id = ? AND due_at = ? AND origin = ?').run(
    state,
    reason,
    clock.now(),
    waiting.schedule_id,
    waiting.due_at,
    waiting.origin,
  )
}

/** The newest due times of a schedule as long as they came to the same. */
const TAIL = `
  SELECT ifnull(sum(times), 0) AS times, min(due_at) AS first_at FROM occurrences
  WHERE schedule_id = ? AND origin = 'clock' AND due_at > ifnull(
    (SELECT due_at FROM occurrences WHERE schedule_id = ? AND origin = 'clock' AND state <> ? ORDER BY due_at DESC LIMIT 1), -1)`

/**
 * Notes that nothing came of these due times, the oldest first. A watcher that was off for a year missed half a million:
 * when there are more in a row than anybody reads one by one (`more` tells that others follow), all share one row.
 */
export function noteTimes(
  tx: Tx,
  deps: Pick<ScheduleDeps, 'clock' | 'ids'>,
  scheduleId: string,
  { times, state, reason, more }: { times: readonly number[]; state: 'missed' | 'paused'; reason: string; more: boolean },
): void {
  if (times.length === 0) return
  const tail = tx.prepare<{ times: number; first_at: number | null }>(TAIL).get(scheduleId, scheduleId, state)!
  const total = tail.times + times.length
  if (total + (more ? 1 : 0) <= MOST_ROWS_IN_A_ROW) {
    for (const dueAt of times) insertOccurrence(tx, deps, { scheduleId, dueAt, origin: 'clock', state, reason })
    return
  }
  const firstAt = tail.first_at ?? times[0]!
  if (tail.first_at === null) insertOccurrence(tx, deps, { scheduleId, dueAt: firstAt, origin: 'clock', state, reason })
  else tx.prepare("DELETE FROM occurrences WHERE schedule_id = ? AND origin = 'clock' AND due_at > ?").run(scheduleId, firstAt)
  if (total === 1) return
  tx.prepare("UPDATE occurrences SET times = ?, until_at = ?, noted_at = ? WHERE schedule_id = ? AND due_at = ? AND origin = 'clock'").run(
    total,
    times.at(-1)!,
    deps.clock.now(),
    scheduleId,
    firstAt,
  )
}
