import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Conversation, Message } from '../../contract/conversations.ts'
import type { JobStatus } from '../../contract/jobs.ts'
import { AppError } from '../../kit/errors.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import type { JobStore } from '../jobs/job-store.ts'

type ConversationRow = {
  id: string
  entity_id: string
  agent_id: string
  agent_name: string
  title: string
  last_job_status: JobStatus | null
  created_at: number
  updated_at: number
}

const SELECT_CONVERSATION = `
  SELECT conversation.id, conversation.entity_id, conversation.agent_id, agent.name AS agent_name, conversation.title,
    (SELECT job.status FROM agent_jobs AS job WHERE job.conversation_id = conversation.id ORDER BY job.seq DESC LIMIT 1) AS last_job_status,
    conversation.created_at, conversation.updated_at
  FROM conversations AS conversation JOIN agents AS agent ON agent.id = conversation.agent_id`

const Position = z.tuple([z.number().int(), z.string()])
const NEWEST: z.infer<typeof Position> = [Number.MAX_SAFE_INTEGER, '']

export function findConversation(db: Db, conversationId: string): Conversation | null {
  const row = db.prepare<ConversationRow>(`${SELECT_CONVERSATION} WHERE conversation.id = ?`).get(conversationId)
  return row === undefined ? null : conversationOf(row)
}

/** Throws AppError conversation_not_found. */
export function getConversation(db: Db, conversationId: string): Conversation {
  const conversation = findConversation(db, conversationId)
  if (conversation === null) throw new AppError('conversation_not_found', 'There is no such conversation.')
  return conversation
}

/** A search reads so many of the newest messages: it blocks everybody while it does. */
const MESSAGES_SEARCHED = 10_000

/** The last used first; `q` is looked for anywhere in the title and the newest messages, whatever the case of ASCII letters. */
export function listConversations(
  db: Db,
  { agentId, q, cursor, limit }: { agentId?: string; q?: string; cursor?: string; limit: number },
): { conversations: Conversation[]; nextCursor: string | null } {
  const conditions = ['(conversation.updated_at, conversation.id) < (?, ?)']
  const params: (string | number)[] = [...(cursor === undefined ? NEWEST : decodeCursor(cursor, Position))]
  if (agentId !== undefined) {
    conditions.push('conversation.agent_id = ?')
    params.push(agentId)
  }
  if (q !== undefined && q !== '') {
    const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`
    conditions.push(`(conversation.title LIKE ? ESCAPE '\\' OR conversation.id IN (SELECT conversation_id FROM
      (SELECT conversation_id, text FROM messages ORDER BY seq DESC LIMIT ${MESSAGES_SEARCHED}) WHERE text LIKE ? ESCAPE '\\'))`)
    params.push(pattern, pattern)
  }
  const rows = db
    .prepare<ConversationRow>(
      `${SELECT_CONVERSATION} WHERE ${conditions.join(' AND ')} ORDER BY conversation.updated_at DESC, conversation.id DESC LIMIT ?`,
    )
    .all(...params, limit + 1)
  const page = pageOf(rows, limit, (last) => [last.updated_at, last.id])
  return { conversations: page.rows.map(conversationOf), nextCursor: page.nextCursor }
}

/** The newest `limit` messages, oldest first. */
export function listMessages(db: Db, conversationId: string, limit = 200): Message[] {
  return db
    .prepare<{ id: string; conversation_id: string; job_id: string; role: Message['role']; text: string; created_at: number }>(
      'SELECT id, conversation_id, job_id, role, text, created_at FROM messages WHERE conversation_id = ? ORDER BY seq DESC LIMIT ?',
    )
    .all(conversationId, limit)
    .map((row) => ({
      id: row.id,
      conversationId: row.conversation_id,
      jobId: row.job_id,
      role: row.role,
      text: row.text,
      createdAt: row.created_at,
    }))
    .reverse()
}

/**
 * Removes the conversation and its messages. Its unfinished turns are stopped, since nobody could read their answers;
 * its jobs stay, in no conversation. Throws AppError conversation_not_found.
 */
export function deleteConversation(tx: Tx, { jobs }: { jobs: Pick<JobStore, 'cancelAllOf'> }, conversationId: string): void {
  const conversation = getConversation(tx, conversationId)
  jobs.cancelAllOf(tx, { conversationId })
  tx.prepare('DELETE FROM conversations WHERE id = ?').run(conversationId)
  tx.emit({ type: 'conversation.deleted', payload: { conversationId, agentId: conversation.agentId } })
}

function conversationOf(row: ConversationRow): Conversation {
  return {
    id: row.id,
    entityId: row.entity_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    title: row.title,
    lastJobStatus: row.last_job_status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
