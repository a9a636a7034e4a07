import { z } from 'zod'
import type { Job, JobChannel, JobStatus, JobSummary, Step } from '../../contract/jobs.ts'
import { JobOutput, ToolCall } from '../../contract/jobs.ts'
import type { ModelRef } from '../../contract/agents.ts'
import type { Said } from '../../contract/said.ts'
import { DeliveryContext } from '../../contract/triggers.ts'
import { readSaid } from '../../kit/said.ts'
import { toUsd } from '../micros.ts'
import { inEnvelope } from './envelope.ts'

export type SummaryRow = {
  seq: number
  id: string
  entity_id: string
  agent_id: string
  agent_name: string
  channel: JobChannel
  status: JobStatus
  title: string
  conversation_id: string | null
  trigger_id: string | null
  schedule_id: string | null
  parent_job_id: string | null
  retry_of_job_id: string | null
  retried_by_job_id: string | null
  error: string | null
  error_message: string | null
  provider_id: string | null
  model: string | null
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cost_micros: number
  children_cost_micros: number
  unpriced_calls: number
  turns: number
  tool_calls: number
  attempt: number
  working_ms: number
  heartbeat_at: number | null
  cancel_requested_at: number | null
  quiet: number
  created_at: number
  started_at: number | null
  finished_at: number | null
  result_preview: string | null
}

export type JobRow = SummaryRow & { task: string; context: string | null; result: string | null; output: string | null }

const SUMMARY_COLUMNS = `
  job.seq, job.id, job.entity_id, job.agent_id, agent.name AS agent_name, job.channel, job.status, job.title, job.conversation_id,
  job.trigger_id, job.schedule_id, job.parent_job_id, job.retry_of_job_id,
  (SELECT retry.id FROM agent_jobs AS retry WHERE retry.retry_of_job_id = job.id ORDER BY retry.seq DESC LIMIT 1) AS retried_by_job_id,
  job.error, job.error_message, job.provider_id, job.model, job.input_tokens, job.output_tokens, job.cached_tokens, job.cost_micros,
  job.children_cost_micros, job.unpriced_calls, job.turns, job.tool_calls, job.attempt, job.working_ms, job.heartbeat_at, job.cancel_requested_at, job.quiet, job.created_at, job.started_at,
  job.finished_at, job.result_preview`

export const SELECT_SUMMARY = `SELECT ${SUMMARY_COLUMNS} FROM agent_jobs AS job JOIN agents AS agent ON agent.id = job.agent_id`

export const SELECT_JOB = `SELECT ${SUMMARY_COLUMNS}, texts.task, texts.context, texts.result, texts.output
  FROM agent_jobs AS job JOIN agents AS agent ON agent.id = job.agent_id JOIN job_texts AS texts ON texts.job_seq = job.seq`

function sharedFieldsOf(row: SummaryRow): Omit<JobSummary, 'resultPreview'> {
  return {
    id: row.id,
    entityId: row.entity_id,
    agentId: row.agent_id,
    agentName: row.agent_name,
    channel: row.channel,
    status: row.status,
    title: row.title,
    conversationId: row.conversation_id,
    triggerId: row.trigger_id,
    scheduleId: row.schedule_id,
    // What a due time made has its id. A retry of that is a job of the schedule too, but not the one of the due time.
    occurrenceId: row.schedule_id === null || row.retry_of_job_id !== null ? null : row.id,
    parentJobId: row.parent_job_id,
    retryOfJobId: row.retry_of_job_id,
    retriedByJobId: row.retried_by_job_id,
    error: row.error,
    errorMessage: row.error_message,
    model: modelOf(row.provider_id, row.model),
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cachedTokens: row.cached_tokens,
    costUsd: toUsd(row.cost_micros),
    childrenCostUsd: toUsd(row.children_cost_micros),
    priced: row.unpriced_calls === 0,
    turns: row.turns,
    toolCalls: row.tool_calls,
    attempt: row.attempt,
    workingMs: row.working_ms,
    workingSince: row.heartbeat_at,
    cancelRequested: row.cancel_requested_at !== null,
    quiet: row.quiet === 1,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }
}

export function summaryOf(row: SummaryRow): JobSummary {
  return { ...sharedFieldsOf(row), resultPreview: row.result_preview }
}

export function jobOf(row: JobRow): Job {
  const context = row.context === null ? null : (JSON.parse(row.context) as Record<string, unknown>)
  return {
    ...sharedFieldsOf(row),
    ...(row.channel === 'webhook' ? taskOfDelivery(row.task, context) : { task: row.task, plainTask: null }),
    context,
    result: row.result,
    output: row.output === null ? null : JobOutput.parse(JSON.parse(row.output)),
  }
}

/** The text as it is stored and in its envelope. One of an earlier version of Deckhand is stored in it. */
export function taskOfDelivery(text: string, context: Record<string, unknown> | null): Pick<Job, 'task' | 'plainTask'> {
  const envelope = DeliveryContext.safeParse(context).data?.envelope
  return envelope === undefined ? { task: text, plainTask: null } : { task: inEnvelope({ text, envelope }), plainTask: text }
}

export function modelOf(providerId: string | null, model: string | null): ModelRef | null {
  return providerId === null || model === null ? null : { providerId, model }
}

/** CHECKs of the table say which columns are there for which kind. */
export type StepRow = {
  seq: number
  kind: Step['kind']
  attempt: number
  created_at: number
  duration_ms: number
  call_id: string
  name: string
  ok: number
  provider_id: string
  model: string
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  cost_micros: number
  priced: number
  estimated: number
  interrupted: number
  tool_calls: string
  reasoning: string | null
  text: string
  refused: number
}

const ToolCalls = z.array(ToolCall)

export function stepOf(row: StepRow): Step {
  const head = { seq: row.seq, attempt: row.attempt, createdAt: row.created_at, durationMs: row.duration_ms }
  switch (row.kind) {
    case 'reply':
      return {
        ...head,
        kind: 'reply',
        text: row.text,
        ...(row.reasoning === null ? {} : { reasoning: row.reasoning }),
        toolCalls: ToolCalls.parse(JSON.parse(row.tool_calls)),
        model: { providerId: row.provider_id, model: row.model },
        inputTokens: row.input_tokens,
        outputTokens: row.output_tokens,
        cachedTokens: row.cached_tokens,
        costUsd: toUsd(row.cost_micros),
        priced: row.priced === 1,
        estimated: row.estimated === 1,
        interrupted: row.interrupted === 1,
      }
    case 'tool_started':
      return { ...head, kind: 'tool_started', callId: row.call_id, name: row.name }
    case 'tool_result':
      return {
        ...{ ...head, kind: 'tool_result', callId: row.call_id, name: row.name, ok: row.ok === 1, output: row.text },
        ...(row.ok === 1 ? {} : whyOf(row.text)),
        ...(row.refused === 1 ? { refused: true } : {}),
      }
  }
}

/** A longer text is what a program said, not a sentence of ours. */
const MOST_SAID_CHARS = 2000

/** A sentence that says it all, or one before a list of what is wrong. */
function whyOf(output: string): { said?: Said } {
  if (output.length > MOST_SAID_CHARS) return {}
  const sentence = output.split('\n- ')[0]!
  const said = readSaid(sentence) ?? readSaid(sentence.replace(/^Not run: /, ''))
  return said === null ? {} : { said }
}
