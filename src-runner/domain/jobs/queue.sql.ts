import type { Db } from '../../platform/db/database.ts'

/**
 * The agents that were ever given a job, one look each. Left to itself, SQLite would read the whole queue; an index of its
 * own over the queue would be written with every job.
 */
const EMPLOYED = `
  WITH RECURSIVE employed (agent_id) AS (
    SELECT min(agent_id) FROM agent_jobs INDEXED BY agent_jobs_by_agent
    UNION ALL
    SELECT (SELECT min(agent_id) FROM agent_jobs INDEXED BY agent_jobs_by_agent WHERE agent_id > employed.agent_id)
    FROM employed WHERE employed.agent_id IS NOT NULL
  )`

export const QUEUED_AGENTS = `${EMPLOYED}
  SELECT agent_id FROM employed WHERE agent_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM agent_jobs AS job INDEXED BY agent_jobs_by_agent WHERE job.agent_id = employed.agent_id AND job.status = 'pending')`

const COUNT_QUEUED = `${EMPLOYED}
  SELECT ifnull(sum((
    SELECT count(*) FROM agent_jobs AS job INDEXED BY agent_jobs_by_agent WHERE job.agent_id = employed.agent_id AND job.status = 'pending'
  )), 0) AS jobs FROM employed WHERE agent_id IS NOT NULL`

/** In the words of agent_jobs_by_state: a query that does not have them cannot use that index. */
export const AT_REST = "status <> 'pending' AND status <> 'running'"

/** The agents for which jobs wait to be run. */
export function listQueuedAgents(db: Db): string[] {
  return db
    .prepare<{ agent_id: string }>(QUEUED_AGENTS)
    .all()
    .map((row) => row.agent_id)
}

export function countQueued(db: Db): number {
  return db.prepare<{ jobs: number }>(COUNT_QUEUED).get()!.jobs
}
