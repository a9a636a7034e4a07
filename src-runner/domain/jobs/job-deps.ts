import type { Tx } from '../../platform/db/database.ts'
import type { LiveJobStreams } from '../../platform/events/live-job-streams.ts'
import type { Services } from '../../platform/services.ts'
import type { Clock } from '../../lib/clock.ts'
import type { JobTimeBuckets } from './job-time-buckets.ts'
import type { jobs } from './jobs-table.ts'
import type { JobSearch } from './search-jobs.sql.ts'
import type { WorkingTime } from './working-time.ts'

/** Called after the commit that changed the queue. */
export type QueueWatcher = {
  /** A job may have become claimable: it is new, was woken, or is no longer blocked. */
  ready?(): void
  /** A person asked a running job to stop. */
  cancelRequested?(jobId: string): void
  /** A running job was ended without its attempt. */
  taken?(jobId: string): void
}

/** A job that has just ended or started to wait. */
export type MovedJob = Pick<
  typeof jobs.$inferSelect,
  'seq' | 'id' | 'status' | 'agentId' | 'channel' | 'triggerId' | 'scheduleId' | 'conversationId'
>

/** What other nouns write in the transaction in which a job ends or waits, so that both are recorded or neither. */
export type JobHooks = {
  ended(tx: Tx, job: MovedJob): void
  waiting(tx: Tx, job: MovedJob): void
}

export type JobDeps = Pick<Services, 'clock' | 'ids'> & {
  /** Dates steps, and with them their cost. */
  money: Pick<Clock, 'now'>
  /** This start of the process. No attempt works on a running job of another start. */
  bootId: string
  liveStreams: LiveJobStreams
  search: JobSearch
  buckets: JobTimeBuckets
  workingTime: WorkingTime
  notify: Required<QueueWatcher>
  hooks: JobHooks
}
