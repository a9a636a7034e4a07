import type { Db } from '../../platform/db/database.ts'
import type { JobChannel } from '../../contract/jobs.ts'

/** The job from which this one was delegated, at the top of the chain; the job itself if it was not delegated. */
export function findFirstJob(
  db: Db,
  jobId: string,
): { jobId: string; agentId: string; channel: JobChannel; conversationId: string | null } {
  return db
    .prepare<{ jobId: string; agentId: string; channel: JobChannel; conversationId: string | null }>(
      `WITH RECURSIVE above (id, depth) AS (
         SELECT ?, 0
         UNION ALL
         SELECT job.parent_job_id, depth + 1 FROM above JOIN agent_jobs AS job ON job.id = above.id
         WHERE job.channel = 'delegation' AND job.parent_job_id IS NOT NULL)
       SELECT job.id AS jobId, job.agent_id AS agentId, job.channel, job.conversation_id AS conversationId
       FROM above JOIN agent_jobs AS job ON job.id = above.id ORDER BY depth DESC LIMIT 1`,
    )
    .get(jobId)!
}
