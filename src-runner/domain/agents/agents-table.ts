import { sql } from 'drizzle-orm'
import { index, integer, text, uniqueIndex, sqliteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { count, flag, jsonArray, moment, oneOf, caselessText, usd, checks } from '../../platform/db/column-types.ts'
import { Autonomy, Folder, ModelRef } from '../../contract/agents.ts'
import { entities } from '../entities/entities-table.ts'

export const agents = sqliteTable(
  'agents',
  {
    id: text('id').primaryKey(),
    entityId: text('entity_id')
      .notNull()
      .references(() => entities.id),
    slug: text('slug').notNull(),
    name: caselessText('name').notNull(),
    avatar: text('avatar'),
    instructions: text('instructions').notNull(),
    providerId: text('provider_id'),
    model: text('model'),
    fallbacks: jsonArray('fallbacks', z.array(ModelRef)).notNull(),
    autonomy: oneOf('autonomy', Autonomy.options).notNull(),
    folders: jsonArray('folders', z.array(Folder)).notNull(),
    maxTurns: integer('max_turns').notNull(),
    maxCostUsd: usd('max_cost_micros').notNull(),
    maxWorkingMs: integer('max_working_ms').notNull(),
    maxToolCalls: count('max_tool_calls').notNull(),
    isDefault: flag('is_default').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    deletedAt: moment('deleted_at'),
    dayBudgetUsd: usd('day_budget_micros'),
    monthBudgetUsd: usd('month_budget_micros'),
  },
  (t) => [
    ...checks(
      t,
      'max_turns > 0',
      'max_cost_micros > 0',
      'max_working_ms > 0',
      'day_budget_micros > 0',
      'month_budget_micros > 0',
      '(provider_id IS NULL) = (model IS NULL)',
      'deleted_at IS NULL OR is_default = 0',
    ),
    uniqueIndex('agents_one_slug')
      .on(t.entityId, t.slug)
      .where(sql`deleted_at IS NULL`),
    uniqueIndex('agents_one_default')
      .on(t.entityId)
      .where(sql`is_default = 1`),
    index('agents_by_name')
      .on(t.name, t.id)
      .where(sql`deleted_at IS NULL`),
  ],
)
