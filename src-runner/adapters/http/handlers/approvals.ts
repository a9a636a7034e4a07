import { transact } from '../../../platform/db/transact.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function approvalHandlers({ db, approvals, previewChange }: HandlerDeps) {
  return {
    resolveApproval({ body }, { caller }) {
      const budget = approvals.findApproval(db, body.approvalId)?.budget
      // The limit of all workspaces together.
      if (caller.entityId !== undefined && budget?.scope === 'app_day' && body.decision === 'approve') throw new AppError('owner_only')
      return transact(db, (tx) => approvals.answer(tx, body))
    },
    listApprovals: ({ query }, { caller }) => approvals.list(db, { ...query, entityId: caller.entityId }),
    getApproval: ({ params }) => ({ approval: approvals.get(db, params.approvalId) }),
    previewApproval: async ({ params }) => ({ change: await previewChange(params.approvalId) }),
    listDecisions: ({ params }) => ({ decisions: approvals.listDecisions(db, params.jobId) }),
  } satisfies Partial<Handlers>
}
