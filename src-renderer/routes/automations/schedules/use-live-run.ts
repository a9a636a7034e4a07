import type { JobStatus } from '../../../../src-runner/contract/jobs.ts'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { useJob } from '../../../api/queries.ts'

/**
 * How the run of a schedule that has not ended stands at this moment; null: there is none. The schedule itself says how
 * it stood when the run began or stopped to wait, and not that it went on since.
 */
export function useLiveRun(schedule: () => Pick<Schedule, 'liveJobId' | 'lastStatus'>): () => JobStatus | null {
  const answer = useJob(() => schedule().liveJobId)
  return () => {
    const { liveJobId, lastStatus } = schedule()
    if (liveJobId === null) return null
    if (answer.data?.job.id === liveJobId) return answer.data.job.status
    return lastStatus === 'awaiting_approval' ? 'awaiting_approval' : 'running'
  }
}
