import { sql } from 'drizzle-orm'
import { integer, text, uniqueIndex, sqliteTable } from 'drizzle-orm/sqlite-core'
import { moment, oneOf, checks } from '../../platform/db/column-types.ts'
import { RuleEffect } from '../../contract/rules.ts'
import { agents } from '../agents/agents-table.ts'

export const rules = sqliteTable(
  'rules',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    effect: oneOf('effect', RuleEffect.options).notNull(),
    tool: text('tool').notNull(),
    pattern: text('pattern'),
    agentId: text('agent_id').references(() => agents.id),
    folder: text('folder'),
    origin: oneOf('origin', ['person', 'approval']).notNull(),
    createdAt: moment('created_at').notNull(),
    digest: text('digest'),
  },
  (t) => [
    ...checks(t),
    uniqueIndex('rules_one_text').on(
      t.effect,
      t.tool,
      sql`ifnull(pattern, '')`,
      sql`ifnull(agent_id, '')`,
      sql`ifnull(folder, '')`,
      sql`ifnull(digest, '')`,
    ),
  ],
)
