import type { Tx } from '../../base/db/transact.ts'
import { APPROVAL_EXPIRES_AFTER_MS, type Approval, type Remember } from '../../contract/approvals.ts'
import type { CallFacts, Decision, Marks, RuleText } from '../../contract/rules.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Ids } from '../../kit/ids.ts'
import { LostClaim, type Claim } from '../jobs/claim.ts'
import { hashOfCall } from './call-hash.ts'

export type NewApproval = { marks: Marks; args: unknown } & (
  | {
      kind: 'tool'
      callId: string
      tool: string
      facts: CallFacts
      decision: Decision
      alwaysRule: RuleText | null
      mayRemember: Remember[]
    }
  | { kind: 'question'; callId: string; tool: string; question: { text: string; choices: string[] } }
  /** `facts`: what was said of the call when it was let run. */
  | { kind: 'unknown_outcome'; callId: string; tool: string; facts: CallFacts | null }
  | { kind: 'budget'; budget: NonNullable<Approval['budget']> }
)

/**
 * Asks a person, once: an open approval for the same call is answered with instead of a second one. Throws LostClaim: only
 * the present attempt may ask.
 */
export function askApproval(
  tx: Tx,
  { clock, deadlines, ids }: { clock: Clock; deadlines: Pick<Clock, 'now'>; ids: Ids },
  claim: Claim,
  asked: NewApproval,
): string {
  const job = tx
    .prepare<{ agent_id: string; conversation_id: string | null }>(
      "SELECT agent_id, conversation_id FROM agent_jobs WHERE seq = ? AND claim = ? AND status = 'running'",
    )
    .get(claim.seq, claim.claim)
  if (job === undefined) throw new LostClaim(claim)
  const call = asked.kind === 'budget' ? null : { callId: asked.callId, tool: asked.tool }
  const open = tx
    .prepare<{ id: string }>("SELECT id FROM approvals WHERE job_seq = ? AND ifnull(call_id, '') = ? AND status = 'pending'")
    .get(claim.seq, call?.callId ?? '')
  if (open !== undefined) return open.id
  const id = ids.next()
  const about = asked.kind === 'tool' ? asked : null
  tx.prepare(
    `INSERT INTO approvals (id, job_seq, kind, status, call_id, tool, args, hash, reason, facts, decision, marks, question, budget,
       always_rule, may_remember, created_at, expires_at)
     VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    id,
    claim.seq,
    asked.kind,
    call?.callId ?? null,
    call?.tool ?? null,
    JSON.stringify(asked.args ?? null),
    hashOfCall(call?.tool ?? 'budget', asked.args, 'facts' in asked ? asked.facts : null),
    call === null ? '' : reasonOf(tx, claim.seq),
    jsonOr('facts' in asked ? asked.facts : undefined),
    jsonOr(about?.decision),
    JSON.stringify(asked.marks),
    jsonOr(asked.kind === 'question' ? asked.question : undefined),
    jsonOr(asked.kind === 'budget' ? asked.budget : undefined),
    jsonOr(about?.alwaysRule),
    JSON.stringify(about?.mayRemember ?? ['once']),
    clock.now(),
    deadlines.now() + APPROVAL_EXPIRES_AFTER_MS,
  )
  const payload = { approvalId: id, jobId: claim.jobId, agentId: job.agent_id, conversationId: job.conversation_id, kind: asked.kind }
  tx.emit({ type: 'approval.asked', payload })
  return id
}

/** What the agent said in the reply that asked for the call. */
function reasonOf(tx: Tx, jobSeq: number): string {
  const reply = tx
    .prepare<{ text: string }>("SELECT text FROM job_steps WHERE job_seq = ? AND kind = 'reply' ORDER BY seq DESC LIMIT 1")
    .get(jobSeq)
  return reply?.text ?? ''
}

function jsonOr(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value)
}
