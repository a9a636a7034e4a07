import { index, integer, text, uniqueIndex, sqliteTable } from 'drizzle-orm/sqlite-core'
import { moment, oneOf, checks, idOf } from '../../platform/db/column-types.ts'
import { conversations } from './conversations-table.ts'
import { jobs } from '../jobs/jobs-table.ts'

export const messages = sqliteTable(
  'messages',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    conversationId: idOf('conversation_id', () => conversations.id, { onDelete: 'cascade' }),
    jobId: idOf('job_id', () => jobs.id),
    role: oneOf('role', ['user', 'assistant']).notNull(),
    createdAt: moment('created_at').notNull(),
    text: text('text').notNull(),
  },
  (t) => [...checks(t), uniqueIndex('messages_one_per_role').on(t.jobId, t.role), index('messages_by_conversation').on(t.conversationId)],
)
