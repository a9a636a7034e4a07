import { z } from 'zod'
import { Approval, ApprovalStatus, ResolveApproval, ResolvedApproval } from '../approvals.ts'
import { FileDiff } from '../files.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { RecordedDecision } from '../rules.ts'
import { get, jobParams, post } from './route.ts'

export const approvalRoutes = {
  resolveApproval: post('/api/approve', {
    summary: 'Answer an approval, which resumes its job. The first answer counts.',
    body: ResolveApproval,
    answer: ResolvedApproval,
    errors: ['approval_not_found', 'approval_already_resolved', 'approval_expired'],
  }),
  listApprovals: get('/api/approvals', {
    summary: 'Approvals, newest first. `pending` counts those that wait, whatever the filter.',
    query: PageQuery.extend({ status: ApprovalStatus.optional(), jobId: Id.optional() }),
    answer: z.object({ approvals: z.array(Approval), pending: z.number().int(), nextCursor: NextCursor }),
    shows: ['approvals'],
  }),
  getApproval: get('/api/approvals/:approvalId', {
    summary: 'One approval.',
    params: z.object({ approvalId: Id }),
    answer: z.object({ approval: Approval }),
    errors: ['approval_not_found'],
    shows: ['approvals'],
  }),
  previewApproval: get('/api/approvals/:approvalId/preview', {
    summary: 'What the call of an open approval would make of a file as it is now, as a diff; null where it changes none.',
    params: z.object({ approvalId: Id }),
    answer: z.object({ change: FileDiff.nullable() }),
    errors: ['approval_not_found'],
    shows: ['approvals'],
  }),
  listDecisions: get('/api/jobs/:jobId/decisions', {
    summary: 'What the policy said of each tool call of a job, by which rule, and how the job was marked then.',
    params: jobParams,
    answer: z.object({ decisions: z.array(RecordedDecision) }),
    errors: ['job_not_found'],
    shows: ['job'],
  }),
}
