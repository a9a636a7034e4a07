import type { Db } from '../../platform/db/database.ts'

/** The delegated jobs below this one, at every depth, that wait for a person. */
export function listAskingBelow(db: Db, jobId: string): string[] {
  const rows = db
    .prepare<{ id: string }>(
      `WITH RECURSIVE below (id) AS (
         SELECT id FROM agent_jobs WHERE parent_job_id = ? AND parent_call_id IS NOT NULL
         UNION
         SELECT job.id FROM below JOIN agent_jobs AS job ON job.parent_job_id = below.id WHERE job.parent_call_id IS NOT NULL)
       SELECT job.id FROM below CROSS JOIN agent_jobs AS job ON job.id = below.id WHERE job.status = 'awaiting_approval'`,
    )
    .all(jobId)
  return rows.map(({ id }) => id)
}
