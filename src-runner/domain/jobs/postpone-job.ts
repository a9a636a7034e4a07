import { eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { jobs, postponedJobs } from './jobs-table.ts'

export const LONGEST_POSTPONED_MS = 600_000

const TIMES_POSTPONED = prepareOnce((db: Db) =>
  db
    .select({ times: postponedJobs.times })
    .from(jobs)
    .innerJoin(postponedJobs, eq(postponedJobs.jobSeq, jobs.seq))
    .where(eq(jobs.id, sql.placeholder('jobId'))),
)

/** How often a job was postponed since it last made progress. */
export function timesPostponed(db: Db, jobId: string): number {
  return TIMES_POSTPONED(db).get({ jobId })?.times ?? 0
}

export function postponeUntil(tx: Tx, jobSeq: number, until: number): void {
  tx.insert(postponedJobs)
    .values({ jobSeq, until, times: 1 })
    .onConflictDoUpdate({ target: postponedJobs.jobSeq, set: { until, times: sql`times + 1` } })
    .run()
}

const FORGET = prepareOnce((tx: Tx) => tx.delete(postponedJobs).where(eq(postponedJobs.jobSeq, sql.placeholder('jobSeq'))))

/** To be called when the job makes progress or ends. */
export function forgetPostponed(tx: Tx, jobSeq: number): void {
  FORGET(tx).run({ jobSeq })
}
