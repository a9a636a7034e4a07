import { text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { moment, checks, idOf } from '../../platform/db/column-types.ts'
import { entities } from './entities-table.ts'

/** The accounts of the sign-in database, each with its workspace. */
export const entityMembers = sqliteTable(
  'entity_members',
  {
    userId: text('user_id').primaryKey(),
    entityId: idOf('entity_id', () => entities.id),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [...checks(t)],
)
