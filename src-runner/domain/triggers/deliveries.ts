import { and, desc, eq, getTableColumns, isNotNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { DeliveryContext, type Delivery, type DeliveryDetail } from '../../contract/triggers.ts'
import { AppError, required } from '../../lib/errors.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { taskOfDelivery } from '../jobs/job-rows.ts'
import { jobs, jobTexts } from '../jobs/jobs-table.ts'
import { refusals, triggers } from './triggers-table.ts'
import { listDeliveredJobs, type DeliveredJobRow } from './triggers.sql.ts'

type Placed = { delivery: Delivery; place: Place }

/** A position in a trigger's inbox: the seq of a job, and the seq of a refusal after it, or 0 for the job itself. */
type Place = [jobSeq: number, refusalSeq: number]
const Place = z.tuple([z.number().int(), z.number().int()])
const END: Place = [Number.MAX_SAFE_INTEGER, 0]

/** `payload` may be large, and lists do not show it. */
const { payload: refusedPayload, ...refusalColumns } = getTableColumns(refusals)

function selectRefusals(db: Db) {
  return db
    .select({ refusal: refusalColumns, triggerId: triggers.id, jobId: jobs.id })
    .from(refusals)
    .innerJoin(triggers, eq(triggers.seq, refusals.triggerSeq))
    .leftJoin(jobs, eq(jobs.seq, refusals.jobSeq))
}

type RefusalRow = NonNullable<ReturnType<ReturnType<typeof selectRefusals>['get']>>

/** The inbox of a trigger, newest first. Throws AppError trigger_not_found. */
export function listDeliveries(
  db: Db,
  triggerId: string,
  { cursor, limit }: { cursor?: string; limit: number },
): { deliveries: Delivery[]; nextCursor: string | null } {
  const before = cursor === undefined ? END : decodeCursor(cursor, Place)
  const trigger = db.select({ seq: triggers.seq }).from(triggers).where(eq(triggers.id, triggerId)).get()
  if (trigger === undefined) throw new AppError('trigger_not_found')
  const listed = { triggerId, triggerSeq: trigger.seq, before, limit: limit + 1 }
  const rows = [...listAccepted(db, listed), ...listRefused(db, listed)].sort((a, b) => comparePlaces(b.place, a.place)).slice(0, limit + 1)
  const page = pageOf(rows, limit, (last) => last.place)
  return { deliveries: page.rows.map(({ delivery }) => delivery), nextCursor: page.nextCursor }
}

type Listed = { triggerId: string; triggerSeq: number; before: Place; limit: number }

function listAccepted(db: Db, { triggerId, triggerSeq, before }: Listed): Placed[] {
  return listDeliveredJobs(db, triggerSeq)
    .map((row): Placed => ({
      delivery: deliveryOfJob({ ...row, context: JSON.parse(row.context ?? 'null') }, triggerId),
      place: [row.seq, 0],
    }))
    .filter(({ place }) => comparePlaces(place, before) < 0)
}

function listRefused(db: Db, { triggerSeq, before, limit }: Listed): Placed[] {
  const { afterJobSeq, seq } = refusals
  return selectRefusals(db)
    .where(and(eq(refusals.triggerSeq, triggerSeq), sql`(${afterJobSeq}, ${seq}) < (${before[0]}, ${before[1]})`))
    .orderBy(desc(afterJobSeq), desc(seq))
    .limit(limit)
    .all()
    .map((row) => ({ delivery: deliveryOfRefusal(row), place: [row.refusal.afterJobSeq, row.refusal.seq] }))
}

function comparePlaces([jobA, refusalA]: Place, [jobB, refusalB]: Place): number {
  return jobA - jobB || refusalA - refusalB
}

export type ReadDetail = { delivery: Delivery } & Omit<DeliveryDetail, keyof Delivery>

/** Throws AppError delivery_not_found. */
export function getDelivery(db: Db, deliveryId: string): ReadDetail {
  const { payload, ...kept } = readStored(db, deliveryId)
  return { ...kept, payload: payload?.toString('utf8') ?? null }
}

/** What a replay sends. Throws AppError delivery_not_found or delivery_has_no_payload. */
export function getReplayable(
  db: Db,
  deliveryId: string,
): { triggerId: string; payload: Buffer; headers: Record<string, string>; senderId: string | null } {
  const { delivery, payload, headers } = readStored(db, deliveryId)
  if (payload === null) {
    throw new AppError('delivery_has_no_payload')
  }
  return { triggerId: delivery.triggerId, payload, headers, senderId: delivery.senderId }
}

type StoredDelivery = Omit<ReadDetail, 'payload'> & { payload: Buffer | null }

function readStored(db: Db, deliveryId: string): StoredDelivery {
  return required(readAccepted(db, deliveryId) ?? readRefused(db, deliveryId), 'delivery_not_found')
}

function readAccepted(db: Db, jobId: string): StoredDelivery | null {
  const { id, createdAt, triggerId } = jobs
  const { task, context, payload, headers } = jobTexts
  const row = db
    .select({ id, createdAt, triggerId, task, context, payload, headers })
    .from(jobs)
    .innerJoin(jobTexts, eq(jobTexts.jobSeq, jobs.seq))
    .where(and(eq(id, jobId), isNotNull(payload)))
    .get()
  if (row === undefined) return null
  const { task: prompt, plainTask: plainPrompt } = taskOfDelivery(row.task, row.context)
  const delivery = deliveryOfJob({ ...row, bytes: row.payload!.length }, row.triggerId!)
  return { delivery, prompt, plainPrompt, payload: row.payload, headers: row.headers ?? {} }
}

function readRefused(db: Db, id: string): StoredDelivery | null {
  const row = selectRefusals(db).where(eq(refusals.id, id)).get()
  if (row === undefined) return null
  const { payload } = db.select({ payload: refusedPayload }).from(refusals).where(eq(refusals.id, id)).get()!
  return { delivery: deliveryOfRefusal(row), prompt: null, plainPrompt: null, payload, headers: row.refusal.headers ?? {} }
}

type DeliveredJob = Pick<DeliveredJobRow, 'id' | 'createdAt' | 'bytes'> & { context: unknown }

function deliveryOfJob(row: DeliveredJob, triggerId: string): Delivery {
  const context = DeliveryContext.safeParse(row.context).data
  return {
    id: row.id,
    triggerId,
    kind: context?.kind ?? 'webhook',
    outcome: 'accepted',
    status: 202,
    times: 1,
    senderId: context?.senderId ?? null,
    eventName: context?.eventName ?? null,
    replayOfId: context?.replayOfId ?? null,
    missing: context?.missing ?? [],
    jobId: row.id,
    bytes: row.bytes,
    receivedAt: row.createdAt,
  }
}

function deliveryOfRefusal({ refusal, triggerId, jobId }: RefusalRow): Delivery {
  const { id, outcome, status, times, senderId, eventName, bytes, receivedAt } = refusal
  const about = { id, triggerId, outcome, status, times, senderId, eventName, jobId, bytes, receivedAt }
  return { ...about, kind: 'webhook', replayOfId: null, missing: [] }
}
