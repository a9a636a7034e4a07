import type { Tx } from '../../platform/db/transact.ts'
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

/** Adds one recorded reply to the sums it is part of, in the transaction that records it. */
export function addSpend(tx: Tx, entry: SpendEntry): void {
  const sums = [entry.costMicros, entry.inputTokens, entry.outputTokens, entry.cachedTokens, entry.priced ? 0 : 1, entry.firstOfJob ? 1 : 0]
  tx.prepare(
    `INSERT INTO spend_buckets (bucket_at, cost_micros, input_tokens, output_tokens, cached_tokens, unpriced_calls, jobs)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${ADD}`,
  ).run(entry.at - (entry.at % BUCKET_MS), ...sums)
  if (entry.costMicros > 0) {
    tx.prepare(
      `INSERT INTO spend_agent_buckets (agent_id, bucket_at, cost_micros) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET cost_micros = cost_micros + excluded.cost_micros`,
    ).run(entry.agentId, entry.at - (entry.at % BUCKET_MS), entry.costMicros)
  }
  tx.prepare(
    `INSERT INTO spend_days (day_at, agent_id, channel, provider_id, model,
       cost_micros, input_tokens, output_tokens, cached_tokens, unpriced_calls, jobs, model_jobs)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${ADD}, model_jobs = model_jobs + excluded.model_jobs`,
  ).run(
    entry.at - (entry.at % UTC_DAY_MS),
    entry.agentId,
    entry.channel,
    entry.providerId,
    entry.model,
    ...sums,
    entry.firstOfModel ? 1 : 0,
  )
}
