import type { Tx } from '../../platform/db/transact.ts'
import type { LiveJobStreams } from '../../platform/events/live-job-streams.ts'
import type { JobChannel, JobStatus } from '../../contract/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { JobTimeBuckets } from './job-time-buckets.ts'
import type { JobSearch } from './search-jobs.sql.ts'
import type { WorkingTime } from './working-time.ts'

/** What hears of the queue, after the commit that changed it. */
export type QueueWatcher = {
  /** A job may have become claimable: a new one, a woken one, or one whose way is free now. */
  ready?(): void
  /** A person asked a running job to stop. */
  cancelRequested?(jobId: string): void
  /** The job was ended over the head of the attempt that runs it. */
  taken?(jobId: string): void
}

/** A job that has just ended or gone to wait, as those see it who write about that in the same transaction. */
export type MovedJob = {
  seq: number
  id: string
  status: JobStatus
  agentId: string
  channel: JobChannel
  triggerId: string | null
  scheduleId: string | null
  conversationId: string | null
}

/** What other records write when a job ends or waits: in its transaction, so that neither is ever there without the other. */
export type JobHooks = {
  ended(tx: Tx, job: MovedJob): void
  waiting(tx: Tx, job: MovedJob): void
}

export type JobDeps = {
  clock: Clock
  /** The day that a reply is paid in: it dates steps. */
  money: Pick<Clock, 'now'>
  ids: Ids
  /** This start of the process. A running job of another one has nobody who works on it. */
  bootId: string
  liveStreams: LiveJobStreams
  search: JobSearch
  buckets: JobTimeBuckets
  workingTime: WorkingTime
  notify: Required<QueueWatcher>
  hooks: JobHooks
}
