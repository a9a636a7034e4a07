import type { Tx } from '../../base/db/transact.ts'
import type { Approval, ResolveApproval, ResolvedApproval } from '../../contract/approvals.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import { say } from '../../kit/said.ts'
import type { Ids } from '../../kit/ids.ts'
import { extendBudget } from '../budgets/extensions.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { createRule } from '../rules/rules.ts'
import { approvalOf, findApproval, SELECT_APPROVAL, type ApprovalRow } from './approval-rows.ts'

export type AnsweringDeps = {
  clock: Clock
  /** What the moment is compared with at which an approval expires. */
  deadlines: Pick<Clock, 'now'>
  ids: Ids
  jobs: Pick<JobStore, 'wake' | 'cancel' | 'getJob'>
}

/**
 * A person's answer, what follows from it and the waking of the job, in one transaction. Throws AppError
 * approval_not_found, approval_already_resolved, approval_expired, or invalid_request for an answer that does not fit.
 */
export function answerApproval(tx: Tx, deps: AnsweringDeps, given: ResolveApproval): ResolvedApproval {
  const at = deps.clock.now()
  const approval = findApproval(tx, given.approvalId)
  if (approval === null) throw new AppError('approval_not_found', 'There is no such approval.')
  if (approval.status === 'expired' || (approval.status === 'pending' && approval.expiresAt <= deps.deadlines.now())) {
    throw new AppError('approval_expired', 'Nobody answered in time, so this was refused.')
  }
  if (approval.status !== 'pending') throw new AppError('approval_already_resolved', ALREADY[approval.status])
  const approves = given.decision === 'approve'
  const answer = approves ? answerTo(approval, given) : null
  if (approves && !approval.mayRemember.includes(given.remember)) {
    throw invalid('remember', `This approval takes: ${approval.mayRemember.join(', ')}.`)
  }
  tx.prepare('UPDATE approvals SET status = ?, remember = ?, note = ?, answer = ?, answered_at = ? WHERE id = ?').run(
    approves ? 'approved' : 'rejected',
    approves ? given.remember : null,
    given.note ?? null,
    answer,
    at,
    approval.id,
  )
  if (approves && given.remember === 'always') createRule(tx, deps, approval.alwaysRule!, 'approval')
  if (approves && approval.kind === 'budget') extendAndTellOthers(tx, deps, approval)
  tx.emit({ type: 'approval.answered', payload: { ...eventOf(approval), decision: given.decision } })
  // Nobody knows whether it happened, and the person does not want the job to go on from there: no word to the model.
  if (approval.kind === 'unknown_outcome' && !approves) deps.jobs.cancel(tx, approval.jobId)
  else deps.jobs.wake(tx, approval.jobId)
  return { ok: true, jobId: approval.jobId, status: deps.jobs.getJob(tx, approval.jobId).status, decision: given.decision }
}

const ALREADY = {
  approved: say('approved_already'),
  rejected: say('rejected_already'),
  withdrawn: say('approval_withdrawn'),
} as const

function answerTo({ kind }: Approval, { answer }: ResolveApproval): string | null {
  if (kind === 'question') {
    if (answer === undefined || answer === '') throw invalid('answer', say('answer_missing'))
    return answer
  }
  if (kind !== 'unknown_outcome') return null
  if (answer !== undefined && answer !== 'happened' && answer !== 'again') throw invalid('answer', 'Say `happened` or `again`.')
  return answer ?? 'happened'
}

/** The same cap may have stopped others: what was added is there for all, so they look again instead of asking again. */
function extendAndTellOthers(tx: Tx, deps: AnsweringDeps, approval: Approval): void {
  extendBudget(tx, approval)
  withdrawBudgets(tx, deps, ({ hash }) => hash === approval.hash)
}

/** Caps were changed by hand. Who waits for more money looks again, and asks again if there is still too little. */
export function reconsiderBudgets(tx: Tx, deps: AnsweringDeps): void {
  withdrawBudgets(tx, deps, () => true)
}

function withdrawBudgets(tx: Tx, deps: AnsweringDeps, which: (approval: Approval) => boolean): void {
  const waiting = tx.prepare<ApprovalRow>(`${SELECT_APPROVAL} WHERE approval.status = 'pending' AND approval.kind = 'budget'`).all()
  for (const other of waiting.map(approvalOf).filter(which)) {
    tx.prepare("UPDATE approvals SET status = 'withdrawn' WHERE id = ?").run(other.id)
    tx.emit({ type: 'approval.withdrawn', payload: eventOf(other) })
    deps.jobs.wake(tx, other.jobId)
  }
}

/** Refuses what nobody answered in time, and wakes the jobs so that their models can read that. Answers how many. */
export function expireApprovals(tx: Tx, deps: AnsweringDeps): number {
  const due = tx
    .prepare<ApprovalRow>(`${SELECT_APPROVAL} WHERE approval.status = 'pending' AND approval.expires_at <= ? ORDER BY approval.expires_at`)
    .all(deps.deadlines.now())
    .map(approvalOf)
  for (const approval of due) {
    tx.prepare("UPDATE approvals SET status = 'expired' WHERE id = ?").run(approval.id)
    tx.emit({ type: 'approval.expired', payload: eventOf(approval) })
    deps.jobs.wake(tx, approval.jobId)
  }
  return due.length
}

/** The clock was set by so much: each may be answered for as long as before. */
export function moveExpiry(tx: Tx, byMs: number): void {
  tx.prepare("UPDATE approvals SET expires_at = expires_at + ? WHERE status = 'pending'").run(byMs)
}

function eventOf({ id, jobId, agentId, conversationId, kind }: Approval) {
  return { approvalId: id, jobId, agentId, conversationId, kind }
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', 'The answer does not fit the approval.', { issues: [{ path, message }] })
}
