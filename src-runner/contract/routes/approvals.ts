import { z } from 'zod'
import { Approval, ApprovalStatus, ResolveApproval, ResolvedApproval } from '../approvals.ts'
import { FileDiff } from '../files.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { RecordedDecision } from '../rules.ts'
import { jobParams, routeTable } from './route.ts'

export const approvalRoutes = routeTable({
  resolveApproval: {
    method: 'POST',
    path: '/api/approve',
    gate: 'runner',
    summary: 'Answer an approval, which resumes its job. The first answer counts.',
    body: ResolveApproval,
    status: 200,
    answer: ResolvedApproval,
    errors: ['invalid_request', 'approval_not_found', 'approval_already_resolved', 'approval_expired', 'disk_full'],
  },
  listApprovals: {
    method: 'GET',
    path: '/api/approvals',
    gate: 'runner',
    summary: 'Approvals, newest first. `pending` counts those that wait, whatever the filter.',
    query: PageQuery.extend({ status: ApprovalStatus.optional(), jobId: Id.optional() }),
    status: 200,
    answer: z.object({ approvals: z.array(Approval), pending: z.number().int(), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['approvals'],
  },
  getApproval: {
    method: 'GET',
    path: '/api/approvals/:approvalId',
    gate: 'runner',
    summary: 'One approval.',
    params: z.object({ approvalId: Id }),
    status: 200,
    answer: z.object({ approval: Approval }),
    errors: ['invalid_request', 'approval_not_found'],
    shows: ['approvals'],
  },
  previewApproval: {
    method: 'GET',
    path: '/api/approvals/:approvalId/preview',
    gate: 'runner',
    summary: 'What the call of an open approval would make of a file as it is now, as a diff; null where it changes none.',
    params: z.object({ approvalId: Id }),
    status: 200,
    answer: z.object({ change: FileDiff.nullable() }),
    errors: ['invalid_request', 'approval_not_found'],
    shows: ['approvals'],
  },
  listDecisions: {
    method: 'GET',
    path: '/api/jobs/:jobId/decisions',
    gate: 'runner',
    summary: 'What the policy said of each tool call of a job, by which rule, and how the job was marked then.',
    params: jobParams,
    status: 200,
    answer: z.object({ decisions: z.array(RecordedDecision) }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
})
