import type { Db } from '../../platform/db/database.ts'
import type { approvals } from '../approvals/approvals-table.ts'
import type { jobs } from '../jobs/jobs-table.ts'

const OPEN = "status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')"

type FirstJob = Pick<typeof jobs.$inferSelect, 'agentId' | 'channel' | 'conversationId'> & { jobId: string }

/** The job at the top of the delegation chain, which is the job itself if it was not delegated. */
export function findFirstJob(db: Db, jobId: string): FirstJob {
  return db
    .prepare<FirstJob>(
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

/** Unfinished turns in all conversations of a person. */
export function listOpenTurns(db: Db, personId: string): { conversationId: string; turns: number }[] {
  return db
    .prepare<{ conversationId: string; turns: number }>(
      `SELECT job.conversation_id AS conversationId, count(*) AS turns FROM channel_conversations AS held
       JOIN agent_jobs AS job INDEXED BY agent_jobs_open_turns ON job.conversation_id = held.conversation_id AND job.${OPEN}
       WHERE held.person_id = ? GROUP BY job.conversation_id`,
    )
    .all(personId)
}

/** `isOfServer` is 1 or 0. */
type PendingApproval = Pick<typeof approvals.$inferSelect, 'id' | 'kind'> & { isOfServer: number }

/** Pending approvals of the unfinished turns of a conversation. */
export function listPendingApprovals(db: Db, conversationId: string): PendingApproval[] {
  return db
    .prepare<PendingApproval>(
      `SELECT approval.id, approval.kind, json_extract(approval.question, '$.server') IS NOT NULL AS isOfServer FROM agent_jobs AS job JOIN approvals AS approval ON approval.job_seq = job.seq
       WHERE job.conversation_id = ? AND job.${OPEN} AND approval.status = 'pending'`,
    )
    .all(conversationId)
}

/** Whether an unfinished turn of a conversation, or a job that was delegated below one, has a pending approval. */
export function hasPendingApproval(db: Db, conversationId: string): boolean {
  return (
    db
      .prepare<{ id: string }>(
        `WITH RECURSIVE asking (id, seq) AS (
           SELECT id, seq FROM agent_jobs WHERE conversation_id = ? AND ${OPEN}
           UNION
           SELECT job.id, job.seq FROM asking JOIN agent_jobs AS job INDEXED BY agent_jobs_by_parent ON job.parent_job_id = asking.id
           WHERE job.channel = 'delegation' AND job.${OPEN})
         SELECT approval.id FROM asking JOIN approvals AS approval ON approval.job_seq = asking.seq WHERE approval.status = 'pending' LIMIT 1`,
      )
      .get(conversationId) !== undefined
  )
}
