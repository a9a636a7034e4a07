import type { Tx } from '../../platform/db/database.ts'
import type { spendDays } from './spend-table.ts'

/** Spend is summed in buckets of 15 minutes, because every local day starts with one. */
export const BUCKET_MS = 900_000
export const UTC_DAY_MS = 86_400_000

export type SpendEntry = Omit<typeof spendDays.$inferInsert, 'dayAt' | 'unpricedCalls' | 'jobs' | 'modelJobs'> & {
  at: number
  priced: boolean
  firstOfJob: boolean
  firstOfModel: boolean
}

const ADD = `
  cost_micros = cost_micros + excluded.cost_micros,
  input_tokens = input_tokens + excluded.input_tokens,
  output_tokens = output_tokens + excluded.output_tokens,
  cached_tokens = cached_tokens + excluded.cached_tokens,
  unpriced_calls = unpriced_calls + excluded.unpriced_calls,
  jobs = jobs + excluded.jobs`

// Constants, because building a text and looking it up would take a third of the time of its statement.
const ADD_TO_BUCKET = `INSERT INTO spend_buckets (bucket_at, cost_micros, input_tokens, output_tokens, cached_tokens, unpriced_calls, jobs)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${ADD}`
const ADD_TO_AGENT_BUCKET = `INSERT INTO spend_agent_buckets (agent_id, bucket_at, cost_micros) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET cost_micros = cost_micros + excluded.cost_micros`
const ADD_TO_DAY = `INSERT INTO spend_days (day_at, agent_id, channel, provider_id, model,
    cost_micros, input_tokens, output_tokens, cached_tokens, unpriced_calls, jobs, model_jobs)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${ADD}, model_jobs = model_jobs + excluded.model_jobs`

/** Adds one recorded reply to the sums it is part of, in the transaction that records it. */
export function addSpend(tx: Tx, entry: SpendEntry, { countsForAgent = true } = {}): void {
  const { at, agentId, channel, providerId, model, costMicros, inputTokens, outputTokens, cachedTokens } = entry
  const [bucketAt, dayAt] = [at - (at % BUCKET_MS), at - (at % UTC_DAY_MS)]
  const [unpriced, jobs] = [entry.priced ? 0 : 1, entry.firstOfJob ? 1 : 0]
  const sums = [costMicros, inputTokens, outputTokens, cachedTokens, unpriced, jobs] as const
  tx.prepare(ADD_TO_BUCKET).run(bucketAt, ...sums)
  if (costMicros > 0 && countsForAgent) tx.prepare(ADD_TO_AGENT_BUCKET).run(agentId, bucketAt, costMicros)
  tx.prepare(ADD_TO_DAY).run(dayAt, agentId, channel, providerId, model, ...sums, entry.firstOfModel ? 1 : 0)
}
