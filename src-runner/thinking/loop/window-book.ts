import type { ModelRef } from '../../contract/agents.ts'
import type { Clock } from '../../kit/clock.ts'

/** What was learned of models by using them. Lives as long as the process: what is forgotten is learned again by one refusal. */
export type WindowBook = {
  /** How many tokens a model took at the most when it last refused. null: it has not. */
  windowOf(ref: ModelRef): number | null
  learnWindow(ref: ModelRef, tokens: number): void
  /** What one job learned of a model while it worked with it. */
  ofJob(jobId: string, ref: ModelRef): JobSizes
  learnOfJob(jobId: string, ref: ModelRef, sizes: Partial<JobSizes>): void
}

/** `factor`: how much larger prompts came out than they had been estimated. `ceiling`: an estimate that is not to be sent again. */
export type JobSizes = { factor: number; ceiling: number | null }

/** People start their servers anew with a larger window. */
const BELIEVED_MS = 30 * 60_000
const MOST_KEPT = 500

export function createWindowBook(clock: Pick<Clock, 'monotonic'>): WindowBook {
  const windows = new Map<string, { tokens: number; until: number }>()
  const jobs = new Map<string, JobSizes>()
  const keyOf = ({ providerId, model }: ModelRef, jobId = '') => JSON.stringify([jobId, providerId, model])
  const put = <T>(map: Map<string, T>, key: string, value: T) => {
    map.delete(key)
    map.set(key, value)
    if (map.size > MOST_KEPT) map.delete(map.keys().next().value!)
  }
  const ofJob = (jobId: string, ref: ModelRef): JobSizes => jobs.get(keyOf(ref, jobId)) ?? { factor: 1, ceiling: null }
  return {
    windowOf(ref) {
      const known = windows.get(keyOf(ref))
      return known !== undefined && clock.monotonic() < known.until ? known.tokens : null
    },
    learnWindow: (ref, tokens) => put(windows, keyOf(ref), { tokens, until: clock.monotonic() + BELIEVED_MS }),
    ofJob,
    learnOfJob: (jobId, ref, sizes) => put(jobs, keyOf(ref, jobId), { ...ofJob(jobId, ref), ...sizes }),
  }
}
