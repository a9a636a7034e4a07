/** The right of one attempt to write about its job. It ends when the job is taken away from it or settled. */
export type Claim = { jobId: string; seq: number; claim: number; attempt: number }

/**
 * This attempt is no longer the one that may write: it was cancelled, given up as stuck, or its job went to another
 * attempt. Nothing of what it wanted to write was written, and it must end.
 */
export class LostClaim extends Error {
  override readonly name = 'LostClaim'

  constructor(claim: Claim) {
    super(`claim ${claim.claim} of job ${claim.jobId} is not the present one`)
  }
}
