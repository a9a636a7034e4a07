import { and, eq, gt, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Job, JobSummary, Step } from '../../contract/jobs.ts'
import type { ModelRef } from '../../contract/agents.ts'
import { DeliveryContext } from '../../contract/triggers.ts'
import { agents } from '../agents/agents-table.ts'
import { jobs, jobSteps, jobTexts } from './jobs-table.ts'
import { wrapUntrusted } from './untrusted-content.ts'

const COLUMNS = {
  id: jobs.id,
  entityId: jobs.entityId,
  agentId: jobs.agentId,
  agentName: agents.name,
  channel: jobs.channel,
  status: jobs.status,
  title: jobs.title,
  // In SQL, because code tasks know of jobs, and not the other way.
  isCodeTask: sql`EXISTS (SELECT 1 FROM code_tasks WHERE code_tasks.job_seq = agent_jobs.seq)`.mapWith(Boolean),
  conversationId: jobs.conversationId,
  triggerId: jobs.triggerId,
  scheduleId: jobs.scheduleId,
  parentJobId: jobs.parentJobId,
  retryOfJobId: jobs.retryOfJobId,
  retriedByJobId: sql<
    string | null
  >`(SELECT retry.id FROM agent_jobs AS retry WHERE retry.retry_of_job_id = agent_jobs.id ORDER BY retry.seq DESC LIMIT 1)`,
  // A job that a due time made has the id of its run. A retry also belongs to the schedule, but is not that run.
  occurrenceId: sql<
    string | null
  >`CASE WHEN agent_jobs.schedule_id IS NOT NULL AND agent_jobs.retry_of_job_id IS NULL THEN agent_jobs.id END`,
  error: jobs.error,
  errorMessage: jobs.errorMessage,
  model: { providerId: jobs.providerId, model: jobs.model },
  inputTokens: jobs.inputTokens,
  outputTokens: jobs.outputTokens,
  cachedTokens: jobs.cachedTokens,
  costUsd: jobs.costUsd,
  childrenCostUsd: jobs.childrenCostUsd,
  priced: sql`agent_jobs.unpriced_calls = 0`.mapWith(Boolean),
  turns: jobs.turns,
  toolCalls: jobs.toolCalls,
  attempt: jobs.attempt,
  workingMs: jobs.workingMs,
  workingSince: jobs.heartbeatAt,
  cancelRequested: sql`agent_jobs.cancel_requested_at IS NOT NULL`.mapWith(Boolean),
  noOp: jobs.noOp,
  createdAt: jobs.createdAt,
  startedAt: jobs.startedAt,
  finishedAt: jobs.finishedAt,
}

export const selectSummaries = (db: Db) =>
  db
    .select({ ...COLUMNS, resultPreview: jobs.resultPreview })
    .from(jobs)
    .innerJoin(agents, eq(agents.id, jobs.agentId))

export const selectJobs = (db: Db) =>
  db
    .select({
      ...COLUMNS,
      task: jobTexts.task,
      context: jobTexts.context,
      result: jobTexts.result,
      output: jobTexts.output,
    })
    .from(jobs)
    .innerJoin(agents, eq(agents.id, jobs.agentId))
    .innerJoin(jobTexts, eq(jobTexts.jobSeq, jobs.seq))

type SummaryRow = NonNullable<ReturnType<ReturnType<typeof selectSummaries>['get']>>
type JobRow = NonNullable<ReturnType<ReturnType<typeof selectJobs>['get']>>

/** Changes the row itself, because reading a job is hot. */
export function summaryOf(row: SummaryRow): JobSummary {
  return Object.assign(row, { model: modelOf(row.model) })
}

export function jobOf(row: JobRow): Job {
  const { task, plainTask } = row.channel === 'webhook' ? taskOfDelivery(row.task, row.context) : { task: row.task, plainTask: null }
  return Object.assign(row, { model: modelOf(row.model), task, plainTask })
}

/** The task as the model reads it, and as a person reads it. */
export function taskOfDelivery(text: string, context: Record<string, unknown> | null): Pick<Job, 'task' | 'plainTask'> {
  const wrapper = DeliveryContext.safeParse(context).data?.wrapper
  return wrapper === undefined ? { task: text, plainTask: null } : { task: wrapUntrusted({ text, wrapper }), plainTask: text }
}

function modelOf({ providerId, model }: SummaryRow['model']): ModelRef | null {
  return providerId === null || model === null ? null : { providerId, model }
}

/** A failed call is looked up, because a person or the policy may have refused it. */
const REFUSED = sql`CASE WHEN job_steps.ok = 0 THEN
    EXISTS (SELECT 1 FROM decisions WHERE job_seq = job_steps.job_seq AND call_id = job_steps.call_id AND decision ->> 'verdict' = 'deny')
    OR EXISTS (SELECT 1 FROM approvals WHERE job_seq = job_steps.job_seq AND call_id = job_steps.call_id AND status IN ('rejected', 'expired'))
  ELSE 0 END`

const { seq, kind, attempt, createdAt, durationMs, callId, name, ok, text, reasoning, toolCalls } = jobSteps
const { providerId, model, inputTokens, outputTokens, cachedTokens, costUsd, priced, estimated, interrupted, askedBy } = jobSteps

export const STEPS_AFTER = prepareOnce((db: Db) =>
  db
    .select({
      seq,
      kind,
      attempt,
      createdAt,
      durationMs,
      callId,
      name,
      ok,
      text,
      reasoning,
      toolCalls,
      providerId,
      model,
      inputTokens,
      outputTokens,
      cachedTokens,
      costUsd,
      priced,
      estimated,
      interrupted,
      askedBy,
      refused: REFUSED.mapWith(Boolean),
    })
    .from(jobSteps)
    .where(and(eq(jobSteps.jobSeq, sql.placeholder('jobSeq')), gt(seq, sql.placeholder('after'))))
    .orderBy(seq),
)

type StepRow = NonNullable<ReturnType<ReturnType<typeof STEPS_AFTER>['get']>>

/** CHECKs of the table guarantee which columns are set for each kind. */
export function stepOf(row: StepRow): Step {
  const { seq, attempt, createdAt, durationMs } = row
  const head = { seq, attempt, createdAt, durationMs }
  switch (row.kind) {
    case 'reply':
      return {
        ...head,
        kind: 'reply',
        text: row.text,
        ...(row.reasoning === null ? {} : { reasoning: row.reasoning }),
        toolCalls: row.toolCalls!,
        model: { providerId: row.providerId!, model: row.model! },
        inputTokens: row.inputTokens!,
        outputTokens: row.outputTokens!,
        cachedTokens: row.cachedTokens!,
        costUsd: row.costUsd!,
        priced: row.priced!,
        estimated: row.estimated!,
        interrupted: row.interrupted!,
        ...(row.askedBy === null ? {} : { askedBy: row.askedBy }),
      }
    case 'tool_started':
      return { ...head, kind: 'tool_started', callId: row.callId!, name: row.name! }
    case 'tool_result':
      return {
        ...head,
        kind: 'tool_result',
        callId: row.callId!,
        name: row.name!,
        ok: row.ok!,
        output: row.text,
        ...(row.refused ? { refused: true } : {}),
      }
  }
}
