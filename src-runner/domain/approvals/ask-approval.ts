import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { APPROVAL_EXPIRES_AFTER_MS, type Approval, type AskedQuestion, type Remember } from '../../contract/approvals.ts'
import type { CallFacts, Decision, RuleText, Taints } from '../../contract/rules.ts'
import type { Clock } from '../../lib/clock.ts'
import { StaleClaimError } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Claim } from '../jobs/claim-job.ts'
import { jobs, jobSteps } from '../jobs/jobs-table.ts'
import { hashOfCall } from '../rules/call-hash.ts'
import { approvals } from './approvals-table.ts'
import { isPending } from './find-approval.ts'

export type NewApproval = { taints: Taints; args: unknown } & (
  | {
      kind: 'tool'
      callId: string
      tool: string
      facts: CallFacts
      decision: Decision
      alwaysRule: RuleText | null
      mayRemember: Remember[]
    }
  | { kind: 'question'; callId: string; tool: string; question: AskedQuestion }
  /** `facts`: those with which the call was allowed to run. */
  | { kind: 'unknown_outcome'; callId: string; tool: string; facts: CallFacts | null }
  | { kind: 'budget'; budget: NonNullable<Approval['budget']> }
)

/**
 * Asks a person and returns the approval's id. A pending approval of the same call is returned instead of a second one.
 * Throws StaleClaimError if another attempt owns the job.
 */
export function askApproval(
  tx: Tx,
  { clock, deadlines, ids }: { clock: Clock; deadlines: Pick<Clock, 'now'>; ids: Ids },
  claim: Claim,
  approval: NewApproval,
): string {
  const job = RUNNING_JOB(tx).get({ seq: claim.seq, claim: claim.claim })
  if (job === undefined) throw new StaleClaimError(claim)
  const call = approval.kind === 'budget' ? null : { callId: approval.callId, tool: approval.tool }
  const pending = PENDING_OF_CALL(tx).get({ jobSeq: claim.seq, callId: call?.callId ?? '' })
  if (pending !== undefined) return pending.id
  const id = ids.next()
  const facts = 'facts' in approval ? approval.facts : null
  const isTool = approval.kind === 'tool'
  tx.insert(approvals)
    .values({
      id,
      jobSeq: claim.seq,
      entityId: job.entityId,
      kind: approval.kind,
      status: 'pending',
      callId: call?.callId ?? null,
      tool: call?.tool ?? null,
      args: approval.args ?? null,
      hash: hashOfCall(call?.tool ?? 'budget', approval.args, facts),
      reason: call === null ? '' : (LAST_REPLY(tx).get({ jobSeq: claim.seq })?.text ?? ''),
      facts,
      decision: isTool ? approval.decision : null,
      taints: approval.taints,
      question: approval.kind === 'question' ? approval.question : null,
      budget: approval.kind === 'budget' ? approval.budget : null,
      alwaysRule: isTool ? approval.alwaysRule : null,
      mayRemember: isTool ? approval.mayRemember : ['once'],
      createdAt: clock.now(),
      expiresAt: deadlines.now() + APPROVAL_EXPIRES_AFTER_MS,
    })
    .run()
  tx.emit({
    type: 'approval.asked',
    payload: { approvalId: id, jobId: claim.jobId, agentId: job.agentId, conversationId: job.conversationId, kind: approval.kind },
  })
  return id
}

const RUNNING_JOB = prepareOnce((db: Db) =>
  db
    .select({ agentId: jobs.agentId, entityId: jobs.entityId, conversationId: jobs.conversationId })
    .from(jobs)
    .where(and(eq(jobs.seq, sql.placeholder('seq')), eq(jobs.claim, sql.placeholder('claim')), eq(jobs.status, 'running'))),
)

const PENDING_OF_CALL = prepareOnce((db: Db) =>
  db
    .select({ id: approvals.id })
    .from(approvals)
    .where(
      and(eq(approvals.jobSeq, sql.placeholder('jobSeq')), sql`ifnull(${approvals.callId}, '') = ${sql.placeholder('callId')}`, isPending),
    ),
)

const LAST_REPLY = prepareOnce((db: Db) =>
  db
    .select({ text: jobSteps.text })
    .from(jobSteps)
    .where(and(eq(jobSteps.jobSeq, sql.placeholder('jobSeq')), eq(jobSteps.kind, 'reply')))
    .orderBy(desc(jobSteps.seq))
    .limit(1),
)
