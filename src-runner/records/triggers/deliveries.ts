import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import { DeliveryContext, type Delivery, type DeliveryDetail, type DeliveryOutcome } from '../../contract/triggers.ts'
import { AppError } from '../../kit/errors.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { taskOfDelivery } from '../jobs/job-rows.ts'
import { readDelivered, type DeliveredRow } from './delivered-jobs.ts'
import { noTrigger } from './triggers.ts'

type RefusalRow = {
  seq: number
  after_job_seq: number
  id: string
  outcome: Exclude<DeliveryOutcome, 'accepted'>
  status: number
  times: number
  sender_id: string | null
  event_name: string | null
  job_id: string | null
  bytes: number
  received_at: number
}
type Placed = { delivery: Delivery; place: Place }

/** In the inbox of a trigger: a job's seq, and behind it, the seq of a refusal or 0 for the job itself. */
type Place = [jobSeq: number, refusalSeq: number]
const Place = z.tuple([z.number().int(), z.number().int()])
const END: Place = [Number.MAX_SAFE_INTEGER, 0]
const Headers = z.record(z.string(), z.string())

const REFUSAL_COLUMNS = `refusal.seq, refusal.after_job_seq, refusal.id, refusal.outcome, refusal.status, refusal.times, refusal.sender_id,
  refusal.event_name, (SELECT id FROM agent_jobs WHERE seq = refusal.job_seq) AS job_id, refusal.bytes, refusal.received_at`

/** The inbox of a trigger, newest first. Throws AppError trigger_not_found. */
export function listDeliveries(
  db: Db,
  triggerId: string,
  { cursor, limit }: { cursor?: string; limit: number },
): { deliveries: Delivery[]; nextCursor: string | null } {
  const before = cursor === undefined ? END : decodeCursor(cursor, Place)
  const trigger = db.prepare<{ seq: number }>('SELECT seq FROM webhook_triggers WHERE id = ?').get(triggerId)
  if (trigger === undefined) throw noTrigger()
  const listed = { triggerId, triggerSeq: trigger.seq, before, limit: limit + 1 }
  const rows = [...listTaken(db, listed), ...listRefused(db, listed)].sort((a, b) => compare(b.place, a.place)).slice(0, limit + 1)
  const page = pageOf(rows, limit, (last) => last.place)
  return { deliveries: page.rows.map(({ delivery }) => delivery), nextCursor: page.nextCursor }
}

type Listed = { triggerId: string; triggerSeq: number; before: Place; limit: number }

function listTaken(db: Db, { triggerId, triggerSeq, before }: Listed): Placed[] {
  return readDelivered(db, triggerSeq)
    .map((row): Placed => ({ delivery: deliveryOfTaken(row, triggerId), place: [row.seq, 0] }))
    .filter(({ place }) => compare(place, before) < 0)
}

function listRefused(db: Db, { triggerId, triggerSeq, before, limit }: Listed): Placed[] {
  return db
    .prepare<RefusalRow>(
      `SELECT ${REFUSAL_COLUMNS} FROM webhook_refusals AS refusal
       WHERE refusal.trigger_seq = ? AND (refusal.after_job_seq, refusal.seq) < (?, ?)
       ORDER BY refusal.after_job_seq DESC, refusal.seq DESC LIMIT ?`,
    )
    .all(triggerSeq, ...before, limit)
    .map((row) => ({ delivery: deliveryOfRefused(row, triggerId), place: [row.after_job_seq, row.seq] }))
}

function compare([jobA, refusalA]: Place, [jobB, refusalB]: Place): number {
  return jobA - jobB || refusalA - refusalB
}

export type ReadDetail = { delivery: Delivery } & Omit<DeliveryDetail, keyof Delivery>

/** Throws AppError delivery_not_found. */
export function getDelivery(db: Db, deliveryId: string): ReadDetail {
  const { payload, ...kept } = readKept(db, deliveryId)
  return { ...kept, payload: payload?.toString('utf8') ?? null }
}

/** A delivery as it is sent again. Throws AppError delivery_not_found or delivery_has_no_payload. */
export function getReplayable(
  db: Db,
  deliveryId: string,
): { triggerId: string; payload: Buffer; headers: Record<string, string>; senderId: string | null } {
  const { delivery, payload, headers } = readKept(db, deliveryId)
  if (payload === null) {
    throw new AppError('delivery_has_no_payload', 'The body of this delivery was not kept, so there is nothing to send again.')
  }
  return { triggerId: delivery.triggerId, payload, headers, senderId: delivery.senderId }
}

type Kept = Omit<ReadDetail, 'payload'> & { payload: Buffer | null }

function readKept(db: Db, deliveryId: string): Kept {
  const kept = readTaken(db, deliveryId) ?? readRefused(db, deliveryId)
  if (kept === null) throw new AppError('delivery_not_found', 'There is no such delivery. An inbox keeps the newest ones.')
  return kept
}

function readTaken(db: Db, jobId: string): Kept | null {
  const row = db
    .prepare<DeliveredRow & { trigger_id: string; task: string; payload: Buffer; headers: string | null }>(
      `SELECT job.seq, job.id, job.created_at, job.trigger_id, texts.task, texts.context, texts.payload, texts.headers,
         length(texts.payload) AS bytes
       FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq WHERE job.id = ? AND texts.payload IS NOT NULL`,
    )
    .get(jobId)
  if (row === undefined) return null
  const { trigger_id: triggerId, task, context, payload, headers } = row
  const given = taskOfDelivery(task, context === null ? null : (JSON.parse(context) as Record<string, unknown>))
  const prompts = { prompt: given.task, plainPrompt: given.plainTask }
  return { delivery: deliveryOfTaken(row, triggerId), ...prompts, payload, headers: headersOf(headers) }
}

function readRefused(db: Db, id: string): Kept | null {
  const row = db
    .prepare<RefusalRow & { trigger_id: string; payload: Buffer | null; headers: string | null }>(
      `SELECT ${REFUSAL_COLUMNS}, t.id AS trigger_id, refusal.payload, refusal.headers
       FROM webhook_refusals AS refusal JOIN webhook_triggers AS t ON t.seq = refusal.trigger_seq WHERE refusal.id = ?`,
    )
    .get(id)
  if (row === undefined) return null
  const prompts = { prompt: null, plainPrompt: null }
  return { delivery: deliveryOfRefused(row, row.trigger_id), ...prompts, payload: row.payload, headers: headersOf(row.headers) }
}

function headersOf(json: string | null): Record<string, string> {
  return json === null ? {} : Headers.parse(JSON.parse(json))
}

function deliveryOfTaken(row: DeliveredRow, triggerId: string): Delivery {
  const context = DeliveryContext.safeParse(JSON.parse(row.context ?? 'null')).data
  return {
    ...{ id: row.id, triggerId, kind: context?.kind ?? 'webhook', outcome: 'accepted', status: 202, times: 1 },
    ...{ senderId: context?.senderId ?? null, eventName: context?.eventName ?? null, replayOfId: context?.replayOfId ?? null },
    missing: context?.missing ?? [],
    ...{ jobId: row.id, bytes: row.bytes, receivedAt: row.created_at },
  }
}

function deliveryOfRefused(row: RefusalRow, triggerId: string): Delivery {
  return {
    ...{ id: row.id, triggerId, kind: 'webhook', outcome: row.outcome, status: row.status, times: row.times },
    ...{ senderId: row.sender_id, eventName: row.event_name, jobId: row.job_id, replayOfId: null, bytes: row.bytes },
    missing: [],
    receivedAt: row.received_at,
  }
}
