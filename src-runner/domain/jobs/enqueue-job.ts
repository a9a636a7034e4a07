import { and, eq, isNull, sql } from 'drizzle-orm'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Tx } from '../../platform/db/database.ts'
import { rowInsert, writeRows } from '../../platform/db/write-rows.ts'
import { isTerminal, type Job, type JobChannel } from '../../contract/jobs.ts'
import { AppError, required } from '../../lib/errors.ts'
import { memoize } from '../../lib/memoize.ts'
import { agents } from '../agents/agents-table.ts'
import { addMessage, openConversation, requireConversationOf, touchConversation } from '../conversations/turns.ts'
import type { JobDeps } from './job-deps.ts'
import { jobs, jobTexts } from './jobs-table.ts'
import { findSeq, getJob } from './read-jobs.ts'
import { titleFor } from './titles.ts'

export type NewJob = {
  agentId: string
  /** The agent's, if the caller has just read it. Otherwise it is looked up, which also checks that the agent exists. */
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
  /** The call of the parent that this job answers. The database rejects a second job for it. */
  parentCallId?: string | null
  context?: Record<string, unknown> | null
  /**
   * What a webhook delivered. `before`: the job of the previous delivery, by its seq or by its place among the jobs inserted in
   * this call. null: there was none.
   */
  delivered?: { payload: Buffer; headers: Record<string, string> | null; before: number | { nth: number } | null }
}

/** `id`: made by the caller. The database rejects one that exists. */
export type JobToMake = { job: NewJob; id?: string; retryOfJobId?: string }
export type MadeJob = { id: string; seq: number }

/** Throws AppError agent_not_found, conversation_not_found, or job_not_found (the parent), like the others here. */
export function enqueueJob(tx: Tx, deps: JobDeps, job: NewJob): Job {
  return getJob(tx, insertJobs(tx, deps, [{ job }])[0]!.id)
}

const JOBS = rowInsert(jobs, [
  ...(['id', 'entityId', 'agentId', 'channel', 'status', 'title', 'conversationId', 'triggerId', 'scheduleId'] as const),
  ...(['parentJobId', 'parentCallId', 'retryOfJobId', 'createdAt'] as const),
])
const TEXTS = rowInsert(jobTexts, ['jobSeq', 'task', 'context', 'headers', 'payload', 'beforeJobSeq'])

/** Inserts jobs in this order, without reading them back. In a batch each costs half as much. */
export function insertJobs(tx: Tx, deps: JobDeps, toMake: readonly JobToMake[]): MadeJob[] {
  if (toMake.length === 0) return []
  const at = deps.clock.now()
  const entityOf = memoize((agentId: string) => requireEntityOf(tx, agentId))
  const rows = toMake.map(({ job, id = deps.ids.next(), retryOfJobId = null }) => {
    const { agentId, channel, triggerId = null, scheduleId = null, parentJobId, parentCallId } = job
    const entityId = job.entityId ?? entityOf(agentId)
    if (parentJobId && findSeq(tx, parentJobId) === undefined) throw new AppError('job_not_found')
    const title = job.title?.trim() || titleFor(job.task)
    const conversationId = conversationFor(tx, deps, job, { entityId, title, at })
    const links = { conversationId, triggerId, scheduleId, parentJobId, parentCallId, retryOfJobId }
    return { id, entityId, agentId, channel, status: 'pending' as const, title, ...links, createdAt: at }
  })
  const firstSeq = writeRows(tx, JOBS, rows)
  const texts = toMake.map(({ job: { task, context, delivered } }, i) => {
    const before = delivered?.before ?? null
    const beforeJobSeq = typeof before === 'object' ? before && firstSeq + before.nth : before
    return { jobSeq: firstSeq + i, task, context, headers: delivered?.headers, payload: delivered?.payload, beforeJobSeq }
  })
  writeRows(tx, TEXTS, texts)
  for (const [i, { id, conversationId }] of rows.entries()) {
    const { task } = toMake[i]!.job
    if (conversationId !== null) addMessage(tx, { id: deps.ids.next(), conversationId, jobId: id, role: 'user', text: task, createdAt: at })
  }
  deps.buckets.added(tx, firstSeq, at)
  deps.search.added(tx)
  tx.emitAll(
    rows.map(({ id, agentId, channel, title, conversationId, triggerId, scheduleId }) => ({
      type: 'job.created',
      payload: { jobId: id, agentId, conversationId, channel, title, triggerId, scheduleId },
    })),
  )
  tx.afterCommit(deps.notify.ready)
  return rows.map(({ id }, i) => ({ id, seq: firstSeq + i }))
}

/**
 * Enqueues the task of a finished job again, in the same conversation if that still exists. The new job is linked to the old one,
 * and is not the run of its due time. Throws AppError job_not_found, job_not_finished, or agent_not_found.
 */
export function retryJob(tx: Tx, deps: JobDeps, jobId: string): Job {
  const old = getJob(tx, jobId)
  if (!isTerminal(old.status)) throw new AppError('job_not_finished')
  const conversation = old.channel === 'chat' ? (old.conversationId ?? 'new') : old.conversationId
  // Without an entity, so that a deleted agent is noticed.
  const job: NewJob = { ...old, entityId: null, task: old.plainTask ?? old.task, conversation }
  return getJob(tx, insertJobs(tx, deps, [{ job, retryOfJobId: old.id }])[0]!.id)
}

const isAgent = and(eq(agents.id, sql.placeholder('id')), isNull(agents.deletedAt))
const ENTITY_OF_AGENT = prepareOnce((tx: Tx) => tx.select({ entityId: agents.entityId }).from(agents).where(isAgent))

function requireEntityOf(tx: Tx, agentId: string): string {
  return required(ENTITY_OF_AGENT(tx).get({ id: agentId }), 'agent_not_found').entityId
}

/** Opens a new conversation, or moves the given one to the top. null: the job has none. */
function conversationFor(tx: Tx, deps: JobDeps, job: NewJob, opening: { entityId: string; title: string; at: number }): string | null {
  const conversationId = job.conversation ?? (job.channel === 'chat' ? 'new' : null)
  if (conversationId === null) return null
  if (conversationId === 'new') {
    const id = deps.ids.next()
    openConversation(tx, { id, agentId: job.agentId, ...opening })
    return id
  }
  requireConversationOf(tx, conversationId, job.agentId)
  touchConversation(tx, conversationId, job.agentId, opening.at)
  return conversationId
}
