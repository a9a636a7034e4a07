import { index, integer, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { count, flag, jsonArray, moment, oneOf, checks, idOf, indexWhere } from '../../platform/db/column-types.ts'
import { OutboundKind, OutboundState } from '../../contract/outbox.ts'
import { agents } from '../agents/agents-table.ts'
import { channels } from '../channels/channels-table.ts'
import { entities } from '../entities/entities-table.ts'
import { jobs } from '../jobs/jobs-table.ts'

export const outbox = sqliteTable(
  'outbox',
  {
    // The order in which messages were written. Within a chat they are sent in this order.
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    // Names the cause, so that each cause is reported once.
    key: text('key').notNull().unique(),
    kind: oneOf('kind', OutboundKind.options).notNull(),
    state: oneOf('state', OutboundState.options).notNull(),
    agentId: idOf('agent_id', () => agents.id),
    // The agent's workspace, so that the list of a workspace has an index.
    entityId: idOf('entity_id', () => entities.id),
    channelId: text('channel_id').references(() => channels.id, { onDelete: 'set null' }),
    personId: text('person_id'),
    chatId: text('chat_id'),
    jobId: text('job_id').references(() => jobs.id, { onDelete: 'set null' }),
    approvalId: text('approval_id'),
    text: text('text').notNull(),
    buttons: jsonArray(
      'buttons',
      z.array(z.object({ label: z.string(), action: z.string(), needsCompleteCall: z.literal(true).optional() })),
    ).notNull(),
    files: jsonArray('files', z.array(z.string())).notNull(),
    // Tries that failed while the channel worked.
    tries: count('tries').notNull().default(0),
    // Tries since the last one that ended: the process crashed during them.
    cutOff: count('cut_off').notNull().default(0),
    // The number of parts of a long message that were sent.
    partsSent: count('parts_sent').notNull().default(0),
    problem: text('problem').notNull().default(''),
    // The service's id of the part with the buttons, which is the last one of the text.
    externalId: text('external_id'),
    createdAt: moment('created_at').notNull(),
    nextTryAt: moment('next_try_at'),
    giveUpAt: moment('give_up_at').notNull(),
    sentAt: moment('sent_at'),
    // When it was given up.
    failedAt: moment('failed_at'),
    onlyFilesLeft: flag('only_files_left').notNull().default(false),
  },
  (t) => [
    ...checks(
      t,
      "(state = 'pending') = (next_try_at IS NOT NULL)",
      "(state = 'sent') = (sent_at IS NOT NULL)",
      "(state = 'undeliverable') = (failed_at IS NOT NULL)",
      "state = 'not_sent' OR chat_id IS NOT NULL",
    ),
    indexWhere('outbox_of_channel', [t.channelId, t.seq], "state = 'pending'"),
    indexWhere('outbox_waiting', [t.giveUpAt], "state = 'pending'"),
    indexWhere('outbox_undeliverable', [t.failedAt], "state = 'undeliverable'"),
    index('outbox_by_state').on(t.state, t.seq),
    index('outbox_by_agent').on(t.agentId, t.seq),
    index('outbox_by_entity').on(t.entityId, t.seq),
    index('outbox_by_entity_and_state').on(t.entityId, t.state, t.seq),
    indexWhere('outbox_by_job', [t.jobId], 'job_id IS NOT NULL'),
    indexWhere('outbox_by_approval', [t.approvalId], 'approval_id IS NOT NULL'),
    indexWhere('outbox_approval_messages', [t.channelId, t.externalId], 'approval_id IS NOT NULL AND external_id IS NOT NULL'),
    indexWhere('outbox_of_chat', [t.channelId, t.chatId, t.seq], "state = 'pending' AND only_files_left = 0"),
  ],
)
