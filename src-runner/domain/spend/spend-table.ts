import { integer, primaryKey, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { micros, moment, checks } from '../../platform/db/column-types.ts'

const who = () => ({
  agentId: text('agent_id').notNull(),
  channel: text('channel').notNull(),
  providerId: text('provider_id').notNull(),
  model: text('model').notNull(),
})

const sums = () => ({
  costMicros: micros('cost_micros').notNull(),
  inputTokens: integer('input_tokens').notNull(),
  outputTokens: integer('output_tokens').notNull(),
  cachedTokens: integer('cached_tokens').notNull(),
  unpricedCalls: integer('unpriced_calls').notNull(),
  jobs: integer('jobs').notNull(),
})

export const spendBuckets = sqliteTable(
  'spend_buckets',
  {
    bucketAt: moment('bucket_at').primaryKey(),
    ...sums(),
  },
  (t) => [...checks(t, 'bucket_at % 900000 = 0')],
)

export const spendDays = sqliteTable(
  'spend_days',
  {
    dayAt: moment('day_at').notNull(),
    ...who(),
    ...sums(),
    modelJobs: integer('model_jobs').notNull(),
  },
  (t) => [...checks(t, 'day_at % 86400000 = 0'), primaryKey({ columns: [t.dayAt, t.agentId, t.channel, t.providerId, t.model] })],
)

export const spendAgentBuckets = sqliteTable(
  'spend_agent_buckets',
  {
    agentId: text('agent_id').notNull(),
    bucketAt: moment('bucket_at').notNull(),
    costMicros: micros('cost_micros').notNull(),
  },
  (t) => [...checks(t, 'bucket_at % 900000 = 0'), primaryKey({ columns: [t.agentId, t.bucketAt] })],
)

/** The replies of deleted jobs, so that what was spent stays counted where the sums above are too coarse. */
export const spendOfDeleted = sqliteTable(
  'spend_of_deleted',
  {
    bucketAt: moment('bucket_at').notNull(),
    ...who(),
    ...sums(),
    modelJobs: integer('model_jobs').notNull(),
  },
  (t) => [...checks(t, 'bucket_at % 900000 = 0'), primaryKey({ columns: [t.bucketAt, t.agentId, t.channel, t.providerId, t.model] })],
)
