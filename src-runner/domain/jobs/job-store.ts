import type { HistoryLine } from '../../contract/export.ts'
import type { Database, Tx } from '../../platform/db/database.ts'
import type { Claim } from './claim-job.ts'
import { claimJob, claimNextJob, createLastServed } from './claim-job.ts'
import {
  cancelJob,
  cancelJobsOf,
  failStuckJobs,
  forceCancelJob,
  isHeld,
  listOverdueStops,
  recordHeartbeats,
  rescueJobs,
  settleAttempt,
  wakeJob,
  type AttemptOutcome,
} from './settle-job.ts'
import { importHistory } from './import-history.ts'
import { enqueueJob, insertJobs, retryJob, type JobToMake, type NewJob } from './enqueue-job.ts'
import type { JobDeps, JobHooks, QueueWatcher } from './job-deps.ts'
import { listAskingBelow } from './asking-below.sql.ts'
import { listJobs } from './list-jobs.sql.ts'
import {
  countJobs,
  countJobsOfConversation,
  depthOf,
  findChildOfCall,
  findJob,
  getJob,
  listJobsByIds,
  listJobsOfConversation,
  listReplyParts,
  listRunningJobs,
  listSteps,
  listIdsAfter,
} from './read-jobs.ts'
import { findPostponed } from './postpone-job.ts'
import { recordReply, recordToolResult, recordToolStarted, type NewReply, type NewToolResult, type NewToolStart } from './record-steps.ts'
import { createJobTimeBuckets } from './job-time-buckets.ts'
import { createJobSearch } from './search-jobs.sql.ts'
import { createWorkingTime } from './working-time.ts'

export type JobStore = ReturnType<typeof createJobStore>

/**
 * Everything that happens to jobs. Functions that write take the transaction they are part of. Those that an attempt calls take
 * its claim; if another attempt owns the job, they write nothing and throw StaleClaimError. Each function is documented where it
 * is defined.
 */
export function createJobStore({
  db,
  clock,
  money = clock,
  ids,
  bootId,
  liveStreams,
  hooks,
}: Pick<JobDeps, 'clock' | 'ids' | 'bootId' | 'liveStreams'> &
  Partial<Pick<JobDeps, 'money'>> & { db: Database; hooks?: Partial<JobHooks> }) {
  const watchers = new Set<QueueWatcher>()
  const deps: JobDeps = {
    clock,
    money,
    ids,
    bootId,
    liveStreams,
    search: createJobSearch(db),
    buckets: createJobTimeBuckets(),
    workingTime: createWorkingTime(clock),
    notify: {
      ready: () => watchers.forEach((watcher) => watcher.ready?.()),
      cancelRequested: (jobId) => watchers.forEach((watcher) => watcher.cancelRequested?.(jobId)),
      taken: (jobId) => watchers.forEach((watcher) => watcher.taken?.(jobId)),
    },
    hooks: { ended: (tx, job) => hooks?.ended?.(tx, job), waiting: (tx, job) => hooks?.waiting?.(tx, job) },
  }
  const lastServed = createLastServed()
  return {
    enqueue: (tx: Tx, job: NewJob) => enqueueJob(tx, deps, job),
    insertAll: (tx: Tx, toMake: readonly JobToMake[]) => insertJobs(tx, deps, toMake),
    importHistory: (tx: Tx, lines: readonly HistoryLine[]) => importHistory(tx, deps, lines),
    retry: (tx: Tx, jobId: string) => retryJob(tx, deps, jobId),

    claimNext: (tx: Tx, limit: number) => claimNextJob(tx, deps, lastServed, limit),
    claim: (tx: Tx, jobId: string, limit: number) => claimJob(tx, deps, jobId, limit),

    recordReply: (tx: Tx, claim: Claim, reply: NewReply) => recordReply(tx, deps, claim, reply),
    recordToolStarted: (tx: Tx, claim: Claim, call: NewToolStart) => recordToolStarted(tx, deps, claim, call),
    recordToolResult: (tx: Tx, claim: Claim, result: NewToolResult) => recordToolResult(tx, deps, claim, result),
    heartbeat: (tx: Tx, claims: readonly Claim[]) => recordHeartbeats(tx, deps, claims),
    settle: (tx: Tx, claim: Claim, outcome: AttemptOutcome, lastReply?: NewReply) => settleAttempt(tx, deps, claim, outcome, lastReply),

    wake: (tx: Tx, jobId: string) => wakeJob(tx, deps, jobId),
    cancel: (tx: Tx, jobId: string) => cancelJob(tx, deps, jobId),
    cancelAllOf: (tx: Tx, owner: { agentId: string } | { conversationId: string }) => cancelJobsOf(tx, deps, owner),
    forceCancel: (tx: Tx, jobId: string) => forceCancelJob(tx, deps, jobId),
    rescue: (tx: Tx) => rescueJobs(tx, deps),
    failStuck: (tx: Tx, silentMs: number) => failStuckJobs(tx, deps, silentMs),

    isHeld,
    listOverdueStops,
    getJob,
    findJob,
    listIdsAfter,
    findChildOfCall,
    listAskingBelow,
    depthOf,
    listSteps,
    listReplyParts,
    findPostponed,
    countJobs,
    countJobsOfConversation,
    listRunningJobs,
    listJobsOfConversation,
    listJobsByIds,
    listJobs,

    /** Calls back after commits. Returns a function that stops this. */
    watch(watcher: QueueWatcher): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
  }
}
