import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import { INBOX_KEEPS } from '../../contract/triggers.ts'

/**
 * A delivery that was taken is its job. The webhook names the newest, and each names the one before it: the jobs of an inbox
 * are walked along that chain, from the newest on, for as long as it `goesOn`.
 */
function chainWhile(goesOn: string): string {
  return `
    WITH RECURSIVE chain (job_seq, nth) AS (
      SELECT newest_job_seq, 1 FROM webhook_triggers WHERE seq = ? AND newest_job_seq IS NOT NULL
      UNION ALL
      SELECT texts.before_job_seq, nth + 1 FROM chain JOIN job_texts AS texts ON texts.job_seq = chain.job_seq
      WHERE texts.before_job_seq IS NOT NULL AND (${goesOn})
    )`
}

const SELECT_INBOX = `${chainWhile(`nth < ${INBOX_KEEPS}`)}
  SELECT job.seq, job.id, job.created_at, texts.context, length(texts.payload) AS bytes
  FROM chain CROSS JOIN agent_jobs AS job ON job.seq = chain.job_seq JOIN job_texts AS texts ON texts.job_seq = chain.job_seq`
/** Inboxes are cut back every few deliveries, and a crash may have that forgotten. Behind one whose body is gone, all are. */
const SELECT_WALK = `${chainWhile(`nth <= ${INBOX_KEEPS} OR texts.payload IS NOT NULL`)} SELECT job_seq FROM chain`

export type DeliveredRow = { seq: number; id: string; created_at: number; context: string | null; bytes: number }

/** The deliveries in the inbox of the trigger with this seq, in no order. */
export function readDelivered(db: Db, triggerSeq: number): DeliveredRow[] {
  return db.prepare<DeliveredRow>(SELECT_INBOX).all(triggerSeq)
}

/** The job of the newest; null: there was none. */
export function newestDelivered(db: Db, triggerSeq: number): number | null {
  return (
    db.prepare<{ newest: number | null }>('SELECT newest_job_seq AS newest FROM webhook_triggers WHERE seq = ?').get(triggerSeq)?.newest ??
    null
  )
}

/** From now on this is the newest. */
export function setNewestDelivered(tx: Tx, triggerSeq: number, jobSeq: number): void {
  tx.prepare('UPDATE webhook_triggers SET newest_job_seq = ? WHERE seq = ?').run(jobSeq, triggerSeq)
}

/** What came with the deliveries that are one too many for the inbox. Their jobs stay. */
export function forgetBodies(tx: Tx, triggerSeq: number): void {
  forget(tx, walk(tx, triggerSeq).slice(INBOX_KEEPS))
}

/** With the trigger its inbox goes. */
export function forgetAllBodies(tx: Tx, triggerSeq: number): void {
  forget(tx, walk(tx, triggerSeq))
}

/** Newest first: a job that was made later has the larger seq. */
function walk(tx: Tx, triggerSeq: number): number[] {
  return tx
    .prepare<{ job_seq: number }>(SELECT_WALK)
    .all(triggerSeq)
    .map((row) => row.job_seq)
    .sort((a, b) => b - a)
}

function forget(tx: Tx, jobSeqs: readonly number[]): void {
  const update = tx.prepare('UPDATE job_texts SET payload = NULL, headers = NULL WHERE job_seq = ? AND payload IS NOT NULL')
  for (const jobSeq of jobSeqs) update.run(jobSeq)
}
