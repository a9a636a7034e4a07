import { blob, index, integer, primaryKey, real, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { count, flag, jsonObject, moment, oneOf, checks, idOf, seqOf, indexWhere } from '../../platform/db/column-types.ts'
import { DeliveryOutcome, NotifyVia } from '../../contract/triggers.ts'
import { SignatureScheme } from '../../contract/triggers.ts'
import { agents } from '../agents/agents-table.ts'
import { entities } from '../entities/entities-table.ts'
import { jobs } from '../jobs/jobs-table.ts'

export const triggers = sqliteTable(
  'webhook_triggers',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    entityId: idOf('entity_id', () => entities.id),
    // null: none is attached.
    agentId: text('agent_id').references(() => agents.id),
    name: text('name').notNull(),
    slug: text('slug').notNull().unique(),
    // SHA-256 of the secret. null: there is none, and every delivery is refused.
    secretDigest: blob('secret_digest', { mode: 'buffer' }),
    taskTemplate: text('task_template').notNull(),
    notifyOnSuccess: flag('notify_on_success').notNull(),
    notifyVia: oneOf('notify_via', NotifyVia.options).notNull(),
    // The signing secret is in the vault.
    signature: oneOf('signature', SignatureScheme.options),
    dedupe: flag('dedupe').notNull(),
    status: oneOf('status', ['active', 'paused']).notNull(),
    triggerCount: count('trigger_count').notNull().default(0),
    lastTriggeredAt: moment('last_triggered_at'),
    // Monotonic times of the last 30 accepted deliveries, 8 bytes each, number n at n % 30. They are valid within one boot; the
    // next start converts them with the gap between the wall clock and the monotonic clock.
    fires: blob('fires', { mode: 'buffer' }),
    firesBoot: text('fires_boot'),
    firesGap: real('fires_gap'),
    createdAt: moment('created_at').notNull(),
    newestJobSeq: integer('newest_job_seq'),
    requirePlaceholders: flag('require_placeholders').notNull().default(false),
  },
  (t) => [
    ...checks(
      t,
      'length(secret_digest) = 32',
      'length(fires) = 240',
      '(trigger_count = 0) = (last_triggered_at IS NULL)',
      '(trigger_count = 0) = (fires IS NULL)',
      '(fires IS NULL) = (fires_boot IS NULL)',
      '(fires IS NULL) = (fires_gap IS NULL)',
    ),
    indexWhere('webhook_triggers_by_agent', [t.agentId], 'agent_id IS NOT NULL'),
  ],
)

export const senderIds = sqliteTable(
  'webhook_sender_ids',
  {
    triggerSeq: seqOf('trigger_seq', () => triggers.seq, { onDelete: 'cascade' }),
    senderId: text('sender_id').notNull(),
    jobId: text('job_id').notNull(),
    at: moment('at').notNull(),
  },
  (t) => [...checks(t), primaryKey({ columns: [t.triggerSeq, t.senderId] }), index('webhook_sender_ids_by_time').on(t.at)],
)

export const refusals = sqliteTable(
  'webhook_refusals',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull().unique(),
    triggerSeq: seqOf('trigger_seq', () => triggers.seq, { onDelete: 'cascade' }),
    // Its place in the inbox: after this job of the trigger. 0: before all jobs.
    afterJobSeq: integer('after_job_seq').notNull(),
    outcome: oneOf('outcome', DeliveryOutcome.exclude(['accepted']).options).notNull(),
    status: integer('status').notNull(),
    times: integer('times').notNull(),
    senderId: text('sender_id'),
    eventName: text('event_name'),
    // Duplicates only: the job of the first delivery.
    jobSeq: integer('job_seq').references(() => jobs.seq),
    bytes: count('bytes').notNull(),
    receivedAt: moment('received_at').notNull(),
    headers: jsonObject('headers', z.record(z.string(), z.string())),
    payload: blob('payload', { mode: 'buffer' }),
  },
  (t) => [
    ...checks(t, 'times > 0', "(outcome = 'duplicate') = (job_seq IS NOT NULL)"),
    index('webhook_refusals_by_place').on(t.triggerSeq, t.afterJobSeq),
    indexWhere('webhook_refusals_by_job', [t.jobSeq], 'job_seq IS NOT NULL'),
    indexWhere(
      'webhook_refusals_of_senders',
      [t.receivedAt],
      "outcome IN ('rate_limited', 'unsupported_encoding', 'payload_too_large', 'invalid_json', 'no_agent', 'placeholder_missing', 'job_creation_failed')",
    ),
  ],
)
