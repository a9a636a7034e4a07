import type { JobStatus } from '../../../../src-runner/contract/jobs.ts'
import type { Schedule } from '../../../../src-runner/contract/schedules.ts'
import { useJob } from '../../../api/queries.ts'

/**
 * The current status of a schedule's running job, or null. The schedule has the status from when the run started or began to
 * wait, not from when it went on.
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
