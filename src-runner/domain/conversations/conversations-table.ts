import { index, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { moment, checks, idOf } from '../../platform/db/column-types.ts'
import { agents } from '../agents/agents-table.ts'
import { entities } from '../entities/entities-table.ts'

export const conversations = sqliteTable(
  'conversations',
  {
    id: text('id').primaryKey(),
    entityId: idOf('entity_id', () => entities.id),
    agentId: idOf('agent_id', () => agents.id),
    title: text('title').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [
    ...checks(t),
    index('conversations_by_use').on(t.updatedAt, t.id),
    index('conversations_by_entity').on(t.entityId, t.updatedAt, t.id),
    index('conversations_by_agent').on(t.agentId, t.updatedAt, t.id),
  ],
)
