import { eq, sql } from 'drizzle-orm'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Tx } from '../../platform/db/database.ts'
import { rowInsert, writeRows, type RowOf } from '../../platform/db/write-rows.ts'
import { AppError } from '../../lib/errors.ts'
import { conversations } from './conversations-table.ts'
import { messages } from './messages-table.ts'

type NewConversation = Omit<typeof conversations.$inferInsert, 'createdAt' | 'updatedAt'> & { at: number }

const CONVERSATIONS = rowInsert(conversations, ['id', 'entityId', 'agentId', 'title', 'createdAt', 'updatedAt'])

export function openConversation(tx: Tx, { at: createdAt, ...conversation }: NewConversation): void {
  writeRows(tx, CONVERSATIONS, [{ ...conversation, createdAt, updatedAt: createdAt }])
  tx.emit({ type: 'conversation.created', payload: { conversationId: conversation.id, agentId: conversation.agentId } })
}

/** Throws AppError conversation_not_found unless the conversation is with this agent. */
export function requireConversationOf(tx: Tx, conversationId: string, agentId: string): void {
  const row = tx.select({ agentId: conversations.agentId }).from(conversations).where(eq(conversations.id, conversationId)).get()
  if (row?.agentId !== agentId) throw new AppError('conversation_not_found')
}

const MESSAGES = rowInsert(messages, ['id', 'conversationId', 'jobId', 'role', 'createdAt', 'text'])

export function addMessage(tx: Tx, message: RowOf<typeof MESSAGES>): void {
  writeRows(tx, MESSAGES, [message])
}

const TOUCH = prepareOnce((tx: Tx) =>
  tx
    .update(conversations)
    .set({ updatedAt: sql`${sql.placeholder('at')}` })
    .where(eq(conversations.id, sql.placeholder('id'))),
)

/** Moves the conversation to the top of the list. */
export function touchConversation(tx: Tx, conversationId: string, agentId: string, at: number): void {
  TOUCH(tx).run({ id: conversationId, at })
  tx.emit({ type: 'conversation.changed', payload: { conversationId, agentId } })
}
