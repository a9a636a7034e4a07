import { transact } from '../../../platform/db/transact.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes = 'resolveApproval' | 'listApprovals' | 'getApproval' | 'previewApproval' | 'listDecisions'

export function approvalHandlers({ db, approvals, previewChange }: HandlerDeps): Pick<Handlers, Routes> {
  return {
    resolveApproval: ({ body }) => transact(db, (tx) => approvals.answer(tx, body)),
    listApprovals: ({ query }) => approvals.list(db, query),
    getApproval: ({ params }) => ({ approval: approvals.get(db, params.approvalId) }),
    previewApproval: async ({ params }) => ({ change: await previewChange(params.approvalId) }),
    listDecisions: ({ params }) => ({ decisions: approvals.listDecisions(db, params.jobId) }),
  }
}
