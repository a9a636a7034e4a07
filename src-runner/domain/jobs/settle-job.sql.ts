import type { Message } from '../../contract/messages.ts'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { JobErrorCode } from '../../contract/errors.ts'
import type { TerminalStatus } from '../../contract/jobs.ts'
import type { Claim } from './claim-job.ts'
import type { jobs } from './jobs-table.ts'
import { saidIn } from './said-text.ts'

export function markPending(tx: Tx, seq: number, workedMs: number): void {
  tx.prepare(
    "UPDATE agent_jobs SET status = 'pending', boot_id = NULL, heartbeat_at = NULL, woken = 0, working_ms = working_ms + ? WHERE seq = ?",
  ).run(workedMs, seq)
}

export function markWaiting(tx: Tx, seq: number, status: 'awaiting_approval' | 'awaiting_child', workedMs: number): void {
  tx.prepare('UPDATE agent_jobs SET status = ?, boot_id = NULL, heartbeat_at = NULL, working_ms = working_ms + ? WHERE seq = ?').run(
    status,
    workedMs,
    seq,
  )
}

type Ended = Pick<typeof jobs.$inferSelect, 'resultPreview' | 'cancelRequestedAt'> & {
  status: TerminalStatus
  at: number
  error: JobErrorCode | null
  message: Message | null
  workedMs: number
  noOp?: boolean
}

export function markEnded(tx: Tx, seq: number, ended: Ended): void {
  tx.prepare(
    `UPDATE agent_jobs SET status = ?, finished_at = ?, error = ?, error_message = ?, result_preview = ?, boot_id = NULL,
       heartbeat_at = NULL, woken = 0, working_ms = working_ms + ?, cancel_requested_at = coalesce(cancel_requested_at, ?), no_op = ? WHERE seq = ?`,
  ).run(
    ended.status,
    ended.at,
    ended.error,
    ended.message === null ? null : JSON.stringify(ended.message),
    ended.resultPreview,
    ended.workedMs,
    ended.cancelRequestedAt,
    Number(ended.noOp === true),
    seq,
  )
}

export function saveResult(tx: Tx, seq: number, result: string): void {
  tx.prepare('UPDATE job_texts SET result = ? WHERE job_seq = ?').run(result, seq)
}

/** Writes nothing if another attempt owns the job. */
export function recordBeat(tx: Tx, claim: Claim, at: number, workedMs: number): void {
  tx.prepare("UPDATE agent_jobs SET heartbeat_at = ?, working_ms = working_ms + ? WHERE seq = ? AND claim = ? AND status = 'running'").run(
    at,
    workedMs,
    claim.seq,
    claim.claim,
  )
}

/** All text of the model in this job. `underWay`: the text of the reply that is not recorded yet. */
export function readReplies(db: Db, seq: number, underWay = ''): string {
  const rows = db
    .prepare<{ text: string; interrupted: 0 | 1 }>(
      "SELECT text, interrupted FROM job_steps WHERE job_seq = ? AND kind = 'reply' ORDER BY seq",
    )
    .all(seq)
  const recorded = rows.map(({ text, interrupted }) => ({ text, interrupted: interrupted === 1 }))
  return saidIn(underWay === '' ? recorded : [...recorded, { text: underWay, interrupted: true }])
}
