import type { Tx } from '../../base/db/transact.ts'
import { AppError } from '../../kit/errors.ts'

/** What a job writes into its conversation. Called by the job store, in the job's own transactions. */

export function openConversation(tx: Tx, conversation: { id: string; entityId: string; agentId: string; title: string; at: number }): void {
  tx.prepare('INSERT INTO conversations (id, entity_id, agent_id, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)').run(
    conversation.id,
    conversation.entityId,
    conversation.agentId,
    conversation.title,
    conversation.at,
    conversation.at,
  )
  tx.emit({ type: 'conversation.created', payload: { conversationId: conversation.id, agentId: conversation.agentId } })
}

/** A conversation belongs to one agent: to every other it does not exist. */
export function requireConversationOf(tx: Tx, conversationId: string, agentId: string): void {
  const row = tx.prepare<{ agent_id: string }>('SELECT agent_id FROM conversations WHERE id = ?').get(conversationId)
  if (row?.agent_id !== agentId) throw new AppError('conversation_not_found', 'There is no such conversation with this agent.')
}

export function addMessage(
  tx: Tx,
  message: { id: string; conversationId: string; jobId: string; role: 'user' | 'assistant'; text: string; at: number },
): void {
  tx.prepare('INSERT INTO messages (id, conversation_id, job_id, role, created_at, text) VALUES (?, ?, ?, ?, ?, ?)').run(
    message.id,
    message.conversationId,
    message.jobId,
    message.role,
    message.at,
    message.text,
  )
}

/** Moves the conversation to the top of the list. */
export function touchConversation(tx: Tx, conversationId: string, agentId: string, at: number): void {
  tx.prepare('UPDATE conversations SET updated_at = ? WHERE id = ?').run(at, conversationId)
  tx.emit({ type: 'conversation.changed', payload: { conversationId, agentId } })
}
