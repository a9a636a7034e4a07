import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'

/**
 * Where in the order of arrival each span of time lies. An index over the time would be written with every job, although
 * jobs come in its order but for the hours that a clock is set back by: it is enough to note when the quarter of an hour
 * is another one than that of the job before.
 */
export type JobQuarters = {
  /** A job was made, behind all others. */
  added(tx: Tx, seq: number, at: number): void
}

const QUARTER_MS = 900_000

export function createJobQuarters(): JobQuarters {
  /** Of the newest job, as far as it is committed: most jobs need not look. */
  let newest: number | null = null
  return {
    added(tx, seq, at) {
      const quarterAt = at - (at % QUARTER_MS)
      if (newest === quarterAt) return
      const last = tx
        .prepare<{ quarter_at: number }>('SELECT quarter_at FROM job_quarters WHERE first_seq < ? ORDER BY first_seq DESC LIMIT 1')
        .get(seq)
      if (last?.quarter_at !== quarterAt) {
        tx.prepare('INSERT INTO job_quarters (first_seq, quarter_at) VALUES (?, ?)').run(seq, quarterAt)
      }
      tx.afterCommit(() => (newest = quarterAt))
    },
  }
}

/** Among these jobs are all that were made in that time; `to` and `below` are exclusive. null: none was. */
export function findSeqRange(db: Db, from: number, to: number): { from: number; below: number } | null {
  const found = db
    .prepare<{ first: number | null; last: number | null }>(
      'SELECT min(first_seq) AS first, max(first_seq) AS last FROM job_quarters WHERE quarter_at > ? AND quarter_at < ?',
    )
    .get(from - QUARTER_MS, to)!
  if (found.first === null || found.last === null) return null
  const next = db
    .prepare<{ first_seq: number }>('SELECT first_seq FROM job_quarters WHERE first_seq > ? ORDER BY first_seq LIMIT 1')
    .get(found.last)
  return { from: found.first, below: next?.first_seq ?? Number.MAX_SAFE_INTEGER }
}
