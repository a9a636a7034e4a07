import { createMessage, readMessage } from '../../lib/messages.ts'
import { and, count, desc, eq, getTableColumns, isNotNull, lt, ne, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy } from '../../platform/db/statements.ts'
import { OUTBOUND_TEXT_CHARS, type OutboundMessage, type OutboundState } from '../../contract/outbox.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { agents } from '../agents/agents-table.ts'
import { channels } from '../channels/channels-table.ts'
import { decodeSeqCursor, pageOf } from '../cursors.ts'
import { outbox } from './outbox-table.ts'
import { GIVE_UP_AFTER_MS } from './write-message.ts'

const { id, kind, state, agentId, channelId, jobId, tries, problem, createdAt, nextTryAt, sentAt } = getTableColumns(outbox)

function selectMessages(db: Db) {
  return db
    .select({
      message: {
        id,
        kind,
        state,
        agentId,
        channelId,
        jobId,
        tries,
        problem,
        createdAt,
        nextTryAt,
        sentAt,
        agentName: agents.name,
        channelKind: channels.kind,
        text: sql<string>`substr(${outbox.text}, 1, ${sql.raw(String(OUTBOUND_TEXT_CHARS))})`,
      },
      seq: outbox.seq,
    })
    .from(outbox)
    .innerJoin(agents, eq(agents.id, outbox.agentId))
    .leftJoin(channels, eq(channels.id, outbox.channelId))
}

type Row = NonNullable<ReturnType<ReturnType<typeof selectMessages>['get']>>['message']

function messageOf(row: Row): OutboundMessage {
  return { ...row, problem: readMessage(row.problem) }
}

export type OutboxFilter = {
  state?: OutboundState
  agentId?: string
  entityId?: string | undefined
  jobId?: string
  cursor?: string
  limit: number
}

/** Newest first. Throws AppError invalid_request for a wrong cursor. */
export function listOutbox(db: Db, filter: OutboxFilter): { messages: OutboundMessage[]; nextCursor: string | null } {
  const rows = selectMessages(db)
    .where(
      and(
        lt(outbox.seq, decodeSeqCursor(filter.cursor)),
        filterBy(outbox.jobId, filter.jobId),
        filterBy(outbox.agentId, filter.agentId),
        filterBy(outbox.entityId, filter.entityId),
        filterBy(outbox.state, filter.state),
      ),
    )
    .orderBy(desc(outbox.seq))
    .limit(filter.limit + 1)
    .all()
  const page = pageOf(rows, filter.limit, (last) => [last.seq])
  return { messages: page.rows.map(({ message }) => messageOf(message)), nextCursor: page.nextCursor }
}

export function findOutbound(db: Db, messageId: string): OutboundMessage | null {
  const row = selectMessages(db).where(eq(outbox.id, messageId)).get()
  return row === undefined ? null : messageOf(row.message)
}

export function countPending(db: Db): number {
  return db.select({ n: count() }).from(outbox).where(eq(outbox.state, 'pending')).get()!.n
}

/**
 * Sends a message again at once, with all its tries. Throws AppError outbound_not_found, outbound_already_sent, or invalid_request
 * for one without an address.
 */
export function retryOutbound(tx: Tx, { clock }: { clock: Clock }, messageId: string): OutboundMessage {
  const message = findOutbound(tx, messageId)
  if (message === null) throw new AppError('outbound_not_found')
  if (message.state === 'sent') throw new AppError('outbound_already_sent')
  const at = clock.now()
  const { changes } = tx
    .update(outbox)
    .set({ state: 'pending', tries: 0, cutOff: 0, problem: '', nextTryAt: at, giveUpAt: at + GIVE_UP_AFTER_MS, failedAt: null })
    .where(and(eq(outbox.id, messageId), ne(outbox.state, 'not_sent'), isNotNull(outbox.chatId), isNotNull(outbox.channelId)))
    .run()
  if (changes === 0) {
    const problem = message.problem ?? createMessage('sent_channel_removed')
    throw new AppError('invalid_request', createMessage('sent_cannot', { problem }))
  }
  tx.emit({ type: 'outbound.written', payload: { messageId, agentId: message.agentId } })
  return findOutbound(tx, messageId)!
}
