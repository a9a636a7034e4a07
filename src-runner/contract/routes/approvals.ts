import { z } from 'zod'
import { Approval, ApprovalStatus, ResolveApproval, ResolvedApproval } from '../approvals.ts'
import { FileDiff } from '../files.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { RecordedDecision } from '../rules.ts'
import { get, jobParams, post } from './route.ts'

export const approvalRoutes = {
  resolveApproval: post('/api/approve', {
    reach: 'workspace',
    summary: 'Answer an approval, which resumes its job. The first answer counts.',
    body: ResolveApproval,
    answer: ResolvedApproval,
    errors: ['approval_not_found', 'approval_already_resolved', 'approval_expired'],
  }),
  listApprovals: get('/api/approvals', {
    reach: 'workspace',
    summary: 'Approvals, newest first. `pending` counts all that wait, regardless of the filter.',
    query: PageQuery.extend({ status: ApprovalStatus.optional(), jobId: Id.optional() }),
    answer: z.object({ approvals: z.array(Approval), pending: z.number().int(), nextCursor: NextCursor }),
    shows: ['approvals'],
  }),
  getApproval: get('/api/approvals/:approvalId', {
    reach: 'workspace',
    summary: 'One approval.',
    params: z.object({ approvalId: Id }),
    answer: z.object({ approval: Approval }),
    errors: ['approval_not_found'],
    shows: ['approvals'],
  }),
  previewApproval: get('/api/approvals/:approvalId/preview', {
    reach: 'workspace',
    summary: 'The change that the call of an open approval would make to a file, as a diff; null if it changes none.',
    params: z.object({ approvalId: Id }),
    answer: z.object({ change: FileDiff.nullable() }),
    errors: ['approval_not_found'],
    shows: ['approvals'],
  }),
  listDecisions: get('/api/jobs/:jobId/decisions', {
    reach: 'workspace',
    summary: 'The decision about each tool call of a job, with its reasons and the taints at that time.',
    params: jobParams,
    answer: z.object({ decisions: z.array(RecordedDecision) }),
    errors: ['job_not_found'],
    shows: ['job'],
  }),
}
