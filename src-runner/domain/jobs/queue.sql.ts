import type { Db } from '../../platform/db/database.ts'

/**
 * Every agent that ever had a job, found by one index lookup each. Without this, SQLite would read the complete queue. A separate
 * index over the queue would be written with every job.
 */
const AGENTS_WITH_JOBS = `
  WITH RECURSIVE with_jobs (agent_id) AS (
    SELECT min(agent_id) FROM agent_jobs INDEXED BY agent_jobs_by_agent
    UNION ALL
    SELECT (SELECT min(agent_id) FROM agent_jobs INDEXED BY agent_jobs_by_agent WHERE agent_id > with_jobs.agent_id)
    FROM with_jobs WHERE with_jobs.agent_id IS NOT NULL
  )`

export const QUEUED_AGENTS = `${AGENTS_WITH_JOBS}
  SELECT agent_id FROM with_jobs WHERE agent_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM agent_jobs AS job INDEXED BY agent_jobs_by_agent WHERE job.agent_id = with_jobs.agent_id AND job.status = 'pending')`

const COUNT_QUEUED = `${AGENTS_WITH_JOBS}
  SELECT ifnull(sum((
    SELECT count(*) FROM agent_jobs AS job INDEXED BY agent_jobs_by_agent WHERE job.agent_id = with_jobs.agent_id AND job.status = 'pending'
  )), 0) AS jobs FROM with_jobs WHERE agent_id IS NOT NULL`

/** The condition of the partial index agent_jobs_by_state: a query must repeat it to use that index. */
export const AT_REST = "status <> 'pending' AND status <> 'running'"

/** Agents with pending jobs. */
export function listQueuedAgents(db: Db): string[] {
  return db
    .prepare<{ agent_id: string }>(QUEUED_AGENTS)
    .all()
    .map((row) => row.agent_id)
}

export function countQueued(db: Db): number {
  return db.prepare<{ jobs: number }>(COUNT_QUEUED).get()!.jobs
}
