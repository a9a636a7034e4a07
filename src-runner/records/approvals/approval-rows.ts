import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { ApprovalKind } from '../../contract/approval-kinds.ts'
import { Approval, Remember, type ApprovalStatus } from '../../contract/approvals.ts'
import type { JobChannel } from '../../contract/jobs.ts'
import { CallFacts, CreateRule, Decision, Marks } from '../../contract/rules.ts'

export type ApprovalRow = {
  seq: number
  id: string
  job_seq: number
  job_id: string
  job_title: string
  channel: JobChannel
  conversation_id: string | null
  agent_id: string
  agent_name: string
  agent_avatar: string | null
  kind: ApprovalKind
  status: ApprovalStatus
  call_id: string | null
  tool: string | null
  args: string
  hash: string
  reason: string
  facts: string | null
  decision: string | null
  marks: string
  question: string | null
  budget: string | null
  always_rule: string | null
  may_remember: string
  remember: Remember | null
  note: string | null
  answer: string | null
  created_at: number
  expires_at: number
  answered_at: number | null
}

export const SELECT_APPROVAL = `SELECT approval.*, job.id AS job_id, job.title AS job_title, job.channel, job.conversation_id, job.agent_id,
  agent.name AS agent_name, agent.avatar AS agent_avatar FROM approvals AS approval JOIN agent_jobs AS job ON job.seq = approval.job_seq
  JOIN agents AS agent ON agent.id = job.agent_id`

const MayRemember = z.array(Remember)

export function approvalOf(row: ApprovalRow): Approval {
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    jobId: row.job_id,
    jobTitle: row.job_title,
    channel: row.channel,
    conversationId: row.conversation_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    agentAvatar: row.agent_avatar,
    callId: row.call_id,
    tool: row.tool,
    args: JSON.parse(row.args),
    hash: row.hash,
    reason: row.reason,
    facts: parsed(CallFacts, row.facts),
    decision: parsed(Decision, row.decision),
    marks: Marks.parse(JSON.parse(row.marks)),
    question: parsed(Approval.shape.question, row.question),
    budget: parsed(Approval.shape.budget, row.budget),
    alwaysRule: parsed(CreateRule, row.always_rule),
    mayRemember: MayRemember.parse(JSON.parse(row.may_remember)),
    remember: row.remember,
    note: row.note,
    answer: row.answer,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    answeredAt: row.answered_at,
  }
}

export function findApproval(db: Db, approvalId: string): Approval | null {
  const row = db.prepare<ApprovalRow>(`${SELECT_APPROVAL} WHERE approval.id = ?`).get(approvalId)
  return row === undefined ? null : approvalOf(row)
}

function parsed<T>(shape: z.ZodType<T>, text: string | null): T | null {
  return text === null ? null : shape.parse(JSON.parse(text))
}
