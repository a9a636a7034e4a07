import { and, eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
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
  RECORD(tx).run({ jobSeq, callId, tool, ...decided })
}

const given = sql.placeholder

const RECORD = prepareOnce((tx: Tx) =>
  tx
    .insert(decisions)
    .values({
      jobSeq: given('jobSeq'),
      callId: given('callId'),
      tool: given('tool'),
      facts: given('facts'),
      decision: given('decision'),
      taints: given('taints'),
      decidedAt: given('decidedAt'),
    })
    .onConflictDoUpdate({
      target: [decisions.jobSeq, decisions.callId],
      set: {
        facts: sql`excluded.facts`,
        decision: sql`excluded.decision`,
        taints: sql`excluded.taints`,
        decidedAt: sql`excluded.decided_at`,
      },
    }),
)

export function findDecision(db: Db, jobSeq: number, callId: string): RecordedDecision | null {
  return OF_CALL(db).get({ jobSeq, callId }) ?? null
}

const OF_CALL = prepareOnce((db: Db) =>
  db
    .select(SHOWN)
    .from(decisions)
    .where(and(eq(decisions.jobSeq, given('jobSeq')), eq(decisions.callId, given('callId')))),
)

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
