import type { Tx } from '../../base/db/transact.ts'
import { INBOX_KEEPS } from '../../contract/triggers.ts'

/**
 * A delivery that was taken is its job. These are the jobs of the trigger with this seq; a retry is a job of the trigger
 * and no delivery.
 */
export const DELIVERED_JOBS = `FROM agent_jobs AS job
  WHERE job.trigger_id = (SELECT id FROM webhook_triggers WHERE seq = ?) AND job.trigger_id IS NOT NULL AND job.retry_of_job_id IS NULL`

/** Inboxes are cut back every few deliveries, and a crash may have one forgotten a few times in a row. */
const LOOKED_AT = 100

/** 0: there was none. */
export function newestDelivered(tx: Tx, triggerSeq: number): number {
  return tx.prepare<{ seq: number }>(`SELECT coalesce(max(job.seq), 0) AS seq ${DELIVERED_JOBS}`).get(triggerSeq)!.seq
}

/** What came with the deliveries that are one too many for the inbox. Their jobs stay. */
export function forgetBodies(tx: Tx, triggerSeq: number): void {
  forget(tx, triggerSeq, { from: INBOX_KEEPS, most: LOOKED_AT })
}

/** With the trigger its inbox goes. */
export function forgetAllBodies(tx: Tx, triggerSeq: number): void {
  forget(tx, triggerSeq, { from: 0, most: INBOX_KEEPS + LOOKED_AT })
}

function forget(tx: Tx, triggerSeq: number, { from, most }: { from: number; most: number }): void {
  tx.prepare(
    `UPDATE job_texts SET payload = NULL, headers = NULL WHERE payload IS NOT NULL AND job_seq IN
       (SELECT job.seq ${DELIVERED_JOBS} ORDER BY job.seq DESC LIMIT ? OFFSET ?)`,
  ).run(triggerSeq, most, from)
}
