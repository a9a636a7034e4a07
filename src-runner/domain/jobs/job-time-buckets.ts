import { and, desc, gt, lt, max, min } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/transact.ts'
import { jobTimeBuckets } from './jobs-table.ts'

/**
 * Where in the order of arrival each span of time lies. An index over the time would be written with every job, although
 * jobs come in its order but for the hours that a clock is set back by: it is enough to note when the quarter of an hour
 * is another one than that of the job before.
 */
export type JobTimeBuckets = {
  /** A job was made, behind all others. */
  added(tx: Tx, seq: number, at: number): void
}

const QUARTER_MS = 900_000

export function createJobTimeBuckets(): JobTimeBuckets {
  /** Of the newest job, as far as it is committed: most jobs need not look. */
  let newest: number | null = null
  return {
    added(tx, seq, at) {
      const bucketAt = at - (at % QUARTER_MS)
      if (newest === bucketAt) return
      const last = tx
        .select({ bucketAt: jobTimeBuckets.bucketAt })
        .from(jobTimeBuckets)
        .where(lt(jobTimeBuckets.firstSeq, seq))
        .orderBy(desc(jobTimeBuckets.firstSeq))
        .limit(1)
        .get()
      if (last?.bucketAt !== bucketAt) tx.insert(jobTimeBuckets).values({ firstSeq: seq, bucketAt }).run()
      tx.afterCommit(() => (newest = bucketAt))
    },
  }
}

/** Among these jobs are all that were made in that time; `to` and `below` are exclusive. null: none was. */
export function findSeqRange(db: Db, from: number, to: number): { from: number; below: number } | null {
  const { firstSeq, bucketAt } = jobTimeBuckets
  const { first, last } = db
    .select({ first: min(firstSeq), last: max(firstSeq) })
    .from(jobTimeBuckets)
    .where(and(gt(bucketAt, from - QUARTER_MS), lt(bucketAt, to)))
    .get()!
  if (first === null || last === null) return null
  const next = db.select({ seq: firstSeq }).from(jobTimeBuckets).where(gt(firstSeq, last)).orderBy(firstSeq).limit(1).get()
  return { from: first, below: next?.seq ?? Number.MAX_SAFE_INTEGER }
}
