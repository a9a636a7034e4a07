import { and, eq, isNull, sql } from 'drizzle-orm'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Tx } from '../../platform/db/transact.ts'
import { rowInsert, writeRows } from '../../platform/db/write-rows.ts'
import { isTerminal, type Job, type JobChannel } from '../../contract/jobs.ts'
import { AppError } from '../../lib/errors.ts'
import { agents } from '../agents/agents-table.ts'
import { addMessage, openConversation, requireConversationOf, touchConversation } from '../conversations/turns.ts'
import type { JobDeps } from './job-deps.ts'
import { jobs } from './jobs-table.ts'
import { getJob } from './read-jobs.ts'
import { titleFor } from './titles.ts'

export type NewJob = {
  agentId: string
  /** Of the agent, by whoever has just read it; else it is looked up, and with it whether the agent is there. */
  entityId?: string | null
  channel: JobChannel
  task: string
  /** Absent: made from the first line of the task. */
  title?: string
  /** An id, or 'new'. A chat message always has one: absent means 'new' there and none elsewhere. */
  conversation?: string | 'new' | null
  triggerId?: string | null
  scheduleId?: string | null
  parentJobId?: string | null
  /** The call of the parent that this job answers. A second job for it is refused by the database. */
  parentCallId?: string | null
  context?: Record<string, unknown> | null
  /**
   * What a webhook brought: the body as it came, the headers that are kept, as a JSON object, and the job of its delivery
   * before this one, by its seq or as one of those that are made in this call. null: there was none.
   */
  delivered?: { payload: Buffer; headers: string | null; before: number | { nth: number } | null }
}

/** A job to be made. Its id may have been made before: one that is there already is refused by the database. */
export type JobToMake = { job: NewJob; id?: string; retryOfJobId?: string }
export type MadeJob = { id: string; seq: number }

/** Throws AppError agent_not_found, conversation_not_found, or job_not_found (the parent), as the others here do. */
export function enqueueJob(tx: Tx, deps: JobDeps, job: NewJob): Job {
  return getJob(tx, insertJobs(tx, deps, [{ job }])[0]!.id)
}

const JOBS = rowInsert(
  'agent_jobs',
  `id, entity_id, agent_id, channel, status, title, conversation_id, trigger_id, schedule_id, parent_job_id, parent_call_id,
   retry_of_job_id, created_at`,
  "?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?",
)
const TEXTS = rowInsert('job_texts', 'job_seq, task, context, headers, payload, before_job_seq', '?, ?, ?, ?, ?, ?')

/** In this order, and without reading back what was written. Many at once cost half as much for each. */
export function insertJobs(tx: Tx, deps: JobDeps, toMake: readonly JobToMake[]): MadeJob[] {
  if (toMake.length === 0) return []
  const at = deps.clock.now()
  const entityOf = createEntities(tx)
  const made = toMake.map(({ job, id = deps.ids.next(), retryOfJobId = null }) => {
    const entityId = job.entityId ?? entityOf(job.agentId)
    if (job.parentJobId) requireJob(tx, job.parentJobId)
    const title = job.title?.trim() || titleFor(job.task)
    const conversationId = conversationFor(tx, deps, job, { entityId, title, at })
    const { triggerId = null, scheduleId = null } = job
    return { id, job, entityId, title, conversationId, triggerId, scheduleId, retryOfJobId }
  })
  const firstSeq = writeRows(
    tx,
    JOBS,
    made.map(({ id, entityId, job, title, conversationId, triggerId, scheduleId, retryOfJobId }) => [
      id,
      entityId,
      job.agentId,
      job.channel,
      title,
      conversationId,
      triggerId,
      scheduleId,
      job.parentJobId ?? null,
      job.parentCallId ?? null,
      retryOfJobId,
      at,
    ]),
  )
  writeRows(
    tx,
    TEXTS,
    made.map(({ job: { task, context, delivered } }, i) => [
      firstSeq + i,
      task,
      context ? JSON.stringify(context) : null,
      delivered?.headers ?? null,
      delivered?.payload ?? null,
      typeof delivered?.before === 'object' ? delivered.before && firstSeq + delivered.before.nth : (delivered?.before ?? null),
    ]),
  )
  for (const { id, job, conversationId } of made) {
    if (conversationId !== null) addMessage(tx, { id: deps.ids.next(), conversationId, jobId: id, role: 'user', text: job.task, at })
  }
  deps.buckets.added(tx, firstSeq, at)
  deps.search.added(tx)
  tx.emitAll(
    made.map(({ id, job: { agentId, channel }, title, conversationId, triggerId, scheduleId }) => ({
      type: 'job.created',
      payload: { jobId: id, agentId, conversationId, channel, title, triggerId, scheduleId },
    })),
  )
  tx.afterCommit(deps.notify.ready)
  return made.map(({ id }, i) => ({ id, seq: firstSeq + i }))
}

/**
 * A new job with the same task, linked to the finished one, in the same conversation if that still exists. It belongs
 * to no due time: the old job was that one's. Throws AppError job_not_found, job_not_finished, or agent_not_found.
 */
export function retryJob(tx: Tx, deps: JobDeps, jobId: string): Job {
  const old = getJob(tx, jobId)
  if (!isTerminal(old.status)) throw new AppError('job_not_finished', 'This job has not ended yet. Stop it first, then retry it.')
  const conversation = old.channel === 'chat' ? (old.conversationId ?? 'new') : old.conversationId
  // Whether the agent is still there is asked again.
  const job: NewJob = { ...old, entityId: null, task: old.plainTask ?? old.task, conversation }
  return getJob(tx, insertJobs(tx, deps, [{ job, retryOfJobId: old.id }])[0]!.id)
}

/** Which entity an agent belongs to, each asked for once. */
function createEntities(tx: Tx): (agentId: string) => string {
  const known = new Map<string, string>()
  return (agentId) => {
    let entityId = known.get(agentId)
    if (entityId === undefined) known.set(agentId, (entityId = requireEntityOf(tx, agentId)))
    return entityId
  }
}

const ENTITY_OF_AGENT = prepareOnce((tx: Tx) =>
  tx
    .select({ entityId: agents.entityId })
    .from(agents)
    .where(and(eq(agents.id, sql.placeholder('id')), isNull(agents.deletedAt))),
)

function requireEntityOf(tx: Tx, agentId: string): string {
  const agent = ENTITY_OF_AGENT(tx).get({ id: agentId })
  if (agent === undefined) throw new AppError('agent_not_found', 'There is no such agent.')
  return agent.entityId
}

function requireJob(tx: Tx, jobId: string): void {
  if (tx.select({ seq: jobs.seq }).from(jobs).where(eq(jobs.id, jobId)).get() === undefined) {
    throw new AppError('job_not_found', 'There is no such parent job.')
  }
}

function conversationFor(tx: Tx, deps: JobDeps, input: NewJob, opening: { entityId: string; title: string; at: number }): string | null {
  const wanted = input.conversation ?? (input.channel === 'chat' ? 'new' : null)
  if (wanted === null) return null
  if (wanted !== 'new') {
    requireConversationOf(tx, wanted, input.agentId)
    touchConversation(tx, wanted, input.agentId, opening.at)
    return wanted
  }
  const id = deps.ids.next()
  openConversation(tx, { id, agentId: input.agentId, ...opening })
  return id
}
