import { integer, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import {
  count,
  flag,
  jsonArray,
  moment,
  oneOf,
  caselessText,
  usd,
  checks,
  idOf,
  indexWhere,
  uniqueWhere,
} from '../../platform/db/column-types.ts'
import { Autonomy, Folder, ModelRef } from '../../contract/agents.ts'
import { entities } from '../entities/entities-table.ts'

export const agents = sqliteTable(
  'agents',
  {
    id: text('id').primaryKey(),
    entityId: idOf('entity_id', () => entities.id),
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
    uniqueWhere('agents_one_slug', [t.entityId, t.slug], 'deleted_at IS NULL'),
    uniqueWhere('agents_one_default', [t.entityId], 'is_default = 1'),
    indexWhere('agents_by_name', [t.name, t.id], 'deleted_at IS NULL'),
  ],
)
