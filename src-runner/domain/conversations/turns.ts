import { eq, sql } from 'drizzle-orm'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Tx } from '../../platform/db/transact.ts'
import { AppError } from '../../lib/errors.ts'
import { conversations } from './conversations-table.ts'
import { messages } from './messages-table.ts'

export function openConversation(
  tx: Tx,
  { at, ...conversation }: { id: string; entityId: string; agentId: string; title: string; at: number },
): void {
  tx.insert(conversations)
    .values({ ...conversation, createdAt: at, updatedAt: at })
    .run()
  tx.emit({ type: 'conversation.created', payload: { conversationId: conversation.id, agentId: conversation.agentId } })
}

/** Throws AppError conversation_not_found unless the conversation is with this agent. */
export function requireConversationOf(tx: Tx, conversationId: string, agentId: string): void {
  const row = tx.select({ agentId: conversations.agentId }).from(conversations).where(eq(conversations.id, conversationId)).get()
  if (row?.agentId !== agentId) throw new AppError('conversation_not_found')
}

const ADD_MESSAGE = prepareOnce((tx: Tx) =>
  tx.insert(messages).values({
    id: sql.placeholder('id'),
    conversationId: sql.placeholder('conversationId'),
    jobId: sql.placeholder('jobId'),
    role: sql.placeholder('role'),
    createdAt: sql.placeholder('at'),
    text: sql.placeholder('text'),
  }),
)

export function addMessage(
  tx: Tx,
  message: { id: string; conversationId: string; jobId: string; role: 'user' | 'assistant'; text: string; at: number },
): void {
  ADD_MESSAGE(tx).run(message)
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
