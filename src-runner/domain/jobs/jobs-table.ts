import { Message } from '../../contract/messages.ts'
import { type AnySQLiteColumn, blob, foreignKey, index, integer, primaryKey, text, uniqueIndex, sqliteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import {
  count,
  flag,
  json,
  jsonObject,
  usd,
  moment,
  oneOf,
  checks,
  idOf,
  seqOf,
  indexWhere,
  uniqueWhere,
} from '../../platform/db/column-types.ts'
import { JobChannel, JobOutput, JobStatus, ToolCall } from '../../contract/jobs.ts'
import { agents } from '../agents/agents-table.ts'
import { conversations } from '../conversations/conversations-table.ts'
import { entities } from '../entities/entities-table.ts'

export const jobs = sqliteTable(
  'agent_jobs',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull().unique(),
    entityId: idOf('entity_id', () => entities.id),
    agentId: idOf('agent_id', () => agents.id),
    channel: oneOf('channel', JobChannel.options).notNull(),
    status: oneOf('status', JobStatus.options).notNull(),
    title: text('title').notNull(),
    conversationId: text('conversation_id').references(() => conversations.id, { onDelete: 'set null' }),
    triggerId: text('trigger_id'),
    scheduleId: text('schedule_id'),
    parentJobId: text('parent_job_id').references((): AnySQLiteColumn => jobs.id),
    retryOfJobId: text('retry_of_job_id').references((): AnySQLiteColumn => jobs.id),
    // The model of the newest reply.
    providerId: text('provider_id'),
    model: text('model'),
    inputTokens: count('input_tokens').notNull().default(0),
    outputTokens: count('output_tokens').notNull().default(0),
    cachedTokens: count('cached_tokens').notNull().default(0),
    costUsd: usd('cost_micros').notNull().default(0),
    unpricedCalls: count('unpriced_calls').notNull().default(0),
    turns: count('turns').notNull().default(0),
    toolCalls: count('tool_calls').notNull().default(0),
    // The seq of the newest step.
    steps: integer('steps').notNull().default(0),
    attempt: count('attempt').notNull().default(0),
    // Counts claims and never goes back. Only the attempt with the present number may write.
    claim: count('claim').notNull().default(0),
    // Crashes of the process while this job ran, since it last made progress.
    crashes: count('crashes').notNull().default(0),
    bootId: text('boot_id'),
    heartbeatAt: moment('heartbeat_at'),
    // The job was woken before its attempt went to sleep.
    woken: flag('woken').notNull().default(false),
    cancelRequestedAt: moment('cancel_requested_at'),
    workingMs: count('working_ms').notNull().default(0),
    createdAt: moment('created_at').notNull(),
    startedAt: moment('started_at'),
    finishedAt: moment('finished_at'),
    error: text('error'),
    errorMessage: json('error_message', Message),
    resultPreview: text('result_preview'),
    parentCallId: text('parent_call_id'),
    childrenCostUsd: usd('children_cost_micros').notNull().default(0),
    noOp: flag('no_op').notNull().default(false),
  },
  (t) => [
    ...checks(
      t,
      'cost_micros >= 0',
      'children_cost_micros >= 0',
      'steps >= turns + tool_calls',
      "(status = 'completed' OR status = 'failed' OR status = 'cancelled') = (finished_at IS NOT NULL)",
      "(status = 'running') = (boot_id IS NOT NULL)",
      "(status = 'running') = (heartbeat_at IS NOT NULL)",
      "(status = 'failed') = (error IS NOT NULL)",
      '(error IS NULL) = (error_message IS NULL)',
      '(claim = 0) = (started_at IS NULL)',
      "claim > 0 OR status = 'pending' OR status = 'cancelled'",
      "woken = 0 OR status = 'running'",
      "cancel_requested_at IS NULL OR (status <> 'pending' AND status <> 'awaiting_approval' AND status <> 'awaiting_child')",
      '(provider_id IS NULL) = (model IS NULL)',
      'cached_tokens <= input_tokens',
    ),
    index('agent_jobs_by_agent').on(t.agentId, t.status),
    indexWhere('agent_jobs_by_conversation', [t.conversationId], 'conversation_id IS NOT NULL'),
    indexWhere(
      'agent_jobs_open_turns',
      [t.conversationId],
      "conversation_id IS NOT NULL AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')",
    ),
    indexWhere(
      'agent_jobs_open_runs',
      [t.scheduleId],
      "schedule_id IS NOT NULL AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')",
    ),
    indexWhere('agent_jobs_by_parent', [t.parentJobId], 'parent_job_id IS NOT NULL'),
    indexWhere('agent_jobs_by_retry', [t.retryOfJobId], 'retry_of_job_id IS NOT NULL'),
    uniqueWhere('agent_jobs_one_per_call', [t.parentJobId, t.parentCallId], 'parent_call_id IS NOT NULL'),
    indexWhere('agent_jobs_by_state', [t.status, t.channel], "status <> 'pending' AND status <> 'running'"),
    indexWhere('agent_jobs_running', [t.status], "status = 'running'"),
    // In the order in which retention deletes them. A job of a conversation goes with the conversation.
    indexWhere('agent_jobs_to_prune', [t.finishedAt], 'finished_at IS NOT NULL AND conversation_id IS NULL'),
    indexWhere('agent_jobs_ended_runs', [t.scheduleId, t.createdAt], 'schedule_id IS NOT NULL AND finished_at IS NOT NULL'),
  ],
)

export const jobTexts = sqliteTable(
  'job_texts',
  {
    jobSeq: integer('job_seq')
      .primaryKey()
      .references(() => jobs.seq, { onDelete: 'cascade' }),
    task: text('task').notNull(),
    context: jsonObject('context', z.record(z.string(), z.unknown())),
    result: text('result'),
    output: jsonObject('output', JobOutput),
    payload: blob('payload', { mode: 'buffer' }),
    headers: jsonObject('headers', z.record(z.string(), z.string())),
    beforeJobSeq: integer('before_job_seq'),
  },
  (t) => [...checks(t)],
)

export const jobSteps = sqliteTable(
  'job_steps',
  {
    id: integer('id').primaryKey(),
    jobSeq: seqOf('job_seq', () => jobs.seq, { onDelete: 'cascade' }),
    seq: integer('seq').notNull(),
    kind: oneOf('kind', ['reply', 'tool_started', 'tool_result']).notNull(),
    attempt: integer('attempt').notNull(),
    claim: integer('claim').notNull(),
    createdAt: moment('created_at').notNull(),
    durationMs: count('duration_ms').notNull(),
    // Tool steps only.
    callId: text('call_id'),
    name: text('name'),
    ok: flag('ok'),
    // Replies only.
    providerId: text('provider_id'),
    model: text('model'),
    inputTokens: count('input_tokens'),
    outputTokens: count('output_tokens'),
    cachedTokens: count('cached_tokens'),
    costUsd: usd('cost_micros'),
    priced: flag('priced'),
    estimated: flag('estimated'),
    interrupted: flag('interrupted'),
    // The server that the model was asked for.
    askedBy: text('asked_by'),
    // Spend counts a job with its first reply, and for each model with the first reply of that model.
    firstOfJob: flag('first_of_job'),
    firstOfModel: flag('first_of_model'),
    toolCalls: json('tool_calls', z.array(ToolCall)),
    reasoning: text('reasoning'),
    // The reply of the model, or the result of the tool.
    text: text('text').notNull(),
    addsTaint: oneOf('adds_taint', ['private', 'untrusted', 'private,untrusted']),
    leftMachine: flag('left_machine'),
  },
  (t) => [
    ...checks(
      t,
      'seq > 0',
      'cost_micros >= 0',
      "(kind = 'reply') = (model IS NOT NULL AND provider_id IS NOT NULL AND cost_micros IS NOT NULL AND tool_calls IS NOT NULL)",
      "(kind = 'reply') = (call_id IS NULL AND name IS NULL)",
      "(kind = 'tool_result') = (ok IS NOT NULL)",
    ),
    uniqueIndex('job_steps_one_per_seq').on(t.jobSeq, t.seq),
    indexWhere('job_steps_replies_by_time', [t.createdAt], "kind = 'reply'"),
    indexWhere('job_steps_taints', [t.jobSeq, t.seq], 'adds_taint IS NOT NULL OR left_machine = 1'),
  ],
)

export const searchQueue = sqliteTable(
  'search_queue',
  {
    jobSeq: integer('job_seq')
      .primaryKey()
      .references(() => jobs.seq, { onDelete: 'cascade' }),
  },
  (t) => [...checks(t)],
)

export const searchMark = sqliteTable(
  'search_mark',
  {
    id: integer('id').primaryKey(),
    jobSeq: count('job_seq').notNull(),
  },
  (t) => [...checks(t, 'id = 1')],
)

export const jobTimeBuckets = sqliteTable(
  'job_time_buckets',
  {
    firstSeq: integer('first_seq').primaryKey(),
    bucketAt: moment('bucket_at').notNull(),
  },
  (t) => [...checks(t, 'bucket_at % 900000 = 0'), index('job_time_buckets_by_time').on(t.bucketAt)],
)

export const replyParts = sqliteTable(
  'reply_parts',
  {
    jobSeq: integer('job_seq').notNull(),
    seq: integer('seq').notNull(),
    parts: jsonObject('parts', z.unknown()).notNull(),
  },
  (t) => [
    ...checks(t),
    primaryKey({ columns: [t.jobSeq, t.seq] }),
    foreignKey({ columns: [t.jobSeq, t.seq], foreignColumns: [jobSteps.jobSeq, jobSteps.seq] }).onDelete('cascade'),
  ],
)

/** `silence`: no model responds. `keychain`: it is locked, so there is no key, or this machine is offline. */
export const POSTPONE_CAUSES = ['silence', 'keychain'] as const

export const postponedJobs = sqliteTable(
  'postponed_jobs',
  {
    jobSeq: integer('job_seq')
      .primaryKey()
      .references(() => jobs.seq, { onDelete: 'cascade' }),
    until: moment('until').notNull(),
    // How often it was postponed for this cause since it last made progress, or since another cause.
    times: integer('times').notNull(),
    cause: oneOf('cause', POSTPONE_CAUSES).notNull().default('silence'),
  },
  (t) => [...checks(t, 'times > 0')],
)

export const clientTurns = sqliteTable(
  'client_turns',
  {
    clientId: text('client_id').primaryKey(),
    jobSeq: seqOf('job_seq', () => jobs.seq),
    // SHA-256 of the request.
    digest: blob('digest', { mode: 'buffer' }).notNull(),
    at: moment('at').notNull(),
  },
  (t) => [...checks(t, 'length(digest) = 32'), index('client_turns_by_age').on(t.at), index('client_turns_by_job').on(t.jobSeq)],
)
