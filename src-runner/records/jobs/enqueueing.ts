import type { Tx } from '../../base/db/transact.ts'
import { isTerminal, type Job, type JobChannel } from '../../contract/jobs.ts'
import { AppError } from '../../kit/errors.ts'
import { addMessage, openConversation, requireConversationOf, touchConversation } from '../conversations/turns.ts'
import type { JobDeps } from './job-deps.ts'
import { getJob } from './reading.ts'
import { titleFor } from './titles.ts'

export type NewJob = {
  agentId: string
  channel: JobChannel
  task: string
  /** Absent: made from the first line of the task. */
  title?: string
  /** An id, or 'new'. A chat message always has one: absent means 'new' there and none elsewhere. */
  conversation?: string | 'new' | null
  triggerId?: string | null
  scheduleId?: string | null
  /** One due time makes one job: a second one with the same id is refused by the database. */
  occurrenceId?: string | null
  parentJobId?: string | null
  /** The call of the parent that this job answers. A second job for it is refused by the database. */
  parentCallId?: string | null
  context?: Record<string, unknown> | null
}

/** Throws AppError agent_not_found, conversation_not_found, or job_not_found (the parent). */
export function enqueueJob(tx: Tx, deps: JobDeps, input: NewJob): Job {
  return getJob(tx, insertJob(tx, deps, input).id)
}

/**
 * The same without reading back what was written, which is a third of what it takes to make a job. Its id may have been
 * made before.
 */
export function insertJob(
  tx: Tx,
  deps: JobDeps,
  input: NewJob,
  { id = deps.ids.next(), retryOfJobId = null }: { id?: string; retryOfJobId?: string | null } = {},
): { id: string; seq: number } {
  const agent = requireAgent(tx, input.agentId)
  if (input.parentJobId) requireJob(tx, input.parentJobId)
  const at = deps.clock.now()
  const title = input.title?.trim() || titleFor(input.task)
  const conversationId = conversationFor(tx, deps, input, { entityId: agent.entity_id, title, at })
  const inserted = tx
    .prepare(
      `INSERT INTO agent_jobs (id, entity_id, agent_id, channel, status, title, conversation_id, trigger_id, schedule_id, occurrence_id,
         parent_job_id, parent_call_id, retry_of_job_id, created_at)
       VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      id,
      agent.entity_id,
      input.agentId,
      input.channel,
      title,
      conversationId,
      input.triggerId ?? null,
      input.scheduleId ?? null,
      input.occurrenceId ?? null,
      input.parentJobId ?? null,
      input.parentCallId ?? null,
      retryOfJobId,
      at,
    )
  const seq = Number(inserted.lastInsertRowid)
  const context = input.context ? JSON.stringify(input.context) : null
  tx.prepare('INSERT INTO job_texts (job_seq, task, context) VALUES (?, ?, ?)').run(seq, input.task, context)
  if (conversationId !== null) {
    addMessage(tx, { id: deps.ids.next(), conversationId, jobId: id, role: 'user', text: input.task, at })
  }
  deps.quarters.added(tx, seq, at)
  deps.search.added(tx)
  const { agentId, channel, triggerId = null, scheduleId = null } = input
  tx.emit({ type: 'job.created', payload: { jobId: id, agentId, conversationId, channel, title, triggerId, scheduleId } })
  tx.afterCommit(deps.notify.ready)
  return { id, seq }
}

/**
 * A new job with the same task, linked to the finished one, in the same conversation if that still exists. It belongs
 * to no due time: the old job was that one's. Throws AppError job_not_found, job_not_finished, or agent_not_found.
 */
export function retryJob(tx: Tx, deps: JobDeps, jobId: string): Job {
  const old = getJob(tx, jobId)
  if (!isTerminal(old.status)) throw new AppError('job_not_finished', 'This job has not ended yet. Stop it first, then retry it.')
  const conversation = old.channel === 'chat' ? (old.conversationId ?? 'new') : old.conversationId
  return getJob(tx, insertJob(tx, deps, { ...old, conversation, occurrenceId: null }, { retryOfJobId: old.id }).id)
}

function requireAgent(tx: Tx, agentId: string): { entity_id: string } {
  const agent = tx.prepare<{ entity_id: string }>('SELECT entity_id FROM agents WHERE id = ? AND deleted_at IS NULL').get(agentId)
  if (agent === undefined) throw new AppError('agent_not_found', 'There is no such agent.')
  return agent
}

function requireJob(tx: Tx, jobId: string): void {
  if (tx.prepare('SELECT 1 FROM agent_jobs WHERE id = ?').get(jobId) === undefined) {
    throw new AppError('job_not_found', 'There is no such job to be the parent.')
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
