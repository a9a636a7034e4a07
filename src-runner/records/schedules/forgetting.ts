import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'

/** What the ledger keeps of each schedule, whichever is less. */
export const LEDGER_KEEPS = { rows: 2000, forMs: 400 * 86_400_000 }
/** Schedules that one bite looks at, and rows that it takes from each. */
const BITE = { schedules: 50, rows: 500 }

/**
 * Takes old rows out of the ledger, a bite at a time: of some schedules behind `afterSeq`, in their order. Answers where
 * the next bite begins, which is at the beginning again when the last schedule was looked at.
 */
export function forgetOldOccurrences(tx: Tx, { afterSeq, now }: { afterSeq: number; now: number }): number {
  const rows = tx
    .prepare<{ seq: number; last_run_seq: number | null }>('SELECT seq, last_run_seq FROM schedules WHERE seq > ? ORDER BY seq LIMIT ?')
    .all(afterSeq, BITE.schedules)
  const remove = tx.prepare("DELETE FROM occurrences WHERE schedule_seq = ? AND due_at < ? AND state <> 'due' AND seq IS NOT ?")
  for (const { seq, last_run_seq: lastRunSeq } of rows) {
    const firstKept = firstKeptOf(tx, seq, now)
    if (firstKept !== null) remove.run(seq, firstKept, lastRunSeq)
  }
  return rows.length < BITE.schedules ? 0 : rows.at(-1)!.seq
}

/** The due time from which on the ledger keeps everything of a schedule. What a clock noted that was ahead is not counted. */
export function keptFrom(db: Db, scheduleSeq: number, now: number): number {
  const oldestOfMost = db
    .prepare<{ due_at: number }>(
      'SELECT due_at FROM occurrences WHERE schedule_seq = ? AND due_at <= ? ORDER BY due_at DESC LIMIT 1 OFFSET ?',
    )
    .get(scheduleSeq, now, LEDGER_KEEPS.rows - 1)
  return Math.max(now - LEDGER_KEEPS.forMs, oldestOfMost?.due_at ?? 0)
}

/** The due time from which on everything stays in this bite; null: nothing is too old. */
function firstKeptOf(db: Db, scheduleSeq: number, now: number): number | null {
  const oldest = (skip: number) =>
    db
      .prepare<{ due_at: number }>('SELECT due_at FROM occurrences WHERE schedule_seq = ? ORDER BY due_at LIMIT 1 OFFSET ?')
      .get(scheduleSeq, skip)?.due_at
  const wanted = keptFrom(db, scheduleSeq, now)
  if ((oldest(0) ?? wanted) >= wanted) return null
  return Math.min(wanted, oldest(BITE.rows) ?? wanted)
}
