import { z } from 'zod'
import { ApprovalKind } from './approval-kinds.ts'
import { JobChannel, JobStatus } from './jobs.ts'
import { Id, Moment, Usd } from './primitives.ts'
import { CallFacts, CreateRule, Decision, Taints } from './rules.ts'

/** withdrawn: the job ended before anybody answered. */
export const ApprovalStatus = z.enum(['pending', 'approved', 'rejected', 'expired', 'withdrawn'])
export type ApprovalStatus = z.infer<typeof ApprovalStatus>

export const Remember = z.enum(['once', 'job', 'always'])
export type Remember = z.infer<typeof Remember>

/** Of a budget: which limit, what is spent, and what one tap adds. */
export const AskedBudget = z.object({
  scope: z.enum(['job', 'agent_day', 'agent_month', 'app_day']),
  limitUsd: Usd,
  spentUsd: Usd,
  extensionUsd: Usd,
})
export type AskedBudget = z.infer<typeof AskedBudget>

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
  /** The tool call that waits. null: a budget. */
  callId: z.string().nullable(),
  tool: z.string().nullable(),
  /** Exactly what would run. */
  args: z.unknown(),
  /** SHA-256 of tool and arguments, in hex. Approving runs exactly that. */
  hash: z.string(),
  /** What the agent said when it asked for the call. The agent's words, with no authority. */
  reason: z.string(),
  facts: CallFacts.nullable(),
  decision: Decision.nullable(),
  taints: Taints,
  /** Of a question. */
  question: z.object({ text: z.string(), choices: z.array(z.string()) }).nullable(),
  budget: AskedBudget.nullable(),
  /** What "Always" would write; null where always is not offered. */
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
  /** Of a question: the answer, which approving needs. Of an unknown outcome: `happened` (the default) or `again`. */
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

/** 24 hours. */
export const APPROVAL_EXPIRES_AFTER_MS = 24 * 3_600_000
