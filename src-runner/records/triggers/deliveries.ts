import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Delivery, DeliveryDetail, DeliveryOutcome } from '../../contract/triggers.ts'
import { AppError } from '../../kit/errors.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { noTrigger } from './triggers.ts'

type DeliveryRow = {
  seq: number
  id: string | null
  trigger_id: string
  kind: Delivery['kind']
  outcome: DeliveryOutcome
  status: number
  times: number
  sender_id: string | null
  event_name: string | null
  job_id: string | null
  replay_of_id: string | null
  bytes: number
  received_at: number
}

type DetailRow = DeliveryRow & { headers: string | null; payload: Buffer | null; task: string | null }

const COLUMNS = `d.seq, d.id, t.id AS trigger_id, d.kind, d.outcome, d.status, d.times, d.sender_id, d.event_name, job.id AS job_id, d.replay_of_id,
  d.bytes, d.received_at`

const Position = z.tuple([z.number().int()])
const Headers = z.record(z.string(), z.string())

/** The inbox of a trigger, newest first. Throws AppError trigger_not_found. */
export function listDeliveries(
  db: Db,
  triggerId: string,
  { cursor, limit }: { cursor?: string; limit: number },
): { deliveries: Delivery[]; nextCursor: string | null } {
  const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : decodeCursor(cursor, Position)
  const trigger = db.prepare<{ seq: number }>('SELECT seq FROM webhook_triggers WHERE id = ?').get(triggerId)
  if (trigger === undefined) throw noTrigger()
  const rows = db
    .prepare<DeliveryRow>(
      `SELECT ${COLUMNS} FROM webhook_deliveries AS d JOIN webhook_triggers AS t ON t.seq = d.trigger_seq
       LEFT JOIN agent_jobs AS job ON job.seq = d.job_seq WHERE d.trigger_seq = ? AND d.seq < ? ORDER BY d.seq DESC LIMIT ?`,
    )
    .all(trigger.seq, before, limit + 1)
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { deliveries: page.rows.map(deliveryOf), nextCursor: page.nextCursor }
}

export type ReadDetail = { delivery: Delivery } & Omit<DeliveryDetail, keyof Delivery>

/** Throws AppError delivery_not_found. */
export function getDelivery(db: Db, deliveryId: string): ReadDetail {
  const row = readDetail(db, deliveryId)
  return {
    delivery: deliveryOf(row),
    payload: row.payload?.toString('utf8') ?? null,
    prompt: row.task,
    headers: headersOf(row.headers),
  }
}

/** A delivery as it is sent again. Throws AppError delivery_not_found or delivery_has_no_payload. */
export function getReplayable(
  db: Db,
  deliveryId: string,
): { triggerId: string; payload: Buffer; headers: Record<string, string>; senderId: string | null } {
  const row = readDetail(db, deliveryId)
  if (row.payload === null) {
    throw new AppError('delivery_has_no_payload', 'The body of this delivery was not kept, so there is nothing to send again.')
  }
  return { triggerId: row.trigger_id, payload: row.payload, headers: headersOf(row.headers), senderId: row.sender_id }
}

/** What was taken has the id of its job, and is found in the inbox of the trigger that the job names: that is short. */
const DETAIL_OF_TAKEN = `SELECT ${COLUMNS}, d.headers, d.payload, texts.task
  FROM agent_jobs AS job JOIN webhook_triggers AS t ON t.id = job.trigger_id
  JOIN webhook_deliveries AS d ON d.trigger_seq = t.seq AND d.job_seq = job.seq AND d.outcome = 'accepted'
  JOIN job_texts AS texts ON texts.job_seq = job.seq WHERE job.id = ?`
const DETAIL_OF_REFUSED = `SELECT ${COLUMNS}, d.headers, d.payload, NULL AS task
  FROM webhook_deliveries AS d JOIN webhook_triggers AS t ON t.seq = d.trigger_seq LEFT JOIN agent_jobs AS job ON job.seq = d.job_seq
  WHERE d.id = ?`

function readDetail(db: Db, deliveryId: string): DetailRow {
  const row = db.prepare<DetailRow>(DETAIL_OF_TAKEN).get(deliveryId) ?? db.prepare<DetailRow>(DETAIL_OF_REFUSED).get(deliveryId)
  if (row === undefined) throw new AppError('delivery_not_found', 'There is no such delivery. An inbox keeps the newest ones.')
  return row
}

function headersOf(json: string | null): Record<string, string> {
  return json === null ? {} : Headers.parse(JSON.parse(json))
}

function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id ?? row.job_id!,
    triggerId: row.trigger_id,
    kind: row.kind,
    outcome: row.outcome,
    status: row.status,
    times: row.times,
    senderId: row.sender_id,
    eventName: row.event_name,
    jobId: row.job_id,
    replayOfId: row.replay_of_id,
    bytes: row.bytes,
    receivedAt: row.received_at,
  }
}
