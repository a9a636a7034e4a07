/** The right of one attempt to write about its job. It ends when the job is taken away from it or settled. */
export type Claim = { jobId: string; seq: number; claim: number; attempt: number }
