import { and, desc, eq, lt, sql, type SQL } from 'drizzle-orm'
import { z } from 'zod'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy } from '../../platform/db/statements.ts'
import type { Conversation, Message } from '../../contract/conversations.ts'
import type { JobStatus } from '../../contract/jobs.ts'
import { required } from '../../lib/errors.ts'
import { agents } from '../agents/agents-table.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { conversations } from './conversations-table.ts'
import { messages } from './messages-table.ts'

const selectConversations = (db: Db) =>
  db
    .select({
      id: conversations.id,
      entityId: conversations.entityId,
      agentId: conversations.agentId,
      agentName: agents.name,
      title: conversations.title,
      lastJobStatus: sql<JobStatus | null>`(SELECT status FROM agent_jobs WHERE conversation_id = conversations.id ORDER BY seq DESC LIMIT 1)`,
      createdAt: conversations.createdAt,
      updatedAt: conversations.updatedAt,
    })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId))

const Position = z.tuple([z.number().int(), z.string()])
const NEWEST: z.infer<typeof Position> = [Number.MAX_SAFE_INTEGER, '']

export function findConversation(db: Db, conversationId: string): Conversation | null {
  return selectConversations(db).where(eq(conversations.id, conversationId)).get() ?? null
}

/** Throws AppError conversation_not_found. */
export function getConversation(db: Db, conversationId: string): Conversation {
  return required(findConversation(db, conversationId), 'conversation_not_found')
}

/** A search reads only this many messages, because it blocks everything else meanwhile. */
const MESSAGES_SEARCHED = 10_000

/** Last used first. `q` is searched in titles and the newest messages. The case of ASCII letters is ignored. */
export function listConversations(
  db: Db,
  { agentId, entityId, q, cursor, limit }: { agentId?: string; entityId?: string | undefined; q?: string; cursor?: string; limit: number },
): { conversations: Conversation[]; nextCursor: string | null } {
  const [updatedAt, id] = cursor === undefined ? NEWEST : decodeCursor(cursor, Position)
  const rows = selectConversations(db)
    .where(
      and(
        sql`(conversations.updated_at, conversations.id) < (${updatedAt}, ${id})`,
        filterBy(conversations.agentId, agentId),
        filterBy(conversations.entityId, entityId),
        q ? isMatch(q) : undefined,
      ),
    )
    .orderBy(desc(conversations.updatedAt), desc(conversations.id))
    .limit(limit + 1)
    .all()
  const page = pageOf(rows, limit, (last) => [last.updatedAt, last.id])
  return { conversations: page.rows, nextCursor: page.nextCursor }
}

function isMatch(q: string): SQL {
  const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`
  return sql`(conversations.title LIKE ${pattern} ESCAPE '\\' OR conversations.id IN (SELECT conversation_id FROM
    (SELECT conversation_id, text FROM messages ORDER BY seq DESC LIMIT ${sql.raw(String(MESSAGES_SEARCHED))})
    WHERE text LIKE ${pattern} ESCAPE '\\'))`
}

/** The newest `limit` messages, oldest first. */
export function listMessages(db: Db, conversationId: string, limit = 200): Message[] {
  return listMessagePage(db, conversationId, { limit }).messages
}

/**
 * The newest `limit` messages, or the newest of those before a page, oldest first. `nextCursor`: where the messages before this
 * page end. Throws AppError invalid_request for a cursor of another conversation.
 */
export function listMessagePage(
  db: Db,
  conversationId: string,
  { before, limit }: { before?: string | undefined; limit: number },
): { messages: Message[]; nextCursor: string | null } {
  const ofConversation = z.tuple([z.literal(conversationId), z.number().int().positive()])
  const below = before === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(before, ofConversation, 'before')[1]
  const rows = db
    .select()
    .from(messages)
    .where(and(eq(messages.conversationId, conversationId), lt(messages.seq, below)))
    .orderBy(desc(messages.seq))
    .limit(limit + 1)
    .all()
  const page = pageOf(rows, limit, (last) => [conversationId, last.seq])
  return { messages: page.rows.map(({ seq: _seq, ...message }) => message).reverse(), nextCursor: page.nextCursor }
}

/** The job store comes after conversations in the order of nouns, so only this part of it is named here. */
type TurnStopper = { cancelAllOf(tx: Tx, owner: { conversationId: string }): void }

/**
 * Deletes the conversation with its messages and stops its unfinished turns. Its jobs stay, without a conversation: `keepTaintsOfTurns`
 * comes first. Throws AppError conversation_not_found.
 */
export function deleteConversation(tx: Tx, { jobs }: { jobs: TurnStopper }, conversationId: string): void {
  const conversation = getConversation(tx, conversationId)
  jobs.cancelAllOf(tx, { conversationId })
  tx.delete(conversations).where(eq(conversations.id, conversationId)).run()
  tx.emit({ type: 'conversation.deleted', payload: { conversationId, agentId: conversation.agentId } })
}
