import { and, count, desc, eq, isNotNull, lt, sql, type SQL } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { filterBy, prepareOnce } from '../../platform/db/statements.ts'
import type { Approval, ApprovalStatus, ResolveApproval } from '../../contract/approvals.ts'
import type { CallRisk, RecordedDecision } from '../../contract/rules.ts'
import { AppError } from '../../lib/errors.ts'
import { agents } from '../agents/agents-table.ts'
import { decodeSeqCursor, pageOf } from '../cursors.ts'
import type { Claim } from '../jobs/claim-job.ts'
import { jobs, jobSteps } from '../jobs/jobs-table.ts'
import {
  answerApproval,
  expireApprovals,
  moveExpiry,
  reconsiderBudgets,
  retryBudgets,
  withdrawQuestionsOfServers,
  type AnsweringDeps,
} from './answer-approval.ts'
import { approvals } from './approvals-table.ts'
import { askApproval, type NewApproval } from './ask-approval.ts'
import { findDecision, listDecisions, recordDecision } from './decisions.ts'
import { readTaints } from './taints.ts'
import { risksOf } from './call-risks.ts'
import { findApproval, isPending, ofAgent, ofJob, selectApprovals, SHOWN } from './find-approval.ts'
import type { Grants } from './policy.ts'

export type ApprovalStore = ReturnType<typeof createApprovals>

/** Called in the transaction that asks. */
export type ApprovalHooks = { asked(tx: Tx, approvalId: string): void }

export function createApprovals({
  hooks,
  ...given
}: Omit<AnsweringDeps, 'deadlines'> & { deadlines?: AnsweringDeps['deadlines']; hooks?: ApprovalHooks }) {
  const deps: AnsweringDeps = { deadlines: given.clock, ...given }
  return {
    /** Records the decision that asked, if there is one. Returns the approval's id. */
    ask(tx: Tx, claim: Claim, approval: NewApproval, decision?: RecordedDecision): string {
      const id = askApproval(tx, deps, claim, approval)
      if (decision !== undefined) recordDecision(tx, claim.seq, decision)
      hooks?.asked(tx, id)
      return id
    },
    answer: (tx: Tx, given: ResolveApproval) => answerApproval(tx, deps, given),
    reconsiderBudgets: (tx: Tx, at: { now: number; timezone: string }) => reconsiderBudgets(tx, deps, at),
    retryBudgets: (tx: Tx, agentId?: string) => retryBudgets(tx, deps, agentId),
    withdrawQuestionsOfServers: (tx: Tx, approvalId?: string) => withdrawQuestionsOfServers(tx, deps, approvalId),
    expireDue: (tx: Tx) => expireApprovals(tx, deps),
    moveExpiry,
    recordDecision: (tx: Tx, claim: Claim, decision: RecordedDecision) => recordDecision(tx, claim.seq, decision),

    findDecision,
    listDecisions,
    readTaints,
    findApproval,
    /** What the policy or the agent asked about a call. */
    findLatestOfCall: (db: Db, jobSeq: number, callId: string): Approval | null => LATEST_OF_CALL(db).get({ jobSeq, callId }) ?? null,
    /** What a server asked during a call. */
    findLatestOfServer: (db: Db, jobSeq: number, callId: string): Approval | null => LATEST_OF_SERVER(db).get({ jobSeq, callId }) ?? null,
    findLatestBudget: (db: Db, jobSeq: number): Approval | null => LATEST_BUDGET(db).get({ jobSeq }) ?? null,
    listGrants,
    countAgain,
    countPending,
    listPendingOf,
    list: listApprovals,
    /** Throws AppError approval_not_found. */
    get(db: Db, approvalId: string): Approval {
      const approval = findApproval(db, approvalId)
      if (approval === null) throw new AppError('approval_not_found')
      return approval
    },
  }
}

const prepareLatest = (which: SQL) =>
  prepareOnce((db: Db) => selectApprovals(db).where(and(isOfJob, which)).orderBy(desc(approvals.seq)).limit(1))
const isOfJob = eq(approvals.jobSeq, sql.placeholder('jobSeq'))
const isOfCall = eq(approvals.callId, sql.placeholder('callId'))
const server = sql`json_extract(${approvals.question}, '$.server')`
const LATEST_OF_CALL = prepareLatest(sql`${isOfCall} AND ${server} IS NULL`)
const LATEST_OF_SERVER = prepareLatest(sql`${isOfCall} AND ${server} IS NOT NULL`)
const LATEST_BUDGET = prepareLatest(eq(approvals.kind, 'budget'))

const GRANTED = prepareOnce((db: Db) =>
  db
    .select({ tool: approvals.tool, facts: approvals.facts })
    .from(approvals)
    .where(
      and(isOfJob, eq(approvals.status, 'approved'), eq(approvals.remember, 'job'), isNotNull(approvals.tool), isNotNull(approvals.facts)),
    ),
)

/** The tools that a person allowed for the rest of this job, each with the risks of the calls that were shown. */
function listGrants(db: Db, jobSeq: number): Grants {
  const grants = new Map<string, Set<CallRisk>>()
  for (const { tool, facts } of GRANTED(db).all({ jobSeq })) {
    const risks = grants.get(tool!) ?? new Set()
    for (const risk of risksOf(facts!)) risks.add(risk)
    grants.set(tool!, risks)
  }
  return grants
}

const STARTS_OF_CALL = prepareOnce((db: Db) =>
  db
    .select({ n: count() })
    .from(jobSteps)
    .where(
      and(
        eq(jobSteps.jobSeq, sql.placeholder('jobSeq')),
        eq(jobSteps.callId, sql.placeholder('callId')),
        eq(jobSteps.kind, 'tool_started'),
      ),
    ),
)

const AGAINS_OF_CALL = prepareOnce((db: Db) =>
  db
    .select({ n: count() })
    .from(approvals)
    .where(and(isOfJob, isOfCall, eq(approvals.kind, 'unknown_outcome'), eq(approvals.answer, 'again'))),
)

/** How often a call was started, and how often a person allowed it to run again. */
function countAgain(db: Db, jobSeq: number, callId: string): { starts: number; agains: number } {
  return { starts: STARTS_OF_CALL(db).get({ jobSeq, callId })!.n, agains: AGAINS_OF_CALL(db).get({ jobSeq, callId })!.n }
}

const PENDING = prepareOnce((db: Db) => db.select({ n: count() }).from(approvals).where(isPending))

function countPending(db: Db, entityId?: string): number {
  if (entityId === undefined) return PENDING(db).get()!.n
  const isOfEntity = and(isPending, eq(approvals.entityId, entityId))
  return db.select({ n: count() }).from(approvals).where(isOfEntity).get()!.n
}

const PENDING_OF_JOB = prepareOnce((db: Db) =>
  selectApprovals(db)
    .where(and(eq(jobs.id, sql.placeholder('jobId')), isPending))
    .orderBy(approvals.seq),
)

function listPendingOf(db: Db, jobId: string): Approval[] {
  return PENDING_OF_JOB(db).all({ jobId })
}

export type ApprovalFilter = {
  status?: ApprovalStatus
  jobId?: string
  entityId?: string | undefined
  cursor?: string
  limit: number
}

/** Newest first. Throws AppError invalid_request for a cursor of another list. */
export function listApprovals(
  db: Db,
  { status, jobId, entityId, cursor, limit }: ApprovalFilter,
): { approvals: Approval[]; pending: number; nextCursor: string | null } {
  const before = decodeSeqCursor(cursor)
  const isPlain = status === 'pending' && jobId === undefined && entityId === undefined
  const rows = isPlain
    ? PAGE_OF_PENDING(db).all({ before, limit: limit + 1 })
    : selectPage(db)
        .where(
          and(
            lt(approvals.seq, before),
            filterBy(approvals.status, status),
            jobId === undefined ? undefined : eq(approvals.jobSeq, seqOf(db, jobId)),
            filterBy(approvals.entityId, entityId),
          ),
        )
        .orderBy(desc(approvals.seq))
        .limit(limit + 1)
        .all()
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { approvals: page.rows.map(({ approval }) => approval), pending: countPending(db, entityId), nextCursor: page.nextCursor }
}

function selectPage(db: Db) {
  return db.select({ approval: SHOWN, seq: approvals.seq }).from(approvals).innerJoin(jobs, ofJob).innerJoin(agents, ofAgent)
}

/** Read after every change, for the tray and the navigation. */
const PAGE_OF_PENDING = prepareOnce((db: Db) =>
  selectPage(db)
    .where(and(lt(approvals.seq, sql.placeholder('before')), isPending))
    .orderBy(desc(approvals.seq))
    .limit(sql.placeholder('limit')),
)

function seqOf(db: Db, jobId: string) {
  return db.select({ seq: jobs.seq }).from(jobs).where(eq(jobs.id, jobId))
}
