import { index, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { micros, oneOf, checks } from '../../platform/db/column-types.ts'
import { approvals } from '../approvals/approvals-table.ts'

export const budgetExtensions = sqliteTable(
  'budget_extensions',
  {
    approvalId: text('approval_id')
      .primaryKey()
      .references(() => approvals.id, { onDelete: 'cascade' }),
    scope: oneOf('scope', ['job', 'agent_day', 'agent_month', 'app_day']).notNull(),
    owner: text('owner').notNull(),
    period: text('period').notNull(),
    micros: micros('micros').notNull(),
  },
  (t) => [...checks(t, 'micros > 0'), index('budget_extensions_by_owner').on(t.scope, t.owner, t.period)],
)
