import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Approval } from '../../contract/approvals.ts'
import { agents } from '../agents/agents-table.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { approvals } from './approvals-table.ts'

const { seq: _seq, jobSeq: _jobSeq, entityId: _entityId, ...columns } = getTableColumns(approvals)

/** An approval as the API returns it. */
export const SHOWN = {
  ...columns,
  jobId: jobs.id,
  jobTitle: jobs.title,
  channel: jobs.channel,
  conversationId: jobs.conversationId,
  agentId: jobs.agentId,
  agentName: agents.name,
  agentAvatar: agents.avatar,
}

export function selectApprovals(db: Db) {
  return db.select(SHOWN).from(approvals).innerJoin(jobs, ofJob).innerJoin(agents, ofAgent)
}

export const ofJob = eq(jobs.seq, approvals.jobSeq)
export const ofAgent = eq(agents.id, jobs.agentId)

export function findApproval(db: Db, approvalId: string): Approval | null {
  return BY_ID(db).get({ approvalId }) ?? null
}

const BY_ID = prepareOnce((db: Db) => selectApprovals(db).where(eq(approvals.id, sql.placeholder('approvalId'))))

/** Written out, because a bound value would not match the condition of the partial indices. */
export const isPending = sql`${approvals.status} = 'pending'`
