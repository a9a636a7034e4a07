import { transact } from '../../../platform/db/database.ts'
import type { Approval, ResolveApproval } from '../../../contract/approvals.ts'
import { AppError } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { isOverMcp } from '../../../domain/approvals/taints.ts'
import { mayOpenMachine, type Caller } from '../caller.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function approvalHandlers({ db, approvals, previewChange }: HandlerDeps) {
  return {
    resolveApproval({ body }, { caller, overMcp }) {
      const approval = approvals.findApproval(db, body.approvalId)
      if (approval !== null && isOwners(approval, body, caller)) {
        throw new AppError('owner_only', createMessage('approval_by_owner'))
      }
      if (approval !== null && overMcp === true && isForPerson(approval)) {
        throw new AppError('owner_only', createMessage('approval_by_person'))
      }
      return transact(db, (tx) => approvals.answer(tx, body))
    },
    listApprovals: ({ query }, { caller }) => approvals.list(db, { ...query, entityId: caller.entityId }),
    getApproval: ({ params }) => ({ approval: approvals.get(db, params.approvalId) }),
    previewApproval: async ({ params }) => ({ change: await previewChange(params.approvalId) }),
    listDecisions: ({ params }) => ({ decisions: approvals.listDecisions(db, params.jobId) }),
  } satisfies Partial<Handlers>
}

/**
 * What a job has read may have reached the model that would answer, or may be of the server that would answer itself. What only
 * that model wrote is no reason.
 */
function isForPerson({ taints: { untrusted }, question }: Approval): boolean {
  return question?.server !== undefined || (untrusted !== null && !isOverMcp(untrusted))
}

/**
 * Programs on the machine, rules, and the limit of all workspaces together are for the owner to approve. A member may let a program
 * run once: it runs in a folder that an owner gave the agent, and members approve for the household while the owner is away.
 */
function isOwners({ facts, budget }: Approval, { decision, remember }: ResolveApproval, caller: Caller): boolean {
  if (decision !== 'approve' || mayOpenMachine(caller)) return false
  if (remember === 'always') return true
  return caller.entityId !== undefined && (facts?.runsCode === true || budget?.scope === 'app_day')
}
