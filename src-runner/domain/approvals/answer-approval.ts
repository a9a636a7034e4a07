import { and, eq, lte, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy, prepareOnce } from '../../platform/db/statements.ts'
import type { Services } from '../../platform/services.ts'
import type { Approval, ResolveApproval, ResolvedApproval } from '../../contract/approvals.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, invalidAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { toUsd } from '../../lib/micros.ts'
import { extendBudget, type BudgetKey } from '../budgets/extensions.ts'
import { readSpendingLimits } from '../budgets/spending-limits.ts'
import type { MovedJob } from '../jobs/job-deps.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { createRule } from '../rules/rules.ts'
import { approvals } from './approvals-table.ts'
import { findApproval, isPending, selectApprovals } from './find-approval.ts'

export type AnsweringDeps = Pick<Services, 'clock' | 'ids'> & {
  /** The time that `expiresAt` is compared with. */
  deadlines: Pick<Clock, 'now'>
  jobs: Pick<JobStore, 'wake' | 'cancel' | 'getJob'>
}

/**
 * Records a person's answer, applies what follows from it and wakes the job. Throws AppError approval_not_found,
 * approval_already_resolved, approval_expired, or invalid_request for an answer that does not fit.
 */
export function answerApproval(tx: Tx, deps: AnsweringDeps, sent: ResolveApproval): ResolvedApproval {
  const at = deps.clock.now()
  const approval = findApproval(tx, sent.approvalId)
  if (approval === null) throw new AppError('approval_not_found')
  if (approval.status === 'expired' || (approval.status === 'pending' && approval.expiresAt <= deps.deadlines.now())) {
    throw new AppError('approval_expired')
  }
  if (approval.status !== 'pending') throw new AppError('approval_already_resolved', ALREADY[approval.status])
  const given = withNoteAsAnswer(approval, sent)
  const approves = given.decision === 'approve'
  const answer = approves ? answerTo(approval, given) : null
  if (approves && !approval.mayRemember.includes(given.remember)) {
    throw invalidAt('remember', createMessage('remember_offered', { choices: [...approval.mayRemember] }))
  }
  tx.update(approvals)
    .set({
      status: approves ? 'approved' : 'rejected',
      remember: approves ? given.remember : null,
      note: given.note ?? null,
      answer,
      answeredAt: at,
    })
    .where(eq(approvals.id, approval.id))
    .run()
  if (approves && given.remember === 'always') createRule(tx, deps, approval.alwaysRule!, 'approval')
  if (approves && approval.kind === 'budget') extendAndWakeOthers(tx, deps, approval)
  tx.emit({ type: 'approval.answered', payload: { ...eventOf(approval), decision: given.decision } })
  // The outcome is unknown and the person does not want the job to continue, so the model learns nothing.
  if (approval.kind === 'unknown_outcome' && !approves) deps.jobs.cancel(tx, approval.jobId)
  else deps.jobs.wake(tx, approval.jobId)
  return { ok: true, jobId: approval.jobId, status: deps.jobs.getJob(tx, approval.jobId).status, decision: given.decision }
}

const ALREADY = {
  approved: createMessage('approved_already'),
  rejected: createMessage('rejected_already'),
  withdrawn: createMessage('approval_withdrawn'),
} as const

/** A note to a question is the answer if there is no other. */
function withNoteAsAnswer({ kind }: Approval, given: ResolveApproval): ResolveApproval {
  const isAnswer = kind === 'question' && given.decision === 'approve' && given.answer === undefined
  return isAnswer ? { ...given, answer: given.note, note: undefined } : given
}

function answerTo({ kind }: Approval, { answer }: ResolveApproval): string | null {
  if (kind === 'question') {
    if (answer === undefined || answer === '') throw invalidAt('answer', createMessage('answer_missing'))
    return answer
  }
  if (kind !== 'unknown_outcome') return null
  if (answer !== undefined && answer !== 'happened' && answer !== 'again') throw invalidAt('answer', createMessage('answer_outcome'))
  return answer ?? 'happened'
}

/** The same spending limit may have stopped other jobs. They check it again instead of asking again. */
function extendAndWakeOthers(tx: Tx, deps: AnsweringDeps, approval: Approval): void {
  extendBudget(tx, approval)
  withdrawBudgets(tx, deps, ({ hash }) => hash === approval.hash)
}

/**
 * Lets jobs that wait for money check again where the limit they asked about is not the present one: a person changed it, or a
 * new day or month has begun. They ask again if it is too little.
 */
export function reconsiderBudgets(tx: Tx, deps: AnsweringDeps, { now, timezone }: { now: number; timezone: string }): void {
  withdrawBudgets(tx, deps, ({ jobId, args, budget }) => {
    const asked = args as BudgetKey
    const limits = readSpendingLimits(tx, jobId, now, timezone)
    const present = limits.find(({ scope, owner, period }) => scope === asked.scope && owner === asked.owner && period === asked.period)
    return present === undefined || toUsd(present.limitMicros) !== budget!.limitUsd
  })
}

/** Lets jobs that wait for money check again, of one agent or of all: their next call may cost less. They ask again if it does not. */
export function retryBudgets(tx: Tx, deps: AnsweringDeps, agentId?: string): void {
  withdrawBudgets(tx, deps, (approval) => agentId === undefined || approval.agentId === agentId)
}

function withdrawBudgets(tx: Tx, deps: AnsweringDeps, which: (approval: Approval) => boolean): void {
  const waiting = selectApprovals(tx)
    .where(and(isPending, eq(approvals.kind, 'budget')))
    .all()
  for (const other of waiting.filter(which)) withdrawAndWake(tx, deps, other)
}

/**
 * The calls that asked are gone, so their jobs go on without an answer. Without an id, all of them: this process made none of the
 * calls.
 */
export function withdrawQuestionsOfServers(tx: Tx, deps: AnsweringDeps, approvalId?: string): void {
  const asked = selectApprovals(tx)
    .where(and(isPending, eq(approvals.kind, 'question'), filterBy(approvals.id, approvalId)))
    .all()
  for (const approval of asked) if (approval.question?.server !== undefined) withdrawAndWake(tx, deps, approval)
}

function withdrawAndWake(tx: Tx, deps: AnsweringDeps, approval: Approval): void {
  tx.update(approvals).set({ status: 'withdrawn' }).where(eq(approvals.id, approval.id)).run()
  tx.emit({ type: 'approval.withdrawn', payload: eventOf(approval) })
  deps.jobs.wake(tx, approval.jobId)
}

/** Refuses what nobody answered in time and wakes the jobs, so that their models read it. Returns how many. */
export function expireApprovals(tx: Tx, deps: AnsweringDeps): number {
  const due = EXPIRED(tx).all({ now: deps.deadlines.now() })
  for (const { id } of due) {
    const approval = findApproval(tx, id)!
    tx.update(approvals).set({ status: 'expired' }).where(eq(approvals.id, approval.id)).run()
    tx.emit({ type: 'approval.expired', payload: eventOf(approval) })
    deps.jobs.wake(tx, approval.jobId)
  }
  return due.length
}

const EXPIRED = prepareOnce((db: Db) =>
  db
    .select({ id: approvals.id })
    .from(approvals)
    .where(and(isPending, lte(approvals.expiresAt, sql.placeholder('now'))))
    .orderBy(approvals.expiresAt),
)

const WITHDRAW = prepareOnce((tx: Tx) =>
  tx
    .update(approvals)
    .set({ status: 'withdrawn' })
    .where(and(eq(approvals.jobSeq, sql.placeholder('seq')), isPending))
    .returning({ approvalId: approvals.id, kind: approvals.kind }),
)

/** Withdraws what an ended job still asks, in the transaction that ends it: no answer is needed any more. */
export function withdrawApprovals(tx: Tx, { seq, id: jobId, agentId, conversationId }: MovedJob): void {
  for (const one of WITHDRAW(tx).all({ seq })) tx.emit({ type: 'approval.withdrawn', payload: { ...one, jobId, agentId, conversationId } })
}

/** After the clock was set: pending approvals keep the time that they had left. */
export function moveExpiry(tx: Tx, byMs: number): void {
  tx.update(approvals)
    .set({ expiresAt: sql`${approvals.expiresAt} + ${byMs}` })
    .where(isPending)
    .run()
}

function eventOf({ id, jobId, agentId, conversationId, kind }: Approval) {
  return { approvalId: id, jobId, agentId, conversationId, kind }
}
