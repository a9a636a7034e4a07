import { z } from 'zod'
import { ModelRef } from './agents.ts'
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

/** What created a job. */
export const JOB_CHANNELS = ['chat', 'api', 'webhook', 'schedule', 'telegram', 'discord', 'slack', 'messenger', 'delegation'] as const
export const JobChannel = z.enum(JOB_CHANNELS)
export type JobChannel = z.infer<typeof JobChannel>

/**
 * tool: may this call run? question: the agent asks the person, or an MCP server does during a call. unknown_outcome: the process
 * died during a call that must not
 * be repeated. budget: a spending limit is reached.
 */
export const ApprovalKind = z.enum(['tool', 'question', 'unknown_outcome', 'budget'])
export type ApprovalKind = z.infer<typeof ApprovalKind>

/** The structured result of `return_result`. */
export const JobOutput = z.object({
  summary: z.string(),
  /** Any JSON. */
  data: z.unknown(),
  /** Absolute paths in the agent's folders. The files existed when the result was returned. */
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
  /** As the agent reads it. */
  task: z.string(),
  /** The task without what was added for the agent. null: nothing was added. */
  plainTask: z.string().nullable(),
  /** A coding program works on it. `GET /api/code-tasks/:jobId` has its branch and files. */
  isCodeTask: z.boolean(),
  conversationId: Id.nullable(),
  triggerId: Id.nullable(),
  scheduleId: Id.nullable(),
  occurrenceId: Id.nullable(),
  parentJobId: Id.nullable(),
  retryOfJobId: Id.nullable(),
  retriedByJobId: Id.nullable(),
  /** What is known about its origin: a delivery, a run of a schedule, a chat message. */
  context: z.record(z.string(), z.unknown()).nullable(),
  /** The final reply, or the text so far if the job did not complete. */
  result: z.string().nullable(),
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
  /** The cost of delegated jobs at every depth. Not part of `costUsd`, but both count against the job's limit. */
  childrenCostUsd: Usd,
  /** false: a model without a known price was used, so `costUsd` is only a part. */
  priced: z.boolean(),
  turns: z.number().int(),
  toolCalls: z.number().int(),
  attempt: z.number().int(),
  /** Working time so far, without waiting. */
  workingMs: z.number().int(),
  /** Since when it works. `workingMs` does not include this yet. null: it does not work now. */
  workingSince: Moment.nullable(),
  cancelRequested: z.boolean(),
  /** A run of a schedule with a no-op result, which sends no notification. */
  noOp: z.boolean(),
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
  /** As the model sent them: the raw text if it is not valid JSON. */
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
  /** The provider sent no usage, so tokens and cost are estimates. */
  estimated: z.boolean(),
  /** Cut off by Stop or by the end of the process. Its tool calls never ran. */
  interrupted: z.boolean(),
  /** The MCP server that asked the model for itself. Its text is not kept, and the reply is no part of the conversation. */
  askedBy: z.string().optional(),
})

/** Written before a `once` tool runs, so that it never runs again after a crash. */
export const ToolStartedStep = z.object({ ...stepHead, kind: z.literal('tool_started'), callId: z.string(), name: z.string() })

export const ToolResultStep = z.object({
  ...stepHead,
  kind: z.literal('tool_result'),
  callId: z.string(),
  name: z.string(),
  ok: z.boolean(),
  /** What the model read. */
  output: z.string(),
  /** It did not run, because a rule or the person refused it. */
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
  /** The caller's own id. The same request with the same id within a day joins the existing turn. */
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
  /** `conversationId` is null if the job has none. */
  z.object({ type: z.literal('start'), jobId: Id, conversationId: Id.nullable() }),
  /** `seq` is the step of this text. A page that already has that step ignores it. */
  z.object({ type: z.literal('delta'), text: z.string(), seq: z.number().int() }),
  /** The model broke off and is asked again. Discard the deltas of this step. */
  z.object({ type: z.literal('reset'), seq: z.number().int() }),
  z.object({
    type: z.literal('tool'),
    callId: z.string(),
    name: z.string(),
    state: z.enum(['running', 'done', 'failed', 'denied']),
  }),
  /** More output of a running call. It is neither recorded nor read by the model. */
  z.object({ type: z.literal('tool_output'), callId: z.string(), text: z.string() }),
  /** A step was recorded. The steps before the stream was opened are not sent: `GET /api/jobs/:jobId/steps` lists them. */
  z.object({ type: z.literal('step'), step: Step }),
  /** The turn waits for a person. One for each open approval, also of jobs that it delegated, before `done`. */
  z.object({
    type: z.literal('approval'),
    approvalId: Id,
    kind: ApprovalKind,
    callId: z.string().nullable(),
    tool: z.string().nullable(),
    /** What the call would do, or the question. */
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
  /** As in an error response: `message` is English, `detail` the same for readers of other languages. */
  z.object({ type: z.literal('error'), error: z.string(), message: z.string(), detail: Message }),
])
export type ChatStreamEvent = z.infer<typeof ChatStreamEvent>
