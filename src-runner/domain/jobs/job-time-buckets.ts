import { and, desc, gt, lt, max, min } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { jobTimeBuckets } from './jobs-table.ts'

const BUCKET_MS = 900_000

/**
 * Finds jobs by time without an index that every new job would write. Jobs arrive in order of time, except after a clock was set
 * back, so one row is enough for each run of jobs within the same 15 minutes.
 */
export function createJobTimeBuckets() {
  /** The bucket of the newest job, which spares most jobs a query. null: unknown, as while a transaction changes it. */
  let newest: number | null = null
  return {
    /** To be called for a new job, or for the first of several. */
    added(tx: Tx, seq: number, at: number): void {
      const bucketAt = at - (at % BUCKET_MS)
      if (newest === bucketAt) return
      const last = tx
        .select({ bucketAt: jobTimeBuckets.bucketAt })
        .from(jobTimeBuckets)
        .where(lt(jobTimeBuckets.firstSeq, seq))
        .orderBy(desc(jobTimeBuckets.firstSeq))
        .limit(1)
        .get()
      newest = null
      if (last?.bucketAt !== bucketAt) tx.insert(jobTimeBuckets).values({ firstSeq: seq, bucketAt }).run()
      tx.afterCommit(() => (newest = bucketAt))
    },
  }
}

export type JobTimeBuckets = ReturnType<typeof createJobTimeBuckets>

/** A range of seqs that contains all jobs created in that time. `to` and `below` are exclusive. null: there are none. */
export function findSeqRange(db: Db, from: number, to: number): { from: number; below: number } | null {
  const { firstSeq, bucketAt } = jobTimeBuckets
  const { first, last } = db
    .select({ first: min(firstSeq), last: max(firstSeq) })
    .from(jobTimeBuckets)
    .where(and(gt(bucketAt, from - BUCKET_MS), lt(bucketAt, to)))
    .get()!
  if (first === null || last === null) return null
  const next = db.select({ seq: firstSeq }).from(jobTimeBuckets).where(gt(firstSeq, last)).orderBy(firstSeq).limit(1).get()
  return { from: first, below: next?.seq ?? Number.MAX_SAFE_INTEGER }
}
