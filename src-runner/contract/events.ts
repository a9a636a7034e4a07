import { z } from 'zod'
import { ChannelKind } from './channels.ts'
import { DatabaseTrouble } from './database.ts'
import { Id, Moment, Usd } from './primitives.ts'
import { ApprovalKind, JobChannel, JobStatus, Step } from './jobs.ts'
import { OutboundState } from './outbox.ts'
import { RetentionKind } from './retention.ts'
import { Message } from './messages.ts'
import { OccurrenceState } from './schedules.ts'
import { DeliveryOutcome } from './triggers.ts'

const approval = z.object({ approvalId: Id, jobId: Id, agentId: Id, conversationId: Id.nullable(), kind: ApprovalKind })

/** Old events have none. */
const scheduleId = Id.nullable().optional()

/**
 * What happened, recorded in the transaction of the change. `GET /api/events` sends these with their row number as the SSE
 * id, so a reader that reconnects with `Last-Event-ID` misses nothing.
 */
export const RECORDED_EVENTS = {
  'job.created': z.object({
    jobId: Id,
    agentId: Id,
    conversationId: Id.nullable(),
    channel: JobChannel,
    title: z.string(),
    triggerId: Id.nullable(),
    scheduleId: Id.nullable(),
  }),
  'job.started': z.object({ jobId: Id, agentId: Id, conversationId: Id.nullable(), attempt: z.number().int() }),
  'job.step_recorded': z.object({
    jobId: Id,
    conversationId: Id.nullable(),
    seq: z.number().int(),
    kind: z.enum(['reply', 'tool_started', 'tool_result']),
    costUsd: Usd,
  }),
  'job.waiting': z.object({ jobId: Id, agentId: Id, conversationId: Id.nullable(), status: JobStatus, scheduleId }),
  'job.requeued': z.object({
    jobId: Id,
    agentId: Id,
    conversationId: Id.nullable(),
    reason: z.enum(['woken', 'rescued', 'released', 'postponed']),
    scheduleId,
  }),
  /** No model or keychain responds. The job resumes automatically; `message` says what a person can do. */
  'job.postponed': z.object({ jobId: Id, agentId: Id, conversationId: Id.nullable(), message: Message, until: Moment }),
  'job.cancel_requested': z.object({ jobId: Id, agentId: Id, conversationId: Id.nullable() }),
  'job.finished': z.object({
    jobId: Id,
    agentId: Id,
    conversationId: Id.nullable(),
    status: JobStatus,
    title: z.string(),
    error: z.string().nullable(),
    costUsd: Usd,
    scheduleId: Id.nullable(),
  }),
  'approval.asked': approval,
  'approval.answered': approval.extend({ decision: z.enum(['approve', 'reject']) }),
  'approval.expired': approval,
  /** Nobody has to answer any more. */
  'approval.withdrawn': approval,
  'rule.created': z.object({ ruleId: Id, agentId: Id.nullable() }),
  'rule.deleted': z.object({ ruleId: Id, agentId: Id.nullable() }),
  /** A person undid a job's change to a file. */
  'files.undone': z.object({ jobId: Id, agentId: Id, conversationId: Id.nullable(), path: z.string() }),
  'memory.created': z.object({ memoryId: Id, agentId: Id.nullable() }),
  'memory.changed': z.object({ memoryId: Id, agentId: Id.nullable() }),
  'memory.deleted': z.object({ memoryId: Id, agentId: Id.nullable() }),
  'agent.created': z.object({ agentId: Id }),
  /** `hasNewModel`: its model or a fallback changed. Absent in old events. */
  'agent.changed': z.object({ agentId: Id, hasNewModel: z.boolean().optional() }),
  'agent.deleted': z.object({ agentId: Id }),
  'conversation.created': z.object({ conversationId: Id, agentId: Id }),
  'conversation.changed': z.object({ conversationId: Id, agentId: Id }),
  'conversation.deleted': z.object({ conversationId: Id, agentId: Id }),
  'provider.created': z.object({ providerId: z.string() }),
  'provider.changed': z.object({ providerId: z.string() }),
  'provider.deleted': z.object({ providerId: z.string() }),
  'model.price_changed': z.object({ providerId: z.string(), model: z.string() }),
  'trigger.created': z.object({ triggerId: Id }),
  /** Paused, resumed, or given another secret. */
  'trigger.changed': z.object({ triggerId: Id }),
  'trigger.deleted': z.object({ triggerId: Id, entityId: Id.optional() }),
  /** The delivery created no job. For one that did, `job.created` is sent. */
  'delivery.refused': z.object({ triggerId: Id, outcome: DeliveryOutcome }),
  'schedule.created': z.object({ scheduleId: Id }),
  'schedule.changed': z.object({ scheduleId: Id }),
  'schedule.deleted': z.object({ scheduleId: Id, entityId: Id.optional() }),
  /** Due times were skipped. For one that ran, `job.created` is sent. */
  'schedule.skipped': z.object({ scheduleId: Id, state: OccurrenceState }),
  'schedule.budget_exhausted': z.object({ scheduleId: Id, agentId: Id, name: z.string() }),
  'channel.created': z.object({ channelId: Id, agentId: Id }),
  'channel.changed': z.object({ channelId: Id, agentId: Id }),
  /** `kind` is missing in events from before it was recorded. */
  'channel.deleted': z.object({ channelId: Id, agentId: Id, kind: ChannelKind.optional() }),
  /** Somebody wrote for the first time and waits for a decision. */
  'channel.access_requested': z.object({ channelId: Id, agentId: Id, personId: Id }),
  'outbound.written': z.object({ messageId: Id, agentId: Id }),
  'outbound.sent': z.object({ messageId: Id, agentId: Id }),
  'outbound.failed': z.object({ messageId: Id, agentId: Id, state: OutboundState }),
  /** The address, the listener, the tunnel, or the result of a check. */
  'public_address.changed': z.object({}),
  /** Because of time alone: a problem has lasted long enough to be shown, or is over for long enough. */
  'attention.changed': z.object({}),
  'credential.created': z.object({ credentialId: Id }),
  'credential.changed': z.object({ credentialId: Id }),
  'credential.deleted': z.object({ credentialId: Id, entityId: Id }),
  /** A sign-in at a service began, ended, or waits for a code. */
  'authorization.changed': z.object({ authorizationId: Id }),
  'skill.installed': z.object({ skillId: Id }),
  /** Its version, its agents, its permissions, whether there is an update, or that its files changed. */
  'skill.changed': z.object({ skillId: Id }),
  'skill.removed': z.object({ skillId: Id, entityId: Id }),
  /** Its folder, its program, what it changed, or what became of its branch. */
  'code_task.changed': z.object({ jobId: Id }),
  'token.created': z.object({ tokenId: Id }),
  'token.revoked': z.object({ tokenId: Id }),
  'mcp_server.created': z.object({ mcpServerId: Id }),
  /** The server, its tools, its state, or the agents that use it. */
  'mcp_server.changed': z.object({ mcpServerId: Id }),
  'mcp_server.deleted': z.object({ mcpServerId: Id, entityId: Id.optional() }),
  /** Something older than its time to keep was deleted. */
  'retention.deleted': z.object({ kind: RetentionKind, count: z.number().int() }),
  /** Records of an export file were added. No event tells of each. */
  'history.imported': z.object({ jobs: z.number().int(), conversations: z.number().int() }),
  'settings.changed': z.object({ keys: z.array(z.string()) }),
  /** The machine's clock was set. Deadlines were moved by the same amount. */
  'clock.set': z.object({ byMs: z.number().int() }),
} as const

export type RecordedEventType = keyof typeof RECORDED_EVENTS
export type RecordedEvent = {
  [T in RecordedEventType]: { type: T; payload: z.infer<(typeof RECORDED_EVENTS)[T]> }
}[RecordedEventType]

/** A recorded event with its place in the history. */
export type StoredEvent = RecordedEvent & { id: number; at: number }

/**
 * What is happening now. Sent on `GET /api/events` without an id and never stored: a reader that was away reads the recorded
 * state instead.
 */
export const LIVE_EVENTS = {
  /** The job waits for the model, runs a tool, or waits before a retry. */
  'job.progress': z.object({
    jobId: Id,
    activity: z.enum(['model', 'tool', 'retry_wait']),
    /** The name of the tool, or a message about the model. */
    detail: z.union([z.string(), Message]).nullable(),
    until: Moment.nullable(),
  }),
  /** null: it works again. Not recorded, because the database may not be writable. */
  'database.changed': z.object({ trouble: DatabaseTrouble.nullable() }),
} as const

export type LiveEventType = keyof typeof LIVE_EVENTS
export type LiveEvent = {
  [T in LiveEventType]: { type: T; payload: z.infer<(typeof LIVE_EVENTS)[T]> }
}[LiveEventType]

/** What the live stream of a job carries inside the runner. ChatStreamEvent is what it becomes for clients. */
export type LiveJobStream =
  | { type: 'delta'; seq: number; text: string }
  /** The current reply broke off and starts again. Discard its deltas. */
  | { type: 'reset'; seq: number }
  | { type: 'tool'; callId: string; name: string; state: 'running' | 'done' | 'failed' | 'denied' }
  /** More output of a running call. */
  | { type: 'tool_output'; callId: string; text: string }
  | { type: 'step'; step: Step }
  | { type: 'waiting'; status: JobStatus }
  | { type: 'finished'; status: JobStatus }
