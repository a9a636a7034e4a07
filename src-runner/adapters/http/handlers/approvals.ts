import { transact } from '../../../platform/db/transact.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function approvalHandlers({ db, approvals, previewChange }: HandlerDeps) {
  return {
    resolveApproval: ({ body }) => transact(db, (tx) => approvals.answer(tx, body)),
    listApprovals: ({ query }, { caller }) => approvals.list(db, { ...query, entityId: caller.entityId }),
    getApproval: ({ params }) => ({ approval: approvals.get(db, params.approvalId) }),
    previewApproval: async ({ params }) => ({ change: await previewChange(params.approvalId) }),
    listDecisions: ({ params }) => ({ decisions: approvals.listDecisions(db, params.jobId) }),
  } satisfies Partial<Handlers>
}
