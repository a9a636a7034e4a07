import { text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { checks, flag, idOf, moment, uniqueWhere } from '../../platform/db/column-types.ts'

export const entities = sqliteTable(
  'entities',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    isDefault: flag('is_default').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [...checks(t), uniqueWhere('entities_one_default', [t.isDefault], 'is_default = 1')],
)

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
