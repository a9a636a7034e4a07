import { eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { jobs, postponedJobs, type POSTPONE_CAUSES } from './jobs-table.ts'

export const LONGEST_POSTPONED_MS = 600_000

const POSTPONED = prepareOnce((db: Db) =>
  db
    .select({ cause: postponedJobs.cause, times: postponedJobs.times })
    .from(jobs)
    .innerJoin(postponedJobs, eq(postponedJobs.jobSeq, jobs.seq))
    .where(eq(jobs.id, sql.placeholder('jobId'))),
)

export type PostponeCause = (typeof POSTPONE_CAUSES)[number]
/** How often a job was postponed in a row for one cause. */
export type Postponed = { cause: PostponeCause; times: number }

/** Since the job last made progress. null: it was not postponed. */
export function findPostponed(db: Db, jobId: string): Postponed | null {
  return POSTPONED(db).get({ jobId }) ?? null
}

export function postponeUntil(tx: Tx, jobSeq: number, { until, cause }: { until: number; cause: PostponeCause }): void {
  tx.insert(postponedJobs)
    .values({ jobSeq, until, cause, times: 1 })
    .onConflictDoUpdate({
      target: postponedJobs.jobSeq,
      set: { until, cause, times: sql`CASE WHEN ${postponedJobs.cause} = ${cause} THEN times + 1 ELSE 1 END` },
    })
    .run()
}

const FORGET = prepareOnce((tx: Tx) => tx.delete(postponedJobs).where(eq(postponedJobs.jobSeq, sql.placeholder('jobSeq'))))

/** To be called when the job makes progress or ends. */
export function forgetPostponed(tx: Tx, jobSeq: number): void {
  FORGET(tx).run({ jobSeq })
}
