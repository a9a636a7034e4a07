import type { Db, Tx } from '../../platform/db/database.ts'
import type { jobs } from './jobs-table.ts'

/**
 * In a conversation and in a schedule, nothing runs while an earlier job is unfinished. A job that ran when the process
 * died is a suspect until it makes progress. Suspects run one at a time, so that a job that kills the process is found without
 * taking others down again. A postponed job waits for its time, unless a wrong clock set a time too far ahead.
 */
const MAY_RUN = `
  job.status = 'pending'
  AND NOT EXISTS (SELECT 1 FROM postponed_jobs AS later WHERE later.job_seq = job.seq AND later.until > ? AND later.until <= ?)
  AND (job.crashes = 0 OR NOT EXISTS (SELECT 1 FROM agent_jobs AS other WHERE other.status = 'running' AND other.crashes > 0))
  AND (job.conversation_id IS NULL OR NOT EXISTS (
    SELECT 1 FROM agent_jobs AS earlier WHERE earlier.conversation_id = job.conversation_id AND earlier.seq < job.seq
    AND earlier.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')))
  AND (job.schedule_id IS NULL OR NOT EXISTS (
    SELECT 1 FROM agent_jobs AS earlier WHERE earlier.schedule_id = job.schedule_id AND earlier.seq < job.seq
    AND earlier.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')))`

export const FIRST_OF_AGENT = `SELECT job.seq FROM agent_jobs AS job WHERE job.agent_id = ? AND ${MAY_RUN} ORDER BY job.seq LIMIT 1`
export const ONE_JOB = `SELECT job.seq FROM agent_jobs AS job WHERE job.id = ? AND ${MAY_RUN}`

/** A job that is postponed until a moment between these two may not run yet. */
export type Postponed = readonly [after: number, until: number]

export function findFirstOfAgent(db: Db, agentId: string, postponed: Postponed): number | undefined {
  return db.prepare<{ seq: number }>(FIRST_OF_AGENT).get(agentId, ...postponed)?.seq
}

export function findToRun(db: Db, jobId: string, postponed: Postponed): number | undefined {
  return db.prepare<{ seq: number }>(ONE_JOB).get(jobId, ...postponed)?.seq
}

type Claimed = Pick<typeof jobs.$inferSelect, 'id' | 'claim' | 'attempt' | 'steps'>

/** The job must be pending. */
export function markClaimed(tx: Tx, seq: number, bootId: string, at: number): Claimed {
  return tx
    .prepare<Claimed>(
      `UPDATE agent_jobs SET status = 'running', claim = claim + 1, attempt = attempt + 1, boot_id = ?, heartbeat_at = ?,
         started_at = coalesce(started_at, ?)
       WHERE seq = ? AND status = 'pending' RETURNING id, claim, attempt, steps`,
    )
    .get(bootId, at, at, seq)!
}

export function listAgentsOfRunning(db: Db): string[] {
  const rows = db.prepare<{ agentId: string }>("SELECT agent_id AS agentId FROM agent_jobs WHERE status = 'running'").all()
  return rows.map(({ agentId }) => agentId)
}
