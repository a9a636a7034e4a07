import { transact } from '../../../platform/db/transact.ts'
import type { Approval, ResolveApproval } from '../../../contract/approvals.ts'
import { AppError } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function approvalHandlers({ db, approvals, previewChange }: HandlerDeps) {
  return {
    resolveApproval({ body }, { caller }) {
      const approval = approvals.findApproval(db, body.approvalId)
      if (caller.entityId !== undefined && approval !== null && isOwners(approval, body)) {
        throw new AppError('owner_only', createMessage('approval_by_owner'))
      }
      return transact(db, (tx) => approvals.answer(tx, body))
    },
    listApprovals: ({ query }, { caller }) => approvals.list(db, { ...query, entityId: caller.entityId }),
    getApproval: ({ params }) => ({ approval: approvals.get(db, params.approvalId) }),
    previewApproval: async ({ params }) => ({ change: await previewChange(params.approvalId) }),
    listDecisions: ({ params }) => ({ decisions: approvals.listDecisions(db, params.jobId) }),
  } satisfies Partial<Handlers>
}

/** Programs on the machine, rules, and the limit of all workspaces together are for the owner to approve. */
function isOwners({ facts, budget }: Approval, { decision, remember }: ResolveApproval): boolean {
  return decision === 'approve' && (facts?.runsCode === true || remember === 'always' || budget?.scope === 'app_day')
}
