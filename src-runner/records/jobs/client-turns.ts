import { createHash } from 'node:crypto'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { ChatTurn, Job } from '../../contract/jobs.ts'
import { AppError } from '../../kit/errors.ts'

/** For so long a request that comes again with its client's id joins the turn that it began. */
const KEPT_MS = 24 * 3_600_000

/** The job of the turn that the same request began; null: none did. Throws AppError client_id_reused for another request. */
export function findTurn(db: Db, turn: ChatTurn): string | null {
  if (turn.clientId === undefined) return null
  const kept = db
    .prepare<{ id: string; digest: Buffer }>(
      `SELECT job.id, turn.digest FROM client_turns AS turn JOIN agent_jobs AS job ON job.seq = turn.job_seq WHERE turn.client_id = ?`,
    )
    .get(turn.clientId)
  if (kept === undefined) return null
  if (!digestOf(turn).equals(kept.digest))
    throw new AppError('client_id_reused', 'Another message was sent with this “clientId”. Use a new one.')
  return kept.id
}

export function keepTurn(tx: Tx, turn: ChatTurn, job: Pick<Job, 'id'>, now: number): void {
  if (turn.clientId === undefined) return
  tx.prepare('DELETE FROM client_turns WHERE at < ?').run(now - KEPT_MS)
  tx.prepare('INSERT INTO client_turns (client_id, job_seq, digest, at) SELECT ?, seq, ?, ? FROM agent_jobs WHERE id = ?').run(
    turn.clientId,
    digestOf(turn),
    now,
    job.id,
  )
}

function digestOf({ agentId, message, conversationId }: ChatTurn): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([agentId, message, conversationId ?? null]))
    .digest()
}
