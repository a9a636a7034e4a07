import { createHash } from 'node:crypto'
import { eq, lt } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { ChatTurn, Job } from '../../contract/jobs.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { clientTurns, jobs } from './jobs-table.ts'
import { findSeq } from './read-jobs.ts'

/** How long a repeated request joins the turn that it started. */
const KEPT_MS = 24 * 3_600_000

/** The job that the same request started, or null. Throws AppError client_id_reused if another request used its client id. */
export function findTurn(db: Db, turn: ChatTurn): string | null {
  if (turn.clientId === undefined) return null
  const kept = db
    .select({ id: jobs.id, digest: clientTurns.digest })
    .from(clientTurns)
    .innerJoin(jobs, eq(jobs.seq, clientTurns.jobSeq))
    .where(eq(clientTurns.clientId, turn.clientId))
    .get()
  if (kept === undefined) return null
  if (!digestOf(turn).equals(kept.digest)) throw new AppError('client_id_reused')
  return kept.id
}

/** `age`: the clock by which earlier turns are forgotten. */
export function keepTurn(
  tx: Tx,
  { clock, age }: { clock: Pick<Clock, 'now'>; age: Pick<Clock, 'now'> },
  turn: ChatTurn,
  job: Pick<Job, 'id'>,
): void {
  if (turn.clientId === undefined) return
  tx.delete(clientTurns)
    .where(lt(clientTurns.at, age.now() - KEPT_MS))
    .run()
  tx.insert(clientTurns)
    .values({ clientId: turn.clientId, jobSeq: findSeq(tx, job.id)!, digest: digestOf(turn), at: clock.now() })
    .run()
}

function digestOf({ agentId, message, conversationId }: ChatTurn): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([agentId, message, conversationId ?? null]))
    .digest()
}
