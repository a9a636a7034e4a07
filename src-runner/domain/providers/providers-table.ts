import { text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { flag, moment, oneOf, checks } from '../../platform/db/column-types.ts'
import { ProviderKind } from '../../contract/providers.ts'

export const providers = sqliteTable(
  'providers',
  {
    id: text('id').primaryKey(),
    kind: oneOf('kind', ProviderKind.options).notNull(),
    name: text('name').notNull(),
    baseUrl: text('base_url'),
    hasKey: flag('has_key').notNull(),
    origin: oneOf('origin', ['built_in', 'user', 'found']).notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [...checks(t)],
)
