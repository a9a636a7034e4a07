import type { Db } from '../../platform/db/database.ts'
import type { Autonomy } from '../../contract/agents.ts'

/** An agent on whose behalf a job works. */
export type ChainLink = { agentId: string; agentName: string; autonomy: Autonomy }

/**
 * The job's own agent, then the agents of its parent jobs up to the one that started the work. Parents that have ended
 * count too: the child still does what their agent asked for. Autonomy is the current setting.
 */
export function readChain(db: Db, jobId: string): ChainLink[] {
  return db
    .prepare<ChainLink>(
      `WITH RECURSIVE above (id, depth) AS (
         SELECT ?, 0
         UNION
         SELECT job.parent_job_id, depth + 1 FROM above JOIN agent_jobs AS job ON job.id = above.id WHERE job.parent_job_id IS NOT NULL)
       SELECT agent.id AS agentId, agent.name AS agentName, agent.autonomy FROM above
       JOIN agent_jobs AS job ON job.id = above.id JOIN agents AS agent ON agent.id = job.agent_id ORDER BY depth`,
    )
    .all(jobId)
}
