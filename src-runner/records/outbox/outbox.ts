import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import { OUTBOUND_TEXT_CHARS, type OutboundMessage, type OutboundState } from '../../contract/outbox.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import { say } from '../../kit/said.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { GIVE_UP_AFTER_MS } from './writing.ts'

type Row = {
  seq: number
  id: string
  kind: OutboundMessage['kind']
  state: OutboundState
  agent_id: string
  agent_name: string
  channel_id: string | null
  channel_kind: OutboundMessage['channelKind']
  job_id: string | null
  text: string
  tries: number
  problem: string
  created_at: number
  next_try_at: number | null
  sent_at: number | null
}

const SELECT = `SELECT message.seq, message.id, message.kind, message.state, message.agent_id, agent.name AS agent_name, message.channel_id,
  channel.kind AS channel_kind, message.job_id, substr(message.text, 1, ${OUTBOUND_TEXT_CHARS}) AS text, message.tries, message.problem, message.created_at, message.next_try_at,
  message.sent_at
  FROM outbox AS message JOIN agents AS agent ON agent.id = message.agent_id LEFT JOIN channels AS channel ON channel.id = message.channel_id`

const Position = z.tuple([z.number().int().positive()])

export type OutboxFilter = { state?: OutboundState; agentId?: string; jobId?: string; cursor?: string; limit: number }

/** Newest first. Throws AppError invalid_request for a foreign cursor. */
export function listOutbox(db: Db, filter: OutboxFilter): { messages: OutboundMessage[]; nextCursor: string | null } {
  const before = filter.cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(filter.cursor, Position)[0]
  const wanted = Object.entries({ 'message.job_id': filter.jobId, 'message.agent_id': filter.agentId, 'message.state': filter.state })
  const given = wanted.filter((entry): entry is [string, string] => entry[1] !== undefined)
  const conditions = ['message.seq < ?', ...given.map(([column]) => `${column} = ?`)]
  const rows = db
    .prepare<Row>(`${SELECT} WHERE ${conditions.join(' AND ')} ORDER BY message.seq DESC LIMIT ?`)
    .all(before, ...given.map(([, value]) => value), filter.limit + 1)
  const page = pageOf(rows, filter.limit, (last) => [last.seq])
  return { messages: page.rows.map(messageOf), nextCursor: page.nextCursor }
}

export function findOutbound(db: Db, messageId: string): OutboundMessage | null {
  const row = db.prepare<Row>(`${SELECT} WHERE message.id = ?`).get(messageId)
  return row === undefined ? null : messageOf(row)
}

/** Messages that are still to be sent. */
export function countPending(db: Db): number {
  return db.prepare<{ n: number }>("SELECT count(*) AS n FROM outbox WHERE state = 'pending'").get()!.n
}

/**
 * Has a message tried again, at once and with all its tries. Throws AppError outbound_not_found, outbound_already_sent, or
 * invalid_request for one that has no address, or none any more.
 */
export function retryOutbound(tx: Tx, { clock }: { clock: Clock }, messageId: string): OutboundMessage {
  const message = findOutbound(tx, messageId)
  if (message === null) throw new AppError('outbound_not_found', 'There is no such message.')
  if (message.state === 'sent') throw new AppError('outbound_already_sent', 'This message has been sent already.')
  const at = clock.now()
  const { changes } = tx
    .prepare(
      `UPDATE outbox SET state = 'pending', tries = 0, cut_off = 0, problem = '', next_try_at = ?, give_up_at = ?, failed_at = NULL
       WHERE id = ? AND state <> 'nowhere' AND chat_id IS NOT NULL AND channel_id IS NOT NULL`,
    )
    .run(at, at + GIVE_UP_AFTER_MS, messageId)
  if (changes === 0) throw new AppError('invalid_request', `${say('sent_cannot')} ${message.problem || say('sent_channel_removed')}`)
  tx.emit({ type: 'outbound.written', payload: { messageId, agentId: message.agentId } })
  return findOutbound(tx, messageId)!
}

function messageOf(row: Row): OutboundMessage {
  return {
    id: row.id,
    kind: row.kind,
    state: row.state,
    agentId: row.agent_id,
    agentName: row.agent_name,
    channelId: row.channel_id,
    channelKind: row.channel_kind,
    jobId: row.job_id,
    text: row.text,
    tries: row.tries,
    problem: row.problem,
    createdAt: row.created_at,
    nextTryAt: row.next_try_at,
    sentAt: row.sent_at,
  }
}
