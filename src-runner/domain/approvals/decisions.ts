import { and, eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { RecordedDecision } from '../../contract/rules.ts'
import { AppError } from '../../lib/errors.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { decisions } from './approvals-table.ts'

const SHOWN = {
  callId: decisions.callId,
  tool: decisions.tool,
  facts: decisions.facts,
  decision: decisions.decision,
  taints: decisions.taints,
  decidedAt: decisions.decidedAt,
}

/** Replaces an earlier decision about the same call: a call may be decided again after a crash. */
export function recordDecision(tx: Tx, jobSeq: number, { callId, tool, ...decided }: RecordedDecision): void {
  tx.insert(decisions)
    .values({ jobSeq, callId, tool, ...decided })
    .onConflictDoUpdate({ target: [decisions.jobSeq, decisions.callId], set: decided })
    .run()
}

export function findDecision(db: Db, jobSeq: number, callId: string): RecordedDecision | null {
  const decided = db
    .select(SHOWN)
    .from(decisions)
    .where(and(eq(decisions.jobSeq, jobSeq), eq(decisions.callId, callId)))
    .get()
  return decided ?? null
}

/** In the order of the calls. Throws AppError job_not_found. */
export function listDecisions(db: Db, jobId: string): RecordedDecision[] {
  const job = db.select({ seq: jobs.seq }).from(jobs).where(eq(jobs.id, jobId)).get()
  if (job === undefined) throw new AppError('job_not_found')
  return db
    .select(SHOWN)
    .from(decisions)
    .where(eq(decisions.jobSeq, job.seq))
    .orderBy(decisions.decidedAt, sql`rowid`)
    .all()
}
