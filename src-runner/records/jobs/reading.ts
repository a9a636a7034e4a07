import type { Db } from '../../base/db/database.ts'
import type { Job, JobSummary, Step } from '../../contract/jobs.ts'
import type { RunningJob } from '../../contract/port.ts'
import { AppError } from '../../kit/errors.ts'
import { toUsd } from '../micros.ts'
import { jobOf, SELECT_JOB, SELECT_SUMMARY, stepOf, summaryOf, type JobRow, type StepRow, type SummaryRow } from './job-rows.ts'
import { AT_REST, countQueued } from './queue.ts'

export function findJob(db: Db, jobId: string): Job | null {
  const row = db.prepare<JobRow>(`${SELECT_JOB} WHERE job.id = ?`).get(jobId)
  return row === undefined ? null : jobOf(row)
}

/** Throws AppError job_not_found. */
export function getJob(db: Db, jobId: string): Job {
  const job = findJob(db, jobId)
  if (job === null) throw new AppError('job_not_found', 'There is no such job.')
  return job
}

/** The job that was made for this call of another job; null: none was. */
export function findChildOfCall(db: Db, parentJobId: string, callId: string): Job | null {
  const row = db.prepare<JobRow>(`${SELECT_JOB} WHERE job.parent_job_id = ? AND job.parent_call_id = ?`).get(parentJobId, callId)
  return row === undefined ? null : jobOf(row)
}

/** How many jobs stand above this one by delegation. */
export function depthOf(db: Db, jobId: string): number {
  const parent = db.prepare<{ parent_job_id: string }>('SELECT parent_job_id FROM agent_jobs WHERE id = ? AND parent_call_id IS NOT NULL')
  let depth = 0
  for (let above = parent.get(jobId); above !== undefined; above = parent.get(above.parent_job_id)) depth++
  return depth
}

/** The recorded steps behind `after`, in order. Throws AppError job_not_found. */
export function listSteps(db: Db, jobId: string, after = 0): Step[] {
  const job = db.prepare<{ seq: number }>('SELECT seq FROM agent_jobs WHERE id = ?').get(jobId)
  if (job === undefined) throw new AppError('job_not_found', 'There is no such job.')
  return db.prepare<StepRow>(SELECT_STEPS).all(job.seq, after).map(stepOf)
}

/** Only of a call that came to nothing it is looked up whether somebody said no. */
const SELECT_STEPS = `SELECT step.*, CASE WHEN step.ok = 0 THEN
    EXISTS (SELECT 1 FROM decisions WHERE job_seq = step.job_seq AND call_id = step.call_id AND decision ->> 'verdict' = 'deny')
    OR EXISTS (SELECT 1 FROM approvals WHERE job_seq = step.job_seq AND call_id = step.call_id AND status IN ('rejected', 'expired'))
    ELSE 0 END AS refused
  FROM job_steps AS step WHERE step.job_seq = ? AND step.seq > ? ORDER BY step.seq`

/** What providers want to have back with replies of this job, as it was recorded, by the number of the step. */
export function listReplyParts(db: Db, jobId: string): ReadonlyMap<number, unknown> {
  const rows = db
    .prepare<{ seq: number; parts: string }>(
      'SELECT parts.seq, parts.parts FROM agent_jobs AS job JOIN reply_parts AS parts ON parts.job_seq = job.seq WHERE job.id = ?',
    )
    .all(jobId)
  return new Map(rows.map(({ seq, parts }) => [seq, JSON.parse(parts) as unknown]))
}

export type JobCounts = { pending: number; running: number; awaiting_approval: number; awaiting_child: number }

/** How many unfinished jobs there are of each kind. */
export function countJobs(db: Db): JobCounts {
  const running = db.prepare<{ jobs: number }>("SELECT count(*) AS jobs FROM agent_jobs WHERE status = 'running'").get()!.jobs
  const waiting = (status: 'awaiting_approval' | 'awaiting_child') =>
    db.prepare<{ jobs: number }>(`SELECT count(*) AS jobs FROM agent_jobs WHERE status = ? AND ${AT_REST}`).get(status)!.jobs
  return {
    pending: countQueued(db),
    running,
    awaiting_approval: waiting('awaiting_approval'),
    awaiting_child: waiting('awaiting_child'),
  }
}

/** What runs now, the longest running first. */
export function listRunningJobs(db: Db): RunningJob[] {
  return db
    .prepare<{ id: string; title: string; agent_name: string; started_at: number; cost_micros: number }>(
      `SELECT job.id, job.title, agent.name AS agent_name, job.started_at, job.cost_micros
       FROM agent_jobs AS job JOIN agents AS agent ON agent.id = job.agent_id WHERE job.status = 'running' ORDER BY job.seq`,
    )
    .all()
    .map((row) => ({
      jobId: row.id,
      title: row.title,
      agentName: row.agent_name,
      startedAt: row.started_at,
      costUsd: toUsd(row.cost_micros),
    }))
}

/** The newest `limit` jobs of a conversation, oldest first. */
export function listJobsOfConversation(db: Db, conversationId: string, limit = 200): JobSummary[] {
  return db
    .prepare<SummaryRow>(`${SELECT_SUMMARY} WHERE job.conversation_id = ? ORDER BY job.seq DESC LIMIT ?`)
    .all(conversationId, limit)
    .map(summaryOf)
    .reverse()
}
