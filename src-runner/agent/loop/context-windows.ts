import type { ModelRef } from '../../contract/agents.ts'
import type { Clock } from '../../lib/clock.ts'

export type ContextWindows = ReturnType<typeof createContextWindows>

/** `factor`: how much larger prompts are than estimated. `ceiling`: an estimate that was refused. */
type JobSizes = { factor: number; ceiling: number | null }

/** People restart their servers with a larger window. */
const TRUSTED_MS = 30 * 60_000
const MAX_ENTRIES = 500

/** What was learned about models by using them. Lives as long as the process: one refusal teaches it again. */
export function createContextWindows(clock: Pick<Clock, 'monotonic'>) {
  const windows = new Map<string, { tokens: number; until: number }>()
  const jobs = new Map<string, JobSizes>()
  const keyOf = ({ providerId, model }: ModelRef, jobId = '') => JSON.stringify([jobId, providerId, model])
  const put = <T>(map: Map<string, T>, key: string, value: T) => {
    map.delete(key)
    map.set(key, value)
    if (map.size > MAX_ENTRIES) map.delete(map.keys().next().value!)
  }
  const ofJob = (jobId: string, ref: ModelRef): JobSizes => jobs.get(keyOf(ref, jobId)) ?? { factor: 1, ceiling: null }
  return {
    /** The window that a model's last refusal named. null: none. */
    windowOf(ref: ModelRef): number | null {
      const known = windows.get(keyOf(ref))
      return known !== undefined && clock.monotonic() < known.until ? known.tokens : null
    },
    learnWindow: (ref: ModelRef, tokens: number) => put(windows, keyOf(ref), { tokens, until: clock.monotonic() + TRUSTED_MS }),
    /** What one job learned about a model. */
    ofJob,
    learnOfJob: (jobId: string, ref: ModelRef, sizes: Partial<JobSizes>) =>
      put(jobs, keyOf(ref, jobId), { ...ofJob(jobId, ref), ...sizes }),
  }
}
