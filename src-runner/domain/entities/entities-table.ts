import { text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { flag, moment, checks, uniqueWhere } from '../../platform/db/column-types.ts'

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
