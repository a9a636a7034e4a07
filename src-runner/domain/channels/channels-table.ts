import { index, integer, primaryKey, text, uniqueIndex, sqliteTable } from 'drizzle-orm/sqlite-core'
import { flag, moment, oneOf, checks, idOf, indexWhere, uniqueWhere } from '../../platform/db/column-types.ts'
import { ChannelKind, ChannelRole, ChannelStatus } from '../../contract/channels.ts'
import { agents } from '../agents/agents-table.ts'
import { conversations } from '../conversations/conversations-table.ts'
import { jobs } from '../jobs/jobs-table.ts'

export const channels = sqliteTable(
  'channels',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    agentId: idOf('agent_id', () => agents.id),
    kind: oneOf('kind', ChannelKind.options).notNull(),
    // The id that the service gives the account.
    accountId: text('account_id').notNull(),
    name: text('name').notNull(),
    link: text('link'),
    baseUrl: text('base_url'),
    enabled: flag('enabled').notNull(),
    status: oneOf('status', ChannelStatus.options).notNull(),
    problem: text('problem').notNull(),
    statusSince: integer('status_since').notNull(),
    lastRoundTripAt: moment('last_round_trip_at'),
    // The position in the service's messages. It advances in the transaction that stores them.
    position: text('position'),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [...checks(t), uniqueIndex('channels_one_per_account').on(t.kind, t.accountId), index('channels_by_agent').on(t.agentId, t.seq)],
)

export const channelPeople = sqliteTable(
  'channel_people',
  {
    id: text('id').primaryKey(),
    channelId: idOf('channel_id', () => channels.id, { onDelete: 'cascade' }),
    externalId: text('external_id').notNull(),
    // A server, channel or group, which is allowed like a person and can never be the owner.
    isRoom: flag('is_room').notNull().default(false),
    // The chat for private messages to them. Of a room: the chat of its latest message.
    chatId: text('chat_id').notNull(),
    role: oneOf('role', ChannelRole.options).notNull(),
    displayName: text('display_name').notNull(),
    handle: text('handle'),
    // The conversation of their next message. null: a new one.
    conversationId: text('conversation_id').references(() => conversations.id, { onDelete: 'set null' }),
    firstSeenAt: moment('first_seen_at').notNull(),
    lastMessageAt: moment('last_message_at').notNull(),
  },
  (t) => [
    ...checks(t),
    uniqueIndex('channel_people_one_per_account').on(t.channelId, t.externalId),
    uniqueWhere('channel_people_one_owner', [t.channelId], "role = 'owner'"),
    indexWhere('channel_people_requested', [t.firstSeenAt], "role = 'requested'"),
    indexWhere('channel_people_by_conversation', [t.conversationId], 'conversation_id IS NOT NULL'),
  ],
)

export const channelConversations = sqliteTable(
  'channel_conversations',
  {
    conversationId: text('conversation_id')
      .primaryKey()
      .references(() => conversations.id, { onDelete: 'cascade' }),
    personId: idOf('person_id', () => channelPeople.id, { onDelete: 'cascade' }),
    // The chat of a room in which it is held. null: the person's private chat.
    chatId: text('chat_id'),
    // Whether the next message of that chat belongs to it.
    isCurrent: flag('is_current').notNull().default(true),
  },
  (t) => [...checks(t), index('channel_conversations_by_person').on(t.personId, t.chatId)],
)

export const channelMessages = sqliteTable(
  'channel_messages',
  {
    channelId: idOf('channel_id', () => channels.id, { onDelete: 'cascade' }),
    externalId: text('external_id').notNull(),
    jobId: text('job_id').references(() => jobs.id, { onDelete: 'set null' }),
    receivedAt: moment('received_at').notNull(),
  },
  (t) => [
    ...checks(t),
    primaryKey({ columns: [t.channelId, t.externalId] }),
    indexWhere('channel_messages_by_job', [t.jobId], 'job_id IS NOT NULL'),
    index('channel_messages_by_age').on(t.receivedAt),
  ],
)
