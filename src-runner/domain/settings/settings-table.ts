import { text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { checks, moment } from '../../platform/db/column-types.ts'

export const settings = sqliteTable(
  'settings',
  {
    key: text('key').primaryKey(),
    // JSON text. A json column would store the JSON value null as NULL.
    value: text('value').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (t) => [...checks(t, 'json_valid(value)')],
)
