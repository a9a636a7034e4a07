import { createHash } from 'node:crypto'
import { commitSoon, type Database } from '../platform/db/database.ts'
import type { KeptResultContent } from '../contract/files.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, StaleClaimError } from '../lib/errors.ts'
import type { Blobs } from '../domain/files/blobs.ts'
import { findKeptResult, insertKeptResult, nextNumber } from '../domain/files/kept-results.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import type { JobStore } from '../domain/jobs/job-store.ts'
import type { JobResults } from '../agent/tools/tool.ts'

type Deps = { db: Database; blobs: Blobs; clock: Clock; jobs: Pick<JobStore, 'isHeld'> }

/** What the calls of a job returned beyond what a model reads at once. */
export function createJobResults({ db, blobs, clock, jobs }: Deps, claim: Claim): JobResults {
  return {
    async keep({ callId, tool, type, bytes }) {
      // Before anything is written: a server could fill the disk with contents that nothing refers to.
      if (nextNumber(db, { jobId: claim.jobId, size: bytes.length }) === null) return null
      const mark = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
      const release = blobs.hold([mark])
      try {
        await blobs.keep(mark, bytes)
        return await commitSoon(db, (tx) => {
          if (!jobs.isHeld(tx, claim)) throw new StaleClaimError(claim)
          return insertKeptResult(tx, { clock }, { jobId: claim.jobId, callId, tool, type, size: bytes.length, mark })
        })
      } finally {
        release()
      }
    },
    async read(number) {
      const found = findKeptResult(db, claim.jobId, number)
      const bytes = found === null ? null : await blobs.read(found.mark)
      return found === null || bytes === null ? null : { type: found.type, bytes }
    },
  }
}

/** For the page. Throws AppError job_not_found or result_not_kept. */
export async function readKeptResult(
  { db, blobs, jobs }: { db: Database; blobs: Blobs; jobs: Pick<JobStore, 'getJob'> },
  jobId: string,
  number: number,
): Promise<KeptResultContent> {
  jobs.getJob(db, jobId)
  const found = findKeptResult(db, jobId, number)
  const bytes = found === null ? null : await blobs.read(found.mark)
  if (found === null || bytes === null) throw new AppError('result_not_kept')
  const { mark: _, ...result } = found
  return { result, base64: bytes.toString('base64') }
}
