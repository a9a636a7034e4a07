import { and, count, desc, eq, isNotNull, sql, type SQL, gt } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Job, JobStatus, JobSummary, Step } from '../../contract/jobs.ts'
import type { RunningJob } from '../../contract/port.ts'
import { required } from '../../lib/errors.ts'
import { isAgentOf } from '../agents/agents.ts'
import { agents } from '../agents/agents-table.ts'
import { jobOf, selectJobs, selectSummaries, stepOf, STEPS_AFTER, summaryOf } from './job-rows.ts'
import { jobs, replyParts } from './jobs-table.ts'
import { AT_REST, countQueued } from './queue.sql.ts'

const hasId = eq(jobs.id, sql.placeholder('id'))
const JOB_BY_ID = prepareOnce((db: Db) => selectJobs(db).where(hasId))
const SEQ_OF_JOB = prepareOnce((db: Db) => db.select({ seq: jobs.seq }).from(jobs).where(hasId))

export function findJob(db: Db, jobId: string): Job | null {
  const row = JOB_BY_ID(db).get({ id: jobId })
  return row === undefined ? null : jobOf(row)
}

/** Throws AppError job_not_found. */
export function getJob(db: Db, jobId: string): Job {
  return required(findJob(db, jobId), 'job_not_found')
}

const CHILD_OF_CALL = prepareOnce((db: Db) =>
  selectJobs(db).where(and(eq(jobs.parentJobId, sql.placeholder('parentJobId')), eq(jobs.parentCallId, sql.placeholder('callId')))),
)

/** The job that was made for this call of another job. */
export function findChildOfCall(db: Db, parentJobId: string, callId: string): Job | null {
  const row = CHILD_OF_CALL(db).get({ parentJobId, callId })
  return row === undefined ? null : jobOf(row)
}

/** How many jobs are above this one by delegation. */
export function depthOf(db: Db, jobId: string): number {
  const parentOf = (id: string) =>
    db
      .select({ id: jobs.parentJobId })
      .from(jobs)
      .where(and(eq(jobs.id, id), isNotNull(jobs.parentCallId)))
      .get()
  let depth = 0
  for (let above = parentOf(jobId); above !== undefined; above = parentOf(above.id!)) depth++
  return depth
}

export function findSeq(db: Db, jobId: string): number | undefined {
  return SEQ_OF_JOB(db).get({ id: jobId })?.seq
}

/** The recorded steps after `after`, in order. Throws AppError job_not_found. */
export function listSteps(db: Db, jobId: string, after = 0): Step[] {
  const jobSeq = required(findSeq(db, jobId), 'job_not_found')
  return STEPS_AFTER(db).all({ jobSeq, after }).map(stepOf)
}

const REPLY_PARTS = prepareOnce((db: Db) =>
  db
    .select({ seq: replyParts.seq, parts: replyParts.parts })
    .from(jobs)
    .innerJoin(replyParts, eq(replyParts.jobSeq, jobs.seq))
    .where(hasId),
)

/** What providers expect back with the replies of this job, by the number of the step. */
export function listReplyParts(db: Db, jobId: string): ReadonlyMap<number, unknown> {
  const rows = REPLY_PARTS(db).all({ id: jobId })
  return new Map(rows.map(({ seq, parts }) => [seq, parts]))
}

const prepareCount = (condition: SQL) => prepareOnce((db: Db) => db.select({ n: count() }).from(jobs).where(condition))
const RUNNING_COUNT = prepareCount(sql`status = 'running'`)
const AWAITING_APPROVAL_COUNT = prepareCount(sql`status = 'awaiting_approval' AND ${sql.raw(AT_REST)}`)
const AWAITING_CHILD_COUNT = prepareCount(sql`status = 'awaiting_child' AND ${sql.raw(AT_REST)}`)

/** How many unfinished jobs there are in each state, in one workspace or in all. */
export function countJobs(db: Db, entityId?: string) {
  if (entityId !== undefined) return countJobsOf(db, entityId)
  return {
    pending: countQueued(db),
    running: RUNNING_COUNT(db).get()!.n,
    awaiting_approval: AWAITING_APPROVAL_COUNT(db).get()!.n,
    awaiting_child: AWAITING_CHILD_COUNT(db).get()!.n,
  }
}

function countJobsOf(db: Db, entityId: string) {
  const countOf = (status: JobStatus) =>
    db
      .select({ n: count() })
      .from(jobs)
      .where(and(isAgentOf(jobs.agentId, entityId), eq(jobs.status, status)))
      .get()!.n
  return {
    pending: countOf('pending'),
    running: countOf('running'),
    awaiting_approval: countOf('awaiting_approval'),
    awaiting_child: countOf('awaiting_child'),
  }
}

const RUNNING = prepareOnce((db: Db) =>
  db
    .select({
      jobId: jobs.id,
      title: jobs.title,
      agentName: agents.name,
      startedAt: jobs.startedAt,
      costUsd: jobs.costUsd,
      priced: sql`agent_jobs.unpriced_calls = 0`.mapWith(Boolean),
    })
    .from(jobs)
    .innerJoin(agents, eq(agents.id, jobs.agentId))
    .where(sql`agent_jobs.status = 'running'`)
    .orderBy(jobs.seq),
)

/** The longest running first. */
export function listRunningJobs(db: Db): RunningJob[] {
  return RUNNING(db)
    .all()
    .map((row) => ({ ...row, startedAt: row.startedAt! }))
}

const isOfConversation = eq(jobs.conversationId, sql.placeholder('conversationId'))

const NEWEST_OF_CONVERSATION = prepareOnce((db: Db) =>
  selectSummaries(db).where(isOfConversation).orderBy(desc(jobs.seq)).limit(sql.placeholder('limit')),
)

/** The newest `limit` jobs of a conversation, oldest first. */
export function listJobsOfConversation(db: Db, conversationId: string, limit = 200): JobSummary[] {
  return NEWEST_OF_CONVERSATION(db).all({ conversationId, limit }).map(summaryOf).reverse()
}

const SUMMARY_BY_ID = prepareOnce((db: Db) => selectSummaries(db).where(hasId))

/** These jobs, in this order. Those that do not exist are left out. */
export function listJobsByIds(db: Db, jobIds: Iterable<string>): JobSummary[] {
  return [...jobIds].flatMap((id) => SUMMARY_BY_ID(db).get({ id }) ?? []).map(summaryOf)
}

const COUNT_OF_CONVERSATION = prepareOnce((db: Db) => db.select({ n: count() }).from(jobs).where(isOfConversation))

export function countJobsOfConversation(db: Db, conversationId: string): number {
  return COUNT_OF_CONVERSATION(db).get({ conversationId })!.n
}

/** The next jobs in the order of their arrival, the oldest first, so that parents come before their children. */
export function listIdsAfter(db: Db, after: number, limit: number): { seq: number; id: string }[] {
  return db.select({ seq: jobs.seq, id: jobs.id }).from(jobs).where(gt(jobs.seq, after)).orderBy(jobs.seq).limit(limit).all()
}
