import type { Db, Tx } from '../../platform/db/database.ts'
import { keepTaintsOfTurns } from '../approvals/taints.ts'
import { deleteConversation } from '../conversations/conversations.ts'
import type { JobStore } from '../jobs/job-store.ts'

/** Where a pass over the old jobs has come to. */
export type Place = { finishedAt: number; seq: number }
export const START: Place = { finishedAt: -1, seq: -1 }

/** Jobs examined and messages deleted in one transaction. */
const AT_ONCE = 50
const MESSAGES_AT_ONCE = 500
/** Steps deleted in one transaction, or one job with more. */
const STEPS_AT_ONCE = 400
/** The longest budget period, with a margin for time zones. */
const BUDGET_PERIOD_MS = 33 * 86_400_000

const DUE_CONVERSATION = `
  SELECT id FROM conversations WHERE updated_at < ? AND NOT EXISTS
    (SELECT 1 FROM agent_jobs WHERE conversation_id = conversations.id AND (finished_at IS NULL OR finished_at >= ?))
  ORDER BY updated_at LIMIT 1`
const OLDEST_MESSAGES = 'DELETE FROM messages WHERE seq IN (SELECT seq FROM messages WHERE conversation_id = ? ORDER BY seq LIMIT ?)'

/**
 * Deletes a conversation that was not used since `before`, or some of its messages if it has many. Its jobs stay for
 * `pruneJobs`. A conversation in use keeps all its turns: later turns were made from them, so their taints must stay known.
 * Returns false when there is none.
 */
export function pruneConversation(tx: Tx, { jobs, before }: { jobs: Pick<JobStore, 'cancelAllOf'>; before: number }): boolean {
  const due = tx.prepare<{ id: string }>(DUE_CONVERSATION).get(before, before)
  if (due === undefined) return false
  const { changes } = tx.prepare(OLDEST_MESSAGES).run(due.id, MESSAGES_AT_ONCE)
  if (changes === MESSAGES_AT_ONCE) return true
  keepTaintsOfTurns(tx, due.id)
  deleteConversation(tx, { jobs }, due.id)
  return true
}

/**
 * A job stays while anything may still need it: a parent job (it reads the result, and its taints), a message on its
 * way, a budget that its approval extended, the last run of a schedule, or the folder of a coding program. The newest job stays
 * because its number must not be given again.
 */
const EXAMINED = `
  SELECT job.seq, job.finished_at AS finishedAt, job.steps, (
    job.seq < (SELECT max(seq) FROM agent_jobs)
    AND NOT EXISTS (SELECT 1 FROM agent_jobs AS parent WHERE parent.id = job.parent_job_id
      AND (parent.finished_at IS NULL OR parent.finished_at >= @before))
    AND NOT EXISTS (SELECT 1 FROM code_tasks WHERE code_tasks.job_seq = job.seq AND code_tasks.folder IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.job_id = job.id AND outbox.state = 'pending')
    AND NOT EXISTS (SELECT 1 FROM occurrences AS run JOIN schedules ON schedules.seq = run.schedule_seq
      WHERE run.job_seq = job.seq AND schedules.last_run_seq = run.seq)
    AND NOT EXISTS (SELECT 1 FROM approvals JOIN budget_extensions AS extension ON extension.approval_id = approvals.id
      WHERE approvals.job_seq = job.seq AND extension.scope <> 'job' AND approvals.answered_at > @budgetsSince)
  ) AS isDue
  FROM agent_jobs AS job
  WHERE job.finished_at IS NOT NULL AND job.conversation_id IS NULL AND job.finished_at < @before
    AND (job.finished_at, job.seq) > (@finishedAt, @seq)
  ORDER BY job.finished_at, job.seq LIMIT @limit`

type Examined = Place & { steps: number; isDue: 0 | 1 }

/**
 * Jobs that go first: its children, and the delivery before it in its webhook's inbox, which is read along that chain. Asked just
 * before the deletion, because they often go in the same transaction.
 */
const GOES_LATER = `
  SELECT 1 FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq WHERE job.seq = ? AND (
    EXISTS (SELECT 1 FROM agent_jobs AS child WHERE child.parent_job_id = job.id)
    OR EXISTS (SELECT 1 FROM job_texts AS former WHERE former.job_seq = texts.before_job_seq))`

/**
 * Examines the next jobs that ended before `before`, the oldest first, and deletes those that nothing needs, with their steps.
 * Returns how many it deleted and where to continue: null after the last.
 */
export function pruneJobs(
  tx: Tx,
  { before, now, after }: { before: number; now: number; after: Place },
): { deleted: number; next: Place | null } {
  const rows = listExamined(tx, { before, now, after })
  const goesLater = tx.prepare(GOES_LATER)
  let [deleted, steps, place] = [0, 0, after]
  for (const row of rows) {
    const isDue = row.isDue === 1 && goesLater.get(row.seq) === undefined
    if (isDue && deleted > 0 && steps + row.steps > STEPS_AT_ONCE) return { deleted, next: place }
    place = { finishedAt: row.finishedAt, seq: row.seq }
    if (!isDue) continue
    deleteJob(tx, row.seq)
    deleted++
    steps += row.steps
  }
  return { deleted, next: rows.length < AT_ONCE ? null : place }
}

function listExamined(db: Db, { before, now, after }: { before: number; now: number; after: Place }): Examined[] {
  return db.prepare<Examined>(EXAMINED).all({ before, budgetsSince: now - BUDGET_PERIOD_MS, ...after, limit: AT_ONCE })
}

/** Sums by day and by quarter of an hour stay as they are. This keeps what only the steps say. */
const KEEP_SPEND = `
  INSERT INTO spend_of_deleted (bucket_at, agent_id, channel, provider_id, model, cost_micros, input_tokens, output_tokens,
    cached_tokens, unpriced_calls, jobs, model_jobs)
  SELECT step.created_at - step.created_at % 900000, job.agent_id, job.channel, step.provider_id, step.model, sum(step.cost_micros),
    sum(step.input_tokens), sum(step.output_tokens), sum(step.cached_tokens), sum(1 - step.priced), sum(step.first_of_job),
    sum(step.first_of_model)
  FROM agent_jobs AS job CROSS JOIN job_steps AS step ON step.job_seq = job.seq
  WHERE job.seq = ? AND step.kind = 'reply' GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT DO UPDATE SET cost_micros = cost_micros + excluded.cost_micros, input_tokens = input_tokens + excluded.input_tokens,
    output_tokens = output_tokens + excluded.output_tokens, cached_tokens = cached_tokens + excluded.cached_tokens,
    unpriced_calls = unpriced_calls + excluded.unpriced_calls, jobs = jobs + excluded.jobs, model_jobs = model_jobs + excluded.model_jobs`

/** The rest of a job goes with its row. */
const DELETIONS = [
  KEEP_SPEND,
  'DELETE FROM client_turns WHERE job_seq = ?',
  'DELETE FROM webhook_refusals WHERE job_seq = ?',
  'DELETE FROM occurrences WHERE job_seq = ?',
  'UPDATE agent_jobs SET retry_of_job_id = NULL WHERE retry_of_job_id = (SELECT id FROM agent_jobs WHERE seq = ?)',
  'DELETE FROM job_search WHERE rowid = ?',
  'DELETE FROM agent_jobs WHERE seq = ?',
]

function deleteJob(tx: Tx, seq: number): void {
  for (const sql of DELETIONS) tx.prepare(sql).run(seq)
}
