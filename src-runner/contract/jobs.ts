import { z } from 'zod'
import { ModelRef } from './agents.ts'
import { ApprovalKind } from './approval-kinds.ts'
import { Id, MAX_TASK_CHARS, Moment, TokenCount, Usd } from './primitives.ts'
import { Message } from './messages.ts'

export const JOB_STATUSES = ['pending', 'running', 'awaiting_approval', 'awaiting_child', 'completed', 'failed', 'cancelled'] as const
export const JobStatus = z.enum(JOB_STATUSES)
export type JobStatus = z.infer<typeof JobStatus>

/** States that never change again. */
export const TERMINAL_STATUSES = ['completed', 'failed', 'cancelled'] as const satisfies readonly JobStatus[]
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number]

export function isTerminal(status: JobStatus): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly JobStatus[]).includes(status)
}

/** What a job came in through. */
export const JOB_CHANNELS = ['chat', 'api', 'webhook', 'schedule', 'telegram', 'discord', 'slack', 'messenger', 'delegation'] as const
export const JobChannel = z.enum(JOB_CHANNELS)
export type JobChannel = z.infer<typeof JobChannel>

/** What an agent hands back by `return_result`, beside its last words. */
export const JobOutput = z.object({
  summary: z.string(),
  /** JSON of any shape; null when there is none. */
  data: z.unknown(),
  /** Absolute paths in the agent's folders, which were there when the result was given. */
  files: z.array(z.string()),
})
export type JobOutput = z.infer<typeof JobOutput>

export const Job = z.object({
  id: Id,
  entityId: Id,
  agentId: Id,
  agentName: z.string(),
  channel: JobChannel,
  status: JobStatus,
  title: z.string(),
  /** As the agent is given it. */
  task: z.string(),
  /** What there is to read for a person: the task without what is put around it for the agent. null: nothing is. */
  plainTask: z.string().nullable(),
  conversationId: Id.nullable(),
  triggerId: Id.nullable(),
  scheduleId: Id.nullable(),
  occurrenceId: Id.nullable(),
  parentJobId: Id.nullable(),
  /** The job this one is a retry of. */
  retryOfJobId: Id.nullable(),
  /** The retry that followed, if any. */
  retriedByJobId: Id.nullable(),
  /** What started it, in the words of whatever did (a webhook's payload, a schedule's due time, …). */
  context: z.record(z.string(), z.unknown()).nullable(),
  /** The final answer, or the text written so far when the job did not complete. */
  result: z.string().nullable(),
  /** The last structured result that the agent gave; null when it gave none. */
  output: JobOutput.nullable(),
  error: z.string().nullable(),
  errorMessage: Message.nullable(),
  /** The model that answered last. */
  model: ModelRef.nullable(),
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  /** The part of `inputTokens` that the provider served from its cache. */
  cachedTokens: TokenCount,
  costUsd: Usd,
  /** What the jobs that it delegated cost, and theirs; not part of `costUsd`. Both count against the job's limit. */
  childrenCostUsd: Usd,
  /** false when at least one call was to a model without a known price: `costUsd` is then only the known part. */
  priced: z.boolean(),
  turns: z.number().int(),
  toolCalls: z.number().int(),
  attempt: z.number().int(),
  /** Working time so far, without waiting. */
  workingMs: z.number().int(),
  /** It works now, and has since this moment, which `workingMs` does not count yet. null: it does not. */
  workingSince: Moment.nullable(),
  cancelRequested: z.boolean(),
  /** A run of a schedule that found nothing new, and so tells nobody of itself. */
  quiet: z.boolean(),
  createdAt: Moment,
  startedAt: Moment.nullable(),
  finishedAt: Moment.nullable(),
})
export type Job = z.infer<typeof Job>

/** A row of a list: everything but the long texts. */
export const JobSummary = Job.omit({ task: true, plainTask: true, context: true, result: true, output: true }).extend({
  /** The first 280 characters of the result. */
  resultPreview: z.string().nullable(),
})
export type JobSummary = z.infer<typeof JobSummary>

/** How a tool may be repeated after a crash (product specification, section 4). */
export const ToolEffect = z.enum(['read', 'idempotent', 'once'])
export type ToolEffect = z.infer<typeof ToolEffect>

export const ToolCall = z.object({
  callId: z.string(),
  name: z.string(),
  /** The arguments as the model gave them. When they were not valid JSON, the raw text. */
  args: z.unknown(),
})
export type ToolCall = z.infer<typeof ToolCall>

const stepHead = {
  /** 1, 2, 3 … within the job, without a gap. */
  seq: z.number().int().positive(),
  attempt: z.number().int(),
  createdAt: Moment,
  durationMs: z.number().int(),
}

/** One recorded model reply: what it said and which tools it asked for. */
export const ReplyStep = z.object({
  ...stepHead,
  kind: z.literal('reply'),
  text: z.string(),
  reasoning: z.string().optional(),
  toolCalls: z.array(ToolCall),
  model: ModelRef,
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  cachedTokens: TokenCount,
  costUsd: Usd,
  priced: z.boolean(),
  /** true: the provider sent no usage, so tokens and cost are our estimate. */
  estimated: z.boolean(),
  /** true: the reply was cut off by Stop or by the end of the process; its tool calls were never run. */
  interrupted: z.boolean(),
})

/** Written before a `once` tool runs, so that a crash in between is seen and never repeated. */
export const ToolStartedStep = z.object({ ...stepHead, kind: z.literal('tool_started'), callId: z.string(), name: z.string() })

export const ToolResultStep = z.object({
  ...stepHead,
  kind: z.literal('tool_result'),
  callId: z.string(),
  name: z.string(),
  ok: z.boolean(),
  /** What the model read. */
  output: z.string(),
  /** It was not run: a rule or the person said no. */
  refused: z.literal(true).optional(),
})

export const Step = z.discriminatedUnion('kind', [ReplyStep, ToolStartedStep, ToolResultStep])
export type Step = z.infer<typeof Step>
export type ReplyStep = z.infer<typeof ReplyStep>
export type ToolStartedStep = z.infer<typeof ToolStartedStep>
export type ToolResultStep = z.infer<typeof ToolResultStep>

export const Task = z.string().trim().min(1).max(MAX_TASK_CHARS)

export const SubmitTask = z
  .object({
    task: Task,
    agentId: Id.optional(),
    agentSlug: z.string().min(1).max(120).optional(),
    entityId: Id.optional(),
    conversationId: Id.optional(),
    parentJobId: Id.optional(),
  })
  .refine((b) => b.agentId === undefined || b.agentSlug === undefined, {
    path: ['agentSlug'],
    message: 'Name the agent by “agentId” or by “agentSlug”, not by both.',
  })
export type SubmitTask = z.infer<typeof SubmitTask>

export const ChatTurn = z.object({
  agentId: Id,
  message: Task,
  conversationId: Id.optional(),
  /** The caller's own id of this turn. The same request with the same id within a day joins the turn that the first one began. */
  clientId: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'takes 1 to 200 printable characters without spaces')
    .optional(),
})
export type ChatTurn = z.infer<typeof ChatTurn>

export const ChatReply = z.object({ reply: z.string(), conversationId: Id, jobId: Id, status: JobStatus })
export type ChatReply = z.infer<typeof ChatReply>

/** What `POST /api/chat/stream` sends; the SSE event name is `type`, the data is the rest as JSON. */
export const ChatStreamEvent = z.discriminatedUnion('type', [
  /** `conversationId` is null when the job that is attached to belongs to none. */
  z.object({ type: z.literal('start'), jobId: Id, conversationId: Id.nullable() }),
  /** `seq` is the step this text will be part of: a page that already holds that step ignores the text. */
  z.object({ type: z.literal('delta'), text: z.string(), seq: z.number().int() }),
  /** The model broke off and is asked again: the deltas of this step so far are void. */
  z.object({ type: z.literal('reset'), seq: z.number().int() }),
  z.object({
    type: z.literal('tool'),
    callId: z.string(),
    name: z.string(),
    state: z.enum(['running', 'done', 'failed', 'denied']),
  }),
  /** More of what a call that still runs says: to be looked at, neither recorded nor read by the model. */
  z.object({ type: z.literal('tool_output'), callId: z.string(), text: z.string() }),
  /** A step was recorded. The steps before the stream was opened are not sent: `GET /api/jobs/:jobId/steps` lists them. */
  z.object({ type: z.literal('step'), step: Step }),
  /** The turn waits for a person. One for each open approval, before `done`. */
  z.object({
    type: z.literal('approval'),
    approvalId: Id,
    kind: ApprovalKind,
    callId: z.string().nullable(),
    tool: z.string().nullable(),
    /** What would happen, in words; of a question, the question. */
    summary: z.string(),
    expiresAt: Moment,
  }),
  z.object({
    type: z.literal('done'),
    reply: z.string(),
    jobId: Id,
    conversationId: Id.nullable(),
    status: JobStatus,
    costUsd: Usd,
  }),
  z.object({ type: z.literal('error'), error: z.string(), message: Message }),
])
export type ChatStreamEvent = z.infer<typeof ChatStreamEvent>
