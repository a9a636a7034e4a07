import { integer, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { moment, checks } from './column-types.ts'

export const events = sqliteTable(
  'events',
  {
    id: integer('id').primaryKey(),
    at: moment('at').notNull(),
    type: text('type').notNull(),
    payload: text('payload').notNull(),
  },
  (t) => [...checks(t)],
)
