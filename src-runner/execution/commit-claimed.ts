import { commitSoon, type Database, type NoPromise, type Tx } from '../platform/db/database.ts'
import { StaleClaimError } from '../lib/errors.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'

export type ClaimedDeps = { db: Database; jobs: Pick<JobStore, 'isHeld'> }

/** Commits a change that only the attempt that owns the job may make. Rejects with StaleClaimError. */
export function commitClaimed<T>({ db, jobs }: ClaimedDeps, claim: Claim, change: (tx: Tx) => NoPromise<T>): Promise<T> {
  return commitSoon(db, (tx) => {
    if (!jobs.isHeld(tx, claim)) throw new StaleClaimError(claim)
    return change(tx)
  })
}
