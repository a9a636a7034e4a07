import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import { CallFacts, Decision, Marks, type RecordedDecision } from '../../contract/rules.ts'
import { AppError } from '../../kit/errors.ts'

type DecisionRow = { call_id: string; tool: string; facts: string; decision: string; marks: string; decided_at: number }

/** The last decision about a call stands: a call that is decided anew after a crash may be decided otherwise. */
export function recordDecision(tx: Tx, jobSeq: number, { callId, tool, facts, decision, marks, decidedAt }: RecordedDecision): void {
  tx.prepare(
    `INSERT INTO decisions (job_seq, call_id, tool, facts, decision, marks, decided_at) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET facts = excluded.facts, decision = excluded.decision, marks = excluded.marks, decided_at = excluded.decided_at`,
  ).run(jobSeq, callId, tool, JSON.stringify(facts), JSON.stringify(decision), JSON.stringify(marks), decidedAt)
}

/** What was decided about this call, or null. */
export function findDecision(db: Db, jobSeq: number, callId: string): RecordedDecision | null {
  const row = db.prepare<DecisionRow>('SELECT * FROM decisions WHERE job_seq = ? AND call_id = ?').get(jobSeq, callId)
  return row === undefined ? null : decisionOf(row)
}

/** In the order of the calls. Throws AppError job_not_found. */
export function listDecisions(db: Db, jobId: string): RecordedDecision[] {
  const job = db.prepare<{ seq: number }>('SELECT seq FROM agent_jobs WHERE id = ?').get(jobId)
  if (job === undefined) throw new AppError('job_not_found', 'There is no such job.')
  return db.prepare<DecisionRow>('SELECT * FROM decisions WHERE job_seq = ? ORDER BY decided_at, rowid').all(job.seq).map(decisionOf)
}

function decisionOf(row: DecisionRow): RecordedDecision {
  return {
    callId: row.call_id,
    tool: row.tool,
    facts: CallFacts.parse(JSON.parse(row.facts)),
    decision: Decision.parse(JSON.parse(row.decision)),
    marks: Marks.parse(JSON.parse(row.marks)),
    decidedAt: row.decided_at,
  }
}
