import { z } from 'zod'
import { ApprovalKind, JobChannel, JobStatus } from './jobs.ts'
import { Id, Moment, Usd } from './primitives.ts'
import { CallFacts, CreateRule, Decision, Taints } from './rules.ts'

/** withdrawn: no answer is needed any more, because the job has ended, or the call that asked. */
export const ApprovalStatus = z.enum(['pending', 'approved', 'rejected', 'expired', 'withdrawn'])
export type ApprovalStatus = z.infer<typeof ApprovalStatus>

export const Remember = z.enum(['once', 'job', 'always'])
export type Remember = z.infer<typeof Remember>

/** A reached spending limit: what is spent, and what an approval adds. */
export const AskedBudget = z.object({
  scope: z.enum(['job', 'agent_day', 'agent_month', 'app_day']),
  limitUsd: Usd,
  spentUsd: Usd,
  extensionUsd: Usd,
})
export type AskedBudget = z.infer<typeof AskedBudget>

export const AskedQuestion = z.object({
  text: z.string(),
  choices: z.array(z.string()),
  /** The MCP server whose words these are. Absent: the agent asks. */
  server: z.string().optional(),
  /** The answers are `yes` and `no`, or `done`. Absent: any text. */
  form: z.enum(['yes_no', 'done']).optional(),
  /** What is to be done there. */
  url: z.string().optional(),
})
export type AskedQuestion = z.infer<typeof AskedQuestion>

export const Approval = z.object({
  id: Id,
  kind: ApprovalKind,
  status: ApprovalStatus,
  jobId: Id,
  jobTitle: z.string(),
  channel: JobChannel,
  conversationId: Id.nullable(),
  agentId: Id,
  agentName: z.string(),
  agentAvatar: z.string().nullable(),
  /** The waiting tool call. null: a spending limit. */
  callId: z.string().nullable(),
  tool: z.string().nullable(),
  /** Exactly what would run. */
  args: z.unknown(),
  /** SHA-256 of tool and arguments, in hex. Approving runs exactly that. */
  hash: z.string(),
  /** What the agent wrote when it made the call. It is not verified. */
  reason: z.string(),
  facts: CallFacts.nullable(),
  decision: Decision.nullable(),
  taints: Taints,
  /** Only of a question. */
  question: AskedQuestion.nullable(),
  budget: AskedBudget.nullable(),
  /** The rule that "Always" would create; null if it is not offered. */
  alwaysRule: CreateRule.nullable(),
  mayRemember: z.array(Remember),
  remember: Remember.nullable(),
  note: z.string().nullable(),
  answer: z.string().nullable(),
  createdAt: Moment,
  expiresAt: Moment,
  answeredAt: Moment.nullable(),
})
export type Approval = z.infer<typeof Approval>

export const ResolveApproval = z.object({
  approvalId: Id,
  decision: z.enum(['approve', 'reject']),
  note: z.string().trim().max(4000).optional(),
  remember: Remember.default('once'),
  /** Required to approve a question, unless `note` answers it. For an unknown outcome: `happened` (the default) or `again`. */
  answer: z.string().trim().max(20_000).optional(),
})
export type ResolveApproval = z.infer<typeof ResolveApproval>

export const ResolvedApproval = z.object({
  ok: z.literal(true),
  jobId: Id,
  status: JobStatus,
  decision: z.enum(['approve', 'reject']),
})
export type ResolvedApproval = z.infer<typeof ResolvedApproval>

export const APPROVAL_EXPIRES_AFTER_MS = 24 * 3_600_000
