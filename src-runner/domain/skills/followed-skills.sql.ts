import type { Db } from '../../platform/db/database.ts'

/**
 * The names of the skills that a job, or one above it, has read with success. Reading one taints the job, so the partial index of tainted
 * steps finds them; which skill it was stands in the call.
 */
export function listFollowedSkills(db: Db, jobId: string): string[] {
  return db
    .prepare<{ name: string }>(
      `WITH RECURSIVE above (id) AS (
         SELECT ?
         UNION
         SELECT job.parent_job_id FROM above JOIN agent_jobs AS job ON job.id = above.id WHERE job.parent_job_id IS NOT NULL)
       SELECT DISTINCT json_extract(call.value, '$.args.skill') AS name FROM above
       JOIN agent_jobs AS job ON job.id = above.id
       JOIN job_steps AS result ON result.job_seq = job.seq AND (result.adds_taint IS NOT NULL OR result.left_machine = 1)
        AND result.name = 'use_skill' AND result.ok = 1
       JOIN job_steps AS reply ON reply.job_seq = job.seq AND reply.seq < result.seq AND reply.kind = 'reply'
       JOIN json_each(reply.tool_calls) AS call
         ON json_extract(call.value, '$.callId') = result.call_id AND json_type(call.value, '$.args.skill') = 'text'`,
    )
    .all(jobId)
    .map(({ name }) => name)
}
