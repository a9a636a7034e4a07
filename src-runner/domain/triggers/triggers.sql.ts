import type { Db, Tx } from '../../platform/db/database.ts'
import { INBOX_KEEPS } from '../../contract/triggers.ts'
import type { jobs } from '../jobs/jobs-table.ts'
import type { triggers } from './triggers-table.ts'

/** Statements that every delivery runs, and the chain of an inbox, whose plans are asserted by `query-plans.test.ts`. */

export type TriggerRow = typeof triggers.$inferSelect

/** `entityId`: of the agent, unless it was deleted. */
export type TriggerState = Pick<TriggerRow, 'agentId' | 'status' | 'secretDigest' | 'triggerCount' | 'fires' | 'newestJobSeq'> & {
  entityId: string | null
}

const STATE = `
  SELECT agent_id AS agentId, (SELECT entity_id FROM agents WHERE id = agent_id AND deleted_at IS NULL) AS entityId, status,
    secret_digest AS secretDigest, trigger_count AS triggerCount, fires, newest_job_seq AS newestJobSeq
  FROM webhook_triggers WHERE seq = ?`

export function readState(tx: Tx, triggerSeq: number): TriggerState | undefined {
  return tx.prepare<TriggerState>(STATE).get(triggerSeq)
}

const LIMIT = 'SELECT trigger_count AS triggerCount, fires FROM webhook_triggers WHERE seq = ?'

export function findLimit(db: Db, triggerSeq: number): Pick<TriggerRow, 'triggerCount' | 'fires'> | undefined {
  return db.prepare<Pick<TriggerRow, 'triggerCount' | 'fires'>>(LIMIT).get(triggerSeq)
}

const SAVE_ACCEPTED = `UPDATE webhook_triggers
  SET trigger_count = @triggerCount, last_triggered_at = @lastTriggeredAt, newest_job_seq = @newestJobSeq, fires = @fires,
    fires_boot = @firesBoot, fires_gap = @firesGap
  WHERE seq = @seq`

/** Saves a trigger after its last accepted delivery. */
export function saveAcceptedRow(
  tx: Tx,
  row: Pick<TriggerRow, 'seq' | 'triggerCount' | 'lastTriggeredAt' | 'newestJobSeq' | 'fires' | 'firesBoot' | 'firesGap'>,
): void {
  tx.prepare(SAVE_ACCEPTED).run(row)
}

const CLAIM_SENDER_ID =
  'INSERT INTO webhook_sender_ids (trigger_seq, sender_id, job_id, at) VALUES (@triggerSeq, @senderId, @jobId, @at) ON CONFLICT DO NOTHING'

/** Returns false if the trigger already had a delivery with this id. The index decides, so two at once cannot both be accepted. */
export function claimSenderId(tx: Tx, id: { triggerSeq: number; senderId: string; jobId: string; at: number }): boolean {
  return tx.prepare(CLAIM_SENDER_ID).run(id).changes === 1
}

const JOB_OF_SENDER = 'SELECT job_id AS jobId FROM webhook_sender_ids WHERE trigger_seq = ? AND sender_id = ?'

export function findJobOfSender(db: Db, triggerSeq: number, senderId: string): string | null {
  return db.prepare<{ jobId: string }>(JOB_OF_SENDER).get(triggerSeq, senderId)?.jobId ?? null
}

/** Senders retry for days: at GitHub a person can send a delivery again for three days, at Stripe for thirty. */
const SENDER_IDS_KEPT_MS = 30 * 24 * 3_600_000
const PRUNE_SENDER_IDS = `DELETE FROM webhook_sender_ids WHERE (trigger_seq, sender_id) IN
  (SELECT trigger_seq, sender_id FROM webhook_sender_ids WHERE at < ? ORDER BY at LIMIT ?)`

/** Deletes one batch. */
export function pruneSenderIds(tx: Tx, now: number, limit = 5000): number {
  return tx.prepare(PRUNE_SENDER_IDS).run(now - SENDER_IDS_KEPT_MS, limit).changes
}

function pruneRefusalsWhere(condition: string): string {
  return `DELETE FROM webhook_refusals WHERE seq IN
    (SELECT seq FROM webhook_refusals WHERE trigger_seq = ? AND ${condition} ORDER BY after_job_seq DESC, seq DESC LIMIT -1 OFFSET ?)`
}
const PRUNE_WITH_PAYLOAD = pruneRefusalsWhere('payload IS NOT NULL')
const PRUNE_WITHOUT_PAYLOAD = pruneRefusalsWhere('payload IS NULL')

/** Keeps that many rows of each kind. */
export function pruneRefusals(tx: Tx, triggerSeq: number, keep: { withPayload: number; withoutPayload: number }): void {
  tx.prepare(PRUNE_WITH_PAYLOAD).run(triggerSeq, keep.withPayload)
  tx.prepare(PRUNE_WITHOUT_PAYLOAD).run(triggerSeq, keep.withoutPayload)
}

/**
 * An accepted delivery is its job. The trigger names its newest job, and each job names the one before it. The inbox is read along
 * this chain, newest first, while `condition` holds.
 */
function chainWhile(condition: string): string {
  return `
    WITH RECURSIVE chain (job_seq, nth) AS (
      SELECT newest_job_seq, 1 FROM webhook_triggers WHERE seq = ? AND newest_job_seq IS NOT NULL
      UNION ALL
      SELECT texts.before_job_seq, nth + 1 FROM chain JOIN job_texts AS texts ON texts.job_seq = chain.job_seq
      WHERE texts.before_job_seq IS NOT NULL AND (${condition})
    )`
}

const INBOX = `${chainWhile(`nth < ${INBOX_KEEPS}`)}
  SELECT job.seq, job.id, job.created_at AS createdAt, texts.context, length(texts.payload) AS bytes
  FROM chain CROSS JOIN agent_jobs AS job ON job.seq = chain.job_seq JOIN job_texts AS texts ON texts.job_seq = chain.job_seq
  WHERE texts.payload IS NOT NULL`
/** A crash may skip the trimming of an inbox. After a job without a body, no further job has one. */
const CHAIN = `${chainWhile(`nth <= ${INBOX_KEEPS} OR texts.payload IS NOT NULL`)} SELECT job_seq AS jobSeq FROM chain`

/** `context`: JSON text. `bytes`: of the payload. */
export type DeliveredJobRow = Pick<typeof jobs.$inferSelect, 'seq' | 'id' | 'createdAt'> & { context: string | null; bytes: number }

/** The deliveries in the trigger's inbox, in no order. */
export function listDeliveredJobs(db: Db, triggerSeq: number): DeliveredJobRow[] {
  return db.prepare<DeliveredJobRow>(INBOX).all(triggerSeq)
}

/** Deletes payload and headers of the deliveries that the inbox no longer keeps. Their jobs stay. */
export function trimBodies(tx: Tx, triggerSeq: number): void {
  deletePayloads(tx, listChain(tx, triggerSeq).slice(INBOX_KEEPS))
}

export function deleteBodies(tx: Tx, triggerSeq: number): void {
  deletePayloads(tx, listChain(tx, triggerSeq))
}

const DELETE_OLD_PAYLOAD = `UPDATE job_texts SET payload = NULL, headers = NULL WHERE job_seq = ? AND payload IS NOT NULL
  AND (SELECT finished_at < ? FROM agent_jobs WHERE seq = job_seq)`

/** Deletes payload and headers of deliveries whose jobs ended before that moment. Returns of how many. */
export function deleteBodiesBefore(tx: Tx, triggerSeq: number, before: number): number {
  const update = tx.prepare(DELETE_OLD_PAYLOAD)
  return listChain(tx, triggerSeq).reduce((deleted, jobSeq) => deleted + update.run(jobSeq, before).changes, 0)
}

/** The newest first: a later job has a larger seq. */
function listChain(tx: Tx, triggerSeq: number): number[] {
  return tx
    .prepare<{ jobSeq: number }>(CHAIN)
    .all(triggerSeq)
    .map(({ jobSeq }) => jobSeq)
    .sort((a, b) => b - a)
}

const DELETE_PAYLOAD = 'UPDATE job_texts SET payload = NULL, headers = NULL WHERE job_seq = ? AND payload IS NOT NULL'

function deletePayloads(tx: Tx, jobSeqs: readonly number[]): void {
  const update = tx.prepare(DELETE_PAYLOAD)
  for (const jobSeq of jobSeqs) update.run(jobSeq)
}
