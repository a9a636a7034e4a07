import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'
import { and, eq, isNotNull, lt, ne, sql, type SQL } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { JobErrorCode } from '../../contract/errors.ts'
import { isTerminal, type Job, type JobStatus, type TerminalStatus } from '../../contract/jobs.ts'
import { AppError, required, StaleClaimError } from '../../lib/errors.ts'
import { addMessage, touchConversation } from '../conversations/turns.ts'
import type { Claim } from './claim-job.ts'
import type { JobDeps, MovedJob } from './job-deps.ts'
import { jobs } from './jobs-table.ts'
import { forgetPostponed, LONGEST_POSTPONED_MS, postponeUntil, type PostponeCause } from './postpone-job.ts'
import { getJob } from './read-jobs.ts'
import { recordReply, type NewReply } from './record-steps.ts'
import { markEnded, markPending, markWaiting, readReplies, recordBeat, saveResult } from './settle-job.sql.ts'
import { previewOf } from './titles.ts'

/** How an attempt ended. `text`: what the model has said so far; absent or empty: the text of the recorded replies. */
export type AttemptOutcome =
  /** `noOp`: a run that found nothing new. */
  | { kind: 'completed'; text: string; noOp?: boolean }
  | { kind: 'failed'; error: JobErrorCode; message: Message; text?: string }
  | { kind: 'cancelled'; text?: string }
  | { kind: 'waiting'; status: 'awaiting_approval' | 'awaiting_child' }
  /** Only the attempt stopped, not by a crash. The job is pending again with all its steps. */
  | { kind: 'released' }
  /** The job cannot continue now. It is pending again, but is not claimed for a while. */
  | { kind: 'postponed'; cause: PostponeCause; waitMs: number; message: Message; notifiesOwner: boolean }

/** `text` null: the text of the recorded replies. */
type JobOutcome = { status: TerminalStatus; error: JobErrorCode | null; message: Message | null; text: string | null; noOp?: boolean }

const NO_ERROR = { error: null, message: null }
const CANCELLED: JobOutcome = { ...NO_ERROR, status: 'cancelled', text: null }

/**
 * Ends an attempt, and its job unless that waits or is pending again. `lastReply` is recorded in the same transaction. Returns the
 * job's new state, which may differ from the outcome: a person's Stop turns everything but `completed` into `cancelled`, and a
 * wake that came before the job slept turns `waiting` into `pending`. Throws StaleClaimError.
 */
export function settleAttempt(tx: Tx, deps: JobDeps, claim: Claim, outcome: AttemptOutcome, lastReply?: NewReply): JobStatus {
  if (lastReply !== undefined) recordReply(tx, deps, claim, lastReply)
  const job = heldJob(tx, claim)
  if (outcome.kind === 'completed') {
    return endJob(tx, deps, job, { ...NO_ERROR, status: 'completed', text: outcome.text, noOp: outcome.noOp })
  }
  const text = 'text' in outcome && outcome.text ? outcome.text : null
  if (outcome.kind === 'cancelled' || job.cancelRequestedAt !== null) {
    return endJob(tx, deps, job, { ...CANCELLED, text })
  }
  if (outcome.kind === 'failed') {
    return endJob(tx, deps, job, { status: 'failed', error: outcome.error, message: outcome.message, text })
  }
  if (outcome.kind === 'released') return requeue(tx, deps, job, 'released')
  if (outcome.kind === 'postponed') return postpone(tx, deps, job, outcome)
  // It survived to the point where it waits, so an earlier crash no longer counts.
  if (job.crashes > 0) tx.update(jobs).set({ crashes: 0 }).where(eq(jobs.seq, job.seq)).run()
  if (job.woken) return requeue(tx, deps, job, 'woken')
  return putToSleep(tx, deps, job, outcome.status)
}

/**
 * To be called when a job has what it waited for. If its attempt has not gone to sleep yet, the job gets a mark that `settle`
 * reads. A job that does not wait is left alone, so a late answer revives nothing.
 */
export function wakeJob(tx: Tx, deps: JobDeps, jobId: string): 'woken' | 'marked' | 'ignored' {
  const job = findOpen(tx, jobId)
  if (job?.status === 'awaiting_approval' || job?.status === 'awaiting_child') {
    requeue(tx, deps, job, 'woken')
    return 'woken'
  }
  if (job?.status !== 'running') return 'ignored'
  tx.update(jobs).set({ woken: true }).where(eq(jobs.seq, job.seq)).run()
  return 'marked'
}

/** Ends a job that does not run at once; a running one is asked to stop. Throws AppError job_not_found, job_already_finished. */
export function cancelJob(tx: Tx, deps: JobDeps, jobId: string): Job {
  const job = required(findOpen(tx, jobId), 'job_not_found')
  if (isTerminal(job.status)) throw new AppError('job_already_finished')
  stopJob(tx, deps, job)
  return getJob(tx, jobId)
}

/** Stops everything unfinished of an agent or of a conversation. */
export function cancelJobsOf(tx: Tx, deps: JobDeps, owner: { agentId: string } | { conversationId: string }): void {
  const isOfOwner = 'agentId' in owner ? eq(jobs.agentId, owner.agentId) : eq(jobs.conversationId, owner.conversationId)
  forEachOpen(tx, and(isOfOwner, IS_UNFINISHED)!, (job) => stopJob(tx, deps, job))
}

function stopJob(tx: Tx, deps: JobDeps, job: OpenJob): void {
  const at = deps.clock.now()
  if (job.status !== 'running') {
    endJob(tx, deps, job, CANCELLED, at)
    return
  }
  if (job.cancelRequestedAt !== null) return
  tx.update(jobs).set({ cancelRequestedAt: at }).where(eq(jobs.seq, job.seq)).run()
  tx.emit({ type: 'job.cancel_requested', payload: idsOf(job) })
  tx.afterCommit(() => deps.notify.cancelRequested(job.id))
}

/** Ends a job whose attempt did not stop in time and takes away its claim. Returns false if there was nothing to end. */
export function forceCancelJob(tx: Tx, deps: JobDeps, jobId: string): boolean {
  const job = findOpen(tx, jobId)
  if (job?.status !== 'running' || job.cancelRequestedAt === null) return false
  endJob(tx, deps, job, { ...CANCELLED, text: textSoFar(tx, deps, job) })
  tx.afterCommit(() => deps.notify.taken(job.id))
  return true
}

/** Crashes that a job may survive without making progress in between. */
const MAX_CRASHES = 1

/**
 * To be called at the start of the process, before anything is claimed. Jobs that ran in an earlier process become pending, or end
 * if they crashed it twice or were asked to stop.
 */
export function rescueJobs(tx: Tx, deps: JobDeps): { pending: string[]; cancelled: string[]; failed: string[] } {
  const rescued = { pending: [] as string[], cancelled: [] as string[], failed: [] as string[] }
  forEachOpen(tx, and(IS_RUNNING, ne(jobs.bootId, deps.bootId))!, (job) => {
    if (job.cancelRequestedAt !== null) {
      endJob(tx, deps, job, CANCELLED)
      rescued.cancelled.push(job.id)
    } else if (job.crashes >= MAX_CRASHES) {
      endJob(tx, deps, job, { status: 'failed', error: 'crash_loop', message: createMessage('job_crashed'), text: null })
      rescued.failed.push(job.id)
    } else {
      tx.update(jobs)
        .set({ crashes: job.crashes + 1 })
        .where(eq(jobs.seq, job.seq))
        .run()
      requeue(tx, deps, job, 'rescued')
      rescued.pending.push(job.id)
    }
  })
  return rescued
}

/** Fails running jobs without a sign of life for `silentMs` and takes away their claims. Returns their ids. */
export function failStuckJobs(tx: Tx, deps: JobDeps, silentMs: number): string[] {
  const failed: string[] = []
  const message = createMessage('job_silent', { minutes: Math.round(silentMs / 60_000) })
  forEachOpen(tx, and(IS_RUNNING, lt(jobs.heartbeatAt, deps.clock.now() - silentMs))!, (job) => {
    endJob(tx, deps, job, { status: 'failed', error: 'stuck', message, text: textSoFar(tx, deps, job) })
    tx.afterCommit(() => deps.notify.taken(job.id))
    failed.push(job.id)
  })
  return failed
}

/** Records signs of life. Writes nothing for attempts that have lost their claims. */
export function recordHeartbeats(tx: Tx, deps: JobDeps, claims: readonly Claim[]): void {
  for (const claim of claims) recordBeat(tx, claim, deps.clock.now(), deps.workingTime.take(claim.jobId))
}

/** Whether this attempt may still write. */
export function isHeld(db: Db, { seq, claim }: Claim): boolean {
  return HELD_JOB(db).get({ seq, claim }) !== undefined
}

/** Jobs that were asked to stop before `since` and still run. */
export function listOverdueStops(db: Db, since: number): string[] {
  return OVERDUE_STOPS(db)
    .all({ since })
    .map(({ id }) => id)
}

const selectOpen = (db: Db) =>
  db
    .select({
      seq: jobs.seq,
      id: jobs.id,
      status: jobs.status,
      agentId: jobs.agentId,
      channel: jobs.channel,
      triggerId: jobs.triggerId,
      scheduleId: jobs.scheduleId,
      conversationId: jobs.conversationId,
      parentJobId: jobs.parentJobId,
      parentCallId: jobs.parentCallId,
      title: jobs.title,
      woken: jobs.woken,
      crashes: jobs.crashes,
      cancelRequestedAt: jobs.cancelRequestedAt,
      costUsd: jobs.costUsd,
    })
    .from(jobs)

/** In order of age. What happens to a job may end or stop others, such as its children, so each is read when its turn comes. */
function forEachOpen(tx: Tx, which: SQL, act: (job: OpenJob) => void): void {
  const found = tx.select({ seq: jobs.seq }).from(jobs).where(which).orderBy(jobs.seq).all()
  for (const { seq } of found) {
    const job = selectOpen(tx)
      .where(and(eq(jobs.seq, seq), which))
      .get()
    if (job !== undefined) act(job)
  }
}

type OpenJob = NonNullable<ReturnType<ReturnType<typeof selectOpen>['get']>>

/** As SQL text: with bound values, SQLite would not use the indexes of these jobs. */
const IS_RUNNING = sql`status = 'running'`
const IS_UNFINISHED = sql`status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')`

const OVERDUE_STOPS = prepareOnce((db: Db) =>
  db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(IS_RUNNING, lt(jobs.cancelRequestedAt, sql.placeholder('since')))),
)
const OPEN_JOB = prepareOnce((db: Db) => selectOpen(db).where(eq(jobs.id, sql.placeholder('id'))))
const HELD_JOB = prepareOnce((db: Db) =>
  selectOpen(db).where(and(eq(jobs.seq, sql.placeholder('seq')), eq(jobs.claim, sql.placeholder('claim')), IS_RUNNING)),
)

const OPEN_CHILDREN = prepareOnce((db: Db) =>
  selectOpen(db).where(and(eq(jobs.parentJobId, sql.placeholder('parentJobId')), isNotNull(jobs.parentCallId), IS_UNFINISHED)),
)

function findOpen(db: Db, jobId: string): OpenJob | undefined {
  return OPEN_JOB(db).get({ id: jobId })
}

function heldJob(tx: Tx, claim: Claim): OpenJob {
  const job = HELD_JOB(tx).get({ seq: claim.seq, claim: claim.claim })
  if (job === undefined) throw new StaleClaimError(claim)
  return job
}

function postpone(
  tx: Tx,
  deps: JobDeps,
  job: OpenJob,
  { cause, waitMs, message, notifiesOwner }: Extract<AttemptOutcome, { kind: 'postponed' }>,
): 'pending' {
  const until = deps.clock.now() + Math.min(waitMs, LONGEST_POSTPONED_MS)
  postponeUntil(tx, job.seq, { until, cause })
  if (job.crashes > 0) tx.update(jobs).set({ crashes: 0 }).where(eq(jobs.seq, job.seq)).run()
  if (notifiesOwner) tx.emit({ type: 'job.postponed', payload: { ...idsOf(job), message, until } })
  return requeue(tx, deps, job, 'postponed')
}

function requeue(tx: Tx, deps: JobDeps, job: OpenJob, reason: 'woken' | 'rescued' | 'released' | 'postponed'): 'pending' {
  markPending(tx, job.seq, deps.workingTime.take(job.id))
  tx.emit({ type: 'job.requeued', payload: { ...idsOf(job), reason, scheduleId: job.scheduleId } })
  tx.afterCommit(() => {
    deps.workingTime.end(job.id)
    deps.liveStreams.release(job.id)
    deps.notify.ready()
  })
  return 'pending'
}

function putToSleep(tx: Tx, deps: JobDeps, job: OpenJob, status: 'awaiting_approval' | 'awaiting_child'): JobStatus {
  markWaiting(tx, job.seq, status, deps.workingTime.take(job.id))
  tx.emit({ type: 'job.waiting', payload: { ...idsOf(job), status, scheduleId: job.scheduleId } })
  deps.hooks.waiting(tx, movedOf(job, status))
  const above = status === 'awaiting_approval' ? listAbove(tx, job) : []
  tx.afterCommit(() => {
    deps.workingTime.end(job.id)
    deps.liveStreams.waiting(job.id, status)
    for (const id of above) deps.liveStreams.waitingBelow(id)
    deps.notify.ready()
  })
  return status
}

function endJob(tx: Tx, deps: JobDeps, job: OpenJob, outcome: JobOutcome, cancelRequestedAt: number | null = null): TerminalStatus {
  const at = deps.clock.now()
  const text = outcome.text ?? readReplies(tx, job.seq)
  const result = text === '' && outcome.status !== 'completed' ? null : text
  forgetPostponed(tx, job.seq)
  markEnded(tx, job.seq, {
    ...outcome,
    at,
    cancelRequestedAt,
    workedMs: deps.workingTime.take(job.id),
    resultPreview: result === null ? null : previewOf(result),
  })
  if (result !== null) {
    saveResult(tx, job.seq, result)
    deps.search.changed(tx, job.seq)
  }
  if (job.conversationId !== null) {
    if (result)
      addMessage(tx, {
        id: deps.ids.next(),
        conversationId: job.conversationId,
        jobId: job.id,
        role: 'assistant',
        text: result,
        createdAt: at,
      })
    touchConversation(tx, job.conversationId, job.agentId, at)
  }
  const { title, costUsd, scheduleId } = job
  const { status, error } = outcome
  tx.emit({ type: 'job.finished', payload: { ...idsOf(job), status, title, error, costUsd, scheduleId } })
  deps.hooks.ended(tx, movedOf(job, outcome.status))
  stopChildren(tx, deps, job)
  if (job.parentCallId !== null) wakeJob(tx, deps, job.parentJobId!)
  tx.afterCommit(() => {
    deps.workingTime.end(job.id)
    deps.liveStreams.finished(job.id, outcome.status)
    deps.notify.ready()
  })
  return outcome.status
}

function idsOf({ id, agentId, conversationId }: OpenJob) {
  return { jobId: id, agentId, conversationId }
}

function movedOf({ seq, id, agentId, channel, triggerId, scheduleId, conversationId }: OpenJob, status: JobStatus): MovedJob {
  return { seq, id, status, agentId, channel, triggerId, scheduleId, conversationId }
}

/** The jobs that delegated this one, at every depth. */
function listAbove(db: Db, job: OpenJob): string[] {
  const above: string[] = []
  for (let one: OpenJob | undefined = job; one !== undefined && one.parentCallId !== null; one = findOpen(db, one.parentJobId!))
    above.push(one.parentJobId!)
  return above
}

/** Nothing can use their results any more. */
function stopChildren(tx: Tx, deps: JobDeps, parent: OpenJob): void {
  for (const child of OPEN_CHILDREN(tx).all({ parentJobId: parent.id })) stopJob(tx, deps, child)
}

/** For a job that ends without its attempt: the recorded replies and the one under way. */
function textSoFar(db: Db, deps: JobDeps, job: OpenJob): string | null {
  const underWay = deps.liveStreams.textUnderWay(job.id)
  return underWay === '' ? null : readReplies(db, job.seq, underWay)
}
