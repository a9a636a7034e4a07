import type { Db } from '../../platform/db/database.ts'

/** Unfinished turns of all conversations of a person. */
export function listOpenTurns(db: Db, personId: string): { conversationId: string; turns: number }[] {
  return db
    .prepare<{ conversationId: string; turns: number }>(
      `SELECT job.conversation_id AS conversationId, count(*) AS turns FROM channel_conversations AS held
       JOIN agent_jobs AS job INDEXED BY agent_jobs_open_turns ON job.conversation_id = held.conversation_id
         AND job.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')
       WHERE held.person_id = ? GROUP BY job.conversation_id`,
    )
    .all(personId)
}

/** Pending approvals of the unfinished turns of a conversation. */
export function listPendingApprovals(db: Db, conversationId: string): { id: string; kind: string }[] {
  return db
    .prepare<{ id: string; kind: string }>(
      `SELECT approval.id, approval.kind FROM agent_jobs AS job JOIN approvals AS approval ON approval.job_seq = job.seq
       WHERE job.conversation_id = ? AND job.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')
         AND approval.status = 'pending'`,
    )
    .all(conversationId)
}
