import type { Tx } from '../../base/db/transact.ts'
import type { ApprovalKind } from '../../contract/approval-kinds.ts'

/** The job has ended, so nothing that it asked needs an answer any more. Part of the transaction that ends it. */
export function withdrawApprovals(tx: Tx, job: { seq: number; id: string; agent_id: string; conversation_id: string | null }): void {
  const withdrawn = tx
    .prepare<{ id: string; kind: ApprovalKind }>(
      "UPDATE approvals SET status = 'withdrawn' WHERE job_seq = ? AND status = 'pending' RETURNING id, kind",
    )
    .all(job.seq)
  for (const { id, kind } of withdrawn) {
    const payload = { approvalId: id, jobId: job.id, agentId: job.agent_id, conversationId: job.conversation_id, kind }
    tx.emit({ type: 'approval.withdrawn', payload })
  }
}
