import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'

/** Nobody postpones a job for longer. */
export const LONGEST_POSTPONED_MS = 600_000

/** How often a job was postponed since it last got on. */
export function timesPostponed(db: Db, jobId: string): number {
  const row = db
    .prepare<{ times: number }>(
      'SELECT later.times FROM agent_jobs AS job JOIN postponed_jobs AS later ON later.job_seq = job.seq WHERE job.id = ?',
    )
    .get(jobId)
  return row?.times ?? 0
}

export function postponeUntil(tx: Tx, jobSeq: number, until: number): void {
  tx.prepare(
    'INSERT INTO postponed_jobs (job_seq, until, times) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET until = excluded.until, times = times + 1',
  ).run(jobSeq, until)
}

/** It got on, or ended. */
export function forgetPostponed(tx: Tx, jobSeq: number): void {
  tx.prepare('DELETE FROM postponed_jobs WHERE job_seq = ?').run(jobSeq)
}
