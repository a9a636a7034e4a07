import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { JobErrorCode } from '../../contract/errors.ts'
import { isTerminal, type Job, type JobChannel, type JobStatus, type TerminalStatus } from '../../contract/jobs.ts'
import { AppError } from '../../kit/errors.ts'
import { withdrawApprovals } from '../approvals/withdrawing.ts'
import { addMessage, touchConversation } from '../conversations/turns.ts'
import { toUsd } from '../micros.ts'
import { LostClaim, type Claim } from './claim.ts'
import type { JobDeps, MovedJob } from './job-deps.ts'
import { forgetPostponed, LONGEST_POSTPONED_MS, postponeUntil } from './postponing.ts'
import { getJob } from './reading.ts'
import { recordReply, type NewReply } from './recording.ts'
import { previewOf } from './titles.ts'

/** How an attempt ends, said by the attempt itself. `text`: what was said so far; absent or empty: what the recorded replies said. */
export type AttemptEnding =
  /** `quiet`: a run that found nothing new. */
  | { ending: 'completed'; text: string; quiet?: boolean }
  | { ending: 'failed'; error: JobErrorCode; message: string; text?: string }
  | { ending: 'cancelled'; text?: string }
  | { ending: 'waiting'; status: 'awaiting_approval' | 'awaiting_child' }
  /** The attempt stopped and the job did not: it is pending again, with all its steps, and this was no crash. */
  | { ending: 'released' }
  /** Nothing can be done for it now: it is pending again, and left alone for a while. `tell`: a person should know. */
  | { ending: 'postponed'; waitMs: number; message: string; tell: boolean }

/** How a job ends. `text` null: what the recorded replies said. */
type JobEnding = { status: TerminalStatus; error: JobErrorCode | null; message: string | null; text: string | null; quiet?: boolean }

type OpenJob = {
  seq: number
  id: string
  status: JobStatus
  claim: number
  agent_id: string
  channel: JobChannel
  trigger_id: string | null
  schedule_id: string | null
  conversation_id: string | null
  parent_job_id: string | null
  parent_call_id: string | null
  title: string
  woken: number
  crashes: number
  cancel_requested_at: number | null
  cost_micros: number
}

const SELECT_OPEN =
  'SELECT seq, id, status, claim, agent_id, channel, trigger_id, schedule_id, conversation_id, parent_job_id, parent_call_id, title, woken, crashes, cancel_requested_at, cost_micros FROM agent_jobs'

/**
 * Ends an attempt, and the job too unless it waits or is released; `lastReply` is recorded in the same transaction.
 * Answers the state the job is in now, which is not always the one that was asked for: a person's Stop turns everything
 * but `completed` into `cancelled`, and an answer that came before the job slept turns `waiting` into `pending`.
 * Throws LostClaim.
 */
export function settleAttempt(tx: Tx, deps: JobDeps, claim: Claim, ending: AttemptEnding, lastReply?: NewReply): JobStatus {
  if (lastReply !== undefined) recordReply(tx, deps, claim, lastReply)
  const job = heldJob(tx, claim)
  if (ending.ending === 'completed') {
    return endJob(tx, deps, job, { status: 'completed', error: null, message: null, text: ending.text, quiet: ending.quiet })
  }
  const text = 'text' in ending && ending.text ? ending.text : null
  if (ending.ending === 'cancelled' || job.cancel_requested_at !== null) {
    return endJob(tx, deps, job, { status: 'cancelled', error: null, message: null, text })
  }
  if (ending.ending === 'failed') {
    return endJob(tx, deps, job, { status: 'failed', error: ending.error, message: ending.message, text })
  }
  if (ending.ending === 'released') return requeue(tx, deps, job, 'released')
  if (ending.ending === 'postponed') return postpone(tx, deps, job, ending)
  // It lived to a point where somebody else decides how it goes on: what killed it before is not held against that.
  if (job.crashes > 0) tx.prepare('UPDATE agent_jobs SET crashes = 0 WHERE seq = ?').run(job.seq)
  if (job.woken === 1) return requeue(tx, deps, job, 'woken')
  return putToSleep(tx, deps, job, ending.status)
}

/**
 * The answer that a job waited for is there. An attempt that is still on its way to sleep gets a mark, which its
 * `settle` reads; a job that waits for nothing is left alone, so that a late answer revives nothing.
 */
export function wakeJob(tx: Tx, deps: JobDeps, jobId: string): 'woken' | 'marked' | 'ignored' {
  const job = findOpen(tx, jobId)
  if (job?.status === 'awaiting_approval' || job?.status === 'awaiting_child') {
    requeue(tx, deps, job, 'woken')
    return 'woken'
  }
  if (job?.status !== 'running') return 'ignored'
  tx.prepare('UPDATE agent_jobs SET woken = 1 WHERE seq = ?').run(job.seq)
  return 'marked'
}

/** Stop. What does not run ends at once; what runs is asked to. Throws AppError job_not_found, job_already_finished. */
export function cancelJob(tx: Tx, deps: JobDeps, jobId: string): Job {
  const job = findOpen(tx, jobId)
  if (job === undefined) throw new AppError('job_not_found', 'There is no such job.')
  if (isTerminal(job.status)) throw new AppError('job_already_finished', 'This job has already ended.')
  stopJob(tx, deps, job)
  return getJob(tx, jobId)
}

/** Stops everything unfinished of an agent or of a conversation. */
export function cancelJobsOf(tx: Tx, deps: JobDeps, owner: { agentId: string } | { conversationId: string }): void {
  const [column, id] = 'agentId' in owner ? ['agent_id', owner.agentId] : ['conversation_id', owner.conversationId]
  const open = tx
    .prepare<OpenJob>(`${SELECT_OPEN} WHERE ${column} = ? AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')`)
    .all(id)
  for (const job of open) stopJob(tx, deps, job)
}

function stopJob(tx: Tx, deps: JobDeps, job: OpenJob): void {
  const at = deps.clock.now()
  if (job.status !== 'running') {
    endJob(tx, deps, job, { status: 'cancelled', error: null, message: null, text: null }, at)
    return
  }
  if (job.cancel_requested_at !== null) return
  tx.prepare('UPDATE agent_jobs SET cancel_requested_at = ? WHERE seq = ?').run(at, job.seq)
  tx.emit({ type: 'job.cancel_requested', payload: { jobId: job.id, agentId: job.agent_id, conversationId: job.conversation_id } })
  tx.afterCommit(() => deps.notify.cancelRequested(job.id))
}

/** Ends a job whose attempt did not follow a Stop in time. The attempt has lost its claim. false: there was nothing to end. */
export function forceCancelJob(tx: Tx, deps: JobDeps, jobId: string): boolean {
  const job = findOpen(tx, jobId)
  if (job?.status !== 'running' || job.cancel_requested_at === null) return false
  endJob(tx, deps, job, { status: 'cancelled', error: null, message: null, text: textSoFar(tx, deps, job) })
  tx.afterCommit(() => deps.notify.taken(job.id))
  return true
}

/** Deaths of the process that a job may live through without getting on in between. */
const MOST_CRASHES = 1

/**
 * At the start of the process, before anything is claimed: jobs that ran in a process that is no more become pending,
 * or end when they killed it twice or were to be stopped. Jobs that have ended are not looked at.
 */
export function rescueJobs(tx: Tx, deps: JobDeps): { pending: string[]; cancelled: string[]; failed: string[] } {
  const rescued = { pending: [] as string[], cancelled: [] as string[], failed: [] as string[] }
  const orphans = tx.prepare<OpenJob>(`${SELECT_OPEN} WHERE status = 'running' AND boot_id <> ? ORDER BY seq`).all(deps.bootId)
  for (const job of orphans) {
    if (job.cancel_requested_at !== null) {
      endJob(tx, deps, job, { status: 'cancelled', error: null, message: null, text: null })
      rescued.cancelled.push(job.id)
    } else if (job.crashes >= MOST_CRASHES) {
      const message = 'The app stopped twice while this job was running and it did not get any further, so it was not started again.'
      endJob(tx, deps, job, { status: 'failed', error: 'crash_loop', message, text: null })
      rescued.failed.push(job.id)
    } else {
      tx.prepare('UPDATE agent_jobs SET crashes = crashes + 1 WHERE seq = ?').run(job.seq)
      requeue(tx, deps, job, 'rescued')
      rescued.pending.push(job.id)
    }
  }
  return rescued
}

/** Fails jobs that run here and gave no sign of life for `silentMs`. Answers their ids; their attempts have lost their claims. */
export function failStuckJobs(tx: Tx, deps: JobDeps, silentMs: number): string[] {
  const silent = tx
    .prepare<OpenJob>(`${SELECT_OPEN} WHERE status = 'running' AND heartbeat_at < ? ORDER BY seq`)
    .all(deps.clock.now() - silentMs)
  for (const job of silent) {
    const minutes = Math.round(silentMs / 60_000)
    const message = `Nothing was heard of this job for ${minutes} minutes.`
    endJob(tx, deps, job, { status: 'failed', error: 'stuck', message, text: textSoFar(tx, deps, job) })
    tx.afterCommit(() => deps.notify.taken(job.id))
  }
  return silent.map((job) => job.id)
}

/** Signs of life of attempts that hold their claims; of the others, nothing is written. */
export function recordHeartbeats(tx: Tx, deps: JobDeps, claims: readonly Claim[]): void {
  const beat = tx.prepare(
    "UPDATE agent_jobs SET heartbeat_at = ?, working_ms = working_ms + ? WHERE seq = ? AND claim = ? AND status = 'running'",
  )
  for (const claim of claims) beat.run(deps.clock.now(), deps.workingTime.take(claim.jobId), claim.seq, claim.claim)
}

/** Whether this attempt may still write. */
export function isHeld(db: Db, claim: Claim): boolean {
  return db.prepare("SELECT 1 FROM agent_jobs WHERE seq = ? AND claim = ? AND status = 'running'").get(claim.seq, claim.claim) !== undefined
}

/** Jobs that were asked to stop before `since` and still run. */
export function listOverdueStops(db: Db, since: number): string[] {
  return db
    .prepare<{ id: string }>("SELECT id FROM agent_jobs WHERE status = 'running' AND cancel_requested_at < ?")
    .all(since)
    .map((row) => row.id)
}

function findOpen(db: Db, jobId: string): OpenJob | undefined {
  return db.prepare<OpenJob>(`${SELECT_OPEN} WHERE id = ?`).get(jobId)
}

function heldJob(tx: Tx, claim: Claim): OpenJob {
  const job = tx.prepare<OpenJob>(`${SELECT_OPEN} WHERE seq = ? AND claim = ? AND status = 'running'`).get(claim.seq, claim.claim)
  if (job === undefined) throw new LostClaim(claim)
  return job
}

function postpone(
  tx: Tx,
  deps: JobDeps,
  job: OpenJob,
  { waitMs, message, tell }: Extract<AttemptEnding, { ending: 'postponed' }>,
): 'pending' {
  const until = deps.clock.now() + Math.min(waitMs, LONGEST_POSTPONED_MS)
  postponeUntil(tx, job.seq, until)
  if (job.crashes > 0) tx.prepare('UPDATE agent_jobs SET crashes = 0 WHERE seq = ?').run(job.seq)
  const who = { jobId: job.id, agentId: job.agent_id, conversationId: job.conversation_id }
  if (tell) tx.emit({ type: 'job.postponed', payload: { ...who, message, until } })
  return requeue(tx, deps, job, 'postponed')
}

function requeue(tx: Tx, deps: JobDeps, job: OpenJob, reason: 'woken' | 'rescued' | 'released' | 'postponed'): 'pending' {
  tx.prepare(
    `UPDATE agent_jobs SET status = 'pending', boot_id = NULL, heartbeat_at = NULL, woken = 0, working_ms = working_ms + ? WHERE seq = ?`,
  ).run(deps.workingTime.take(job.id), job.seq)
  tx.emit({ type: 'job.requeued', payload: { jobId: job.id, agentId: job.agent_id, conversationId: job.conversation_id, reason } })
  tx.afterCommit(() => {
    deps.workingTime.end(job.id)
    deps.tails.release(job.id)
    deps.notify.ready()
  })
  return 'pending'
}

function putToSleep(tx: Tx, deps: JobDeps, job: OpenJob, status: 'awaiting_approval' | 'awaiting_child'): JobStatus {
  tx.prepare('UPDATE agent_jobs SET status = ?, boot_id = NULL, heartbeat_at = NULL, working_ms = working_ms + ? WHERE seq = ?').run(
    status,
    deps.workingTime.take(job.id),
    job.seq,
  )
  tx.emit({ type: 'job.waiting', payload: { jobId: job.id, agentId: job.agent_id, conversationId: job.conversation_id, status } })
  deps.hooks.waiting(tx, movedOf(job, status))
  tx.afterCommit(() => {
    deps.workingTime.end(job.id)
    deps.tails.waiting(job.id, status)
    deps.notify.ready()
  })
  return status
}

function endJob(tx: Tx, deps: JobDeps, job: OpenJob, ending: JobEnding, cancelRequestedAt: number | null = null): TerminalStatus {
  const at = deps.clock.now()
  const text = ending.text ?? recordedText(tx, job.seq)
  const result = text === '' && ending.status !== 'completed' ? null : text
  forgetPostponed(tx, job.seq)
  tx.prepare(
    `UPDATE agent_jobs SET status = ?, finished_at = ?, error = ?, error_message = ?, result_preview = ?, boot_id = NULL,
       heartbeat_at = NULL, woken = 0, working_ms = working_ms + ?, cancel_requested_at = coalesce(cancel_requested_at, ?), quiet = ? WHERE seq = ?`,
  ).run(
    ending.status,
    at,
    ending.error,
    ending.message,
    result === null ? null : previewOf(result),
    deps.workingTime.take(job.id),
    cancelRequestedAt,
    ending.quiet === true ? 1 : 0,
    job.seq,
  )
  if (result !== null) {
    tx.prepare('UPDATE job_texts SET result = ? WHERE job_seq = ?').run(result, job.seq)
    deps.search.changed(tx, job.seq)
  }
  if (job.conversation_id !== null) {
    if (result)
      addMessage(tx, { id: deps.ids.next(), conversationId: job.conversation_id, jobId: job.id, role: 'assistant', text: result, at })
    touchConversation(tx, job.conversation_id, job.agent_id, at)
  }
  tx.emit({
    type: 'job.finished',
    payload: {
      jobId: job.id,
      agentId: job.agent_id,
      conversationId: job.conversation_id,
      status: ending.status,
      title: job.title,
      error: ending.error,
      costUsd: toUsd(job.cost_micros),
      scheduleId: job.schedule_id,
    },
  })
  deps.hooks.ended(tx, movedOf(job, ending.status))
  withdrawApprovals(tx, job)
  stopChildren(tx, deps, job)
  if (job.parent_call_id !== null) wakeJob(tx, deps, job.parent_job_id!)
  tx.afterCommit(() => {
    deps.workingTime.end(job.id)
    deps.tails.finished(job.id, ending.status)
    deps.notify.ready()
  })
  return ending.status
}

function movedOf(job: OpenJob, status: JobStatus): MovedJob {
  const { id, agent_id: agentId, channel, trigger_id: triggerId, schedule_id: scheduleId, conversation_id: conversationId } = job
  return { id, status, agentId, channel, triggerId, scheduleId, conversationId }
}

/** Nobody is left who could use what they come to. */
function stopChildren(tx: Tx, deps: JobDeps, parent: OpenJob): void {
  const open = tx
    .prepare<OpenJob>(
      `${SELECT_OPEN} WHERE parent_job_id = ? AND parent_call_id IS NOT NULL
         AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')`,
    )
    .all(parent.id)
  for (const child of open) stopJob(tx, deps, child)
}

function recordedText(db: Db, jobSeq: number): string {
  return db
    .prepare<{ text: string }>("SELECT text FROM job_steps WHERE job_seq = ? AND kind = 'reply' AND text <> '' ORDER BY seq")
    .all(jobSeq)
    .map((row) => row.text)
    .join('\n\n')
}

/** For a job whose attempt cannot say it any more: what is recorded, and what was being said. */
function textSoFar(db: Db, deps: JobDeps, job: OpenJob): string | null {
  const underWay = deps.tails.textUnderWay(job.id)
  if (underWay === '') return null
  return [recordedText(db, job.seq), underWay].filter((text) => text !== '').join('\n\n')
}
