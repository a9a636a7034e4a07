import { sql } from 'drizzle-orm'
import { text, uniqueIndex, sqliteTable } from 'drizzle-orm/sqlite-core'
import { flag, moment, checks } from '../../platform/db/column-types.ts'

export const entities = sqliteTable(
  'entities',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    isDefault: flag('is_default').notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [
    ...checks(t),
    uniqueIndex('entities_one_default')
      .on(t.isDefault)
      .where(sql`is_default = 1`),
  ],
)
