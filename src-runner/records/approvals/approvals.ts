import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Approval, ApprovalStatus, ResolveApproval } from '../../contract/approvals.ts'
import { CallFacts, type CallMatter, type RecordedDecision } from '../../contract/rules.ts'
import { AppError } from '../../kit/errors.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import type { Claim } from '../jobs/claim.ts'
import { answerApproval, expireApprovals, moveExpiry, reconsiderBudgets, type AnsweringDeps } from './answering.ts'
import { approvalOf, findApproval, SELECT_APPROVAL, type ApprovalRow } from './approval-rows.ts'
import { askApproval, type NewApproval } from './asking.ts'
import { findDecision, listDecisions, recordDecision } from './decisions.ts'
import { readMarks } from './marks.ts'
import { mattersOf } from './matters.ts'
import type { Grants } from './policy.ts'

export type ApprovalStore = ReturnType<typeof createApprovals>

/** What other records write when a person is asked: in the transaction of the question. */
export type ApprovalHooks = { asked(tx: Tx, approvalId: string): void }

/** Everything that is asked of a person, and what the policy said of each call. What throws is said where it is written. */
export function createApprovals({
  hooks,
  ...given
}: Omit<AnsweringDeps, 'deadlines'> & { deadlines?: AnsweringDeps['deadlines']; hooks?: ApprovalHooks }) {
  const deps: AnsweringDeps = { deadlines: given.clock, ...given }
  return {
    /** Together with the decision that asked, if there is one. Answers the approval's id. */
    ask(tx: Tx, claim: Claim, asked: NewApproval, decision?: RecordedDecision): string {
      const id = askApproval(tx, deps, claim, asked)
      if (decision !== undefined) recordDecision(tx, claim.seq, decision)
      hooks?.asked(tx, id)
      return id
    },
    answer: (tx: Tx, given: ResolveApproval) => answerApproval(tx, deps, given),
    reconsiderBudgets: (tx: Tx) => reconsiderBudgets(tx, deps),
    expireDue: (tx: Tx) => expireApprovals(tx, deps),
    moveExpiry,
    recordDecision: (tx: Tx, claim: Claim, decision: RecordedDecision) => recordDecision(tx, claim.seq, decision),

    findDecision,
    listDecisions,
    readMarks,
    findApproval,
    findLatestOfCall,
    findLatestBudget,
    listGrants,
    countAgain,
    countPending,
    listPendingOf,
    list: listApprovals,
    /** Throws AppError approval_not_found. */
    get(db: Db, approvalId: string): Approval {
      const approval = findApproval(db, approvalId)
      if (approval === null) throw new AppError('approval_not_found', 'There is no such approval.')
      return approval
    },
  }
}

/** What was last asked about a call; null: nothing yet. */
function findLatestOfCall(db: Db, jobSeq: number, callId: string): Approval | null {
  const row = db
    .prepare<ApprovalRow>(`${SELECT_APPROVAL} WHERE approval.job_seq = ? AND approval.call_id = ? ORDER BY approval.seq DESC LIMIT 1`)
    .get(jobSeq, callId)
  return row === undefined ? null : approvalOf(row)
}

function findLatestBudget(db: Db, jobSeq: number): Approval | null {
  const row = db
    .prepare<ApprovalRow>(`${SELECT_APPROVAL} WHERE approval.job_seq = ? AND approval.kind = 'budget' ORDER BY approval.seq DESC LIMIT 1`)
    .get(jobSeq)
  return row === undefined ? null : approvalOf(row)
}

/** The tools that a person allowed for the rest of this job, each with what mattered about the calls that they saw. */
function listGrants(db: Db, jobSeq: number): Grants {
  const rows = db
    .prepare<{ tool: string; facts: string }>(
      "SELECT tool, facts FROM approvals WHERE job_seq = ? AND status = 'approved' AND remember = 'job' AND facts IS NOT NULL",
    )
    .all(jobSeq)
  const grants = new Map<string, Set<CallMatter>>()
  for (const { tool, facts } of rows) {
    const matters = grants.get(tool) ?? new Set()
    for (const matter of mattersOf(CallFacts.parse(JSON.parse(facts)))) matters.add(matter)
    grants.set(tool, matters)
  }
  return grants
}

/** How often a call was written down as started, and how often a person said that it may run again. */
function countAgain(db: Db, jobSeq: number, callId: string): { starts: number; agains: number } {
  return db
    .prepare<{ starts: number; agains: number }>(
      `SELECT (SELECT count(*) FROM job_steps WHERE job_seq = ? AND call_id = ? AND kind = 'tool_started') AS starts,
         (SELECT count(*) FROM approvals WHERE job_seq = ? AND call_id = ? AND kind = 'unknown_outcome' AND answer = 'again') AS agains`,
    )
    .get(jobSeq, callId, jobSeq, callId)!
}

function countPending(db: Db): number {
  return db.prepare<{ pending: number }>("SELECT count(*) AS pending FROM approvals WHERE status = 'pending'").get()!.pending
}

function listPendingOf(db: Db, jobId: string): Approval[] {
  return db
    .prepare<ApprovalRow>(
      `${SELECT_APPROVAL} WHERE approval.job_seq = (SELECT seq FROM agent_jobs WHERE id = ?) AND approval.status = 'pending' ORDER BY approval.seq`,
    )
    .all(jobId)
    .map(approvalOf)
}

const Position = z.tuple([z.number().int().positive()])

/** Newest first. Throws AppError invalid_request for a foreign cursor. */
function listApprovals(
  db: Db,
  filter: { status?: ApprovalStatus; jobId?: string; cursor?: string; limit: number },
): { approvals: Approval[]; pending: number; nextCursor: string | null } {
  const before = filter.cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(filter.cursor, Position)[0]
  const conditions = ['approval.seq < ?']
  const params: (string | number)[] = [before]
  if (filter.status !== undefined) {
    conditions.push('approval.status = ?')
    params.push(filter.status)
  }
  if (filter.jobId !== undefined) {
    conditions.push('approval.job_seq = (SELECT seq FROM agent_jobs WHERE id = ?)')
    params.push(filter.jobId)
  }
  const rows = db
    .prepare<ApprovalRow>(`${SELECT_APPROVAL} WHERE ${conditions.join(' AND ')} ORDER BY approval.seq DESC LIMIT ?`)
    .all(...params, filter.limit + 1)
  const page = pageOf(rows, filter.limit, (last) => [last.seq])
  return { approvals: page.rows.map(approvalOf), pending: countPending(db), nextCursor: page.nextCursor }
}
