import type { Db } from '../../platform/db/database.ts'
import type { Spend, SpendBy, SpendQuery, SpendRow } from '../../contract/spend.ts'
import { toUsd } from '../../lib/micros.ts'
import { QUARTER_MS, UTC_DAY_MS } from './add-spend.sql.ts'
import { createDayNamer } from './days.ts'

type Sums = { cost: number; input: number; output: number; cached: number; unpriced: number; jobs: number }
type SumRow = Sums & { key: string | number }

type Source = {
  /** The table of sums, the column of its time, and how far apart its rows are. */
  sums: { table: string; time: string; width: number; key: string; jobs: string }
  /** The same of the steps themselves, for the pieces at both ends. */
  steps: { key: string; jobs: string }
}

const days = { table: 'spend_days', time: 'day_at', width: UTC_DAY_MS, jobs: 'jobs' }
const SOURCES: Record<SpendBy, Source> = {
  day: {
    sums: { table: 'spend_buckets', time: 'bucket_at', width: QUARTER_MS, key: 'bucket_at', jobs: 'jobs' },
    steps: { key: `step.created_at - step.created_at % ${QUARTER_MS}`, jobs: 'step.first_of_job' },
  },
  agent: { sums: { ...days, key: 'agent_id' }, steps: { key: 'job.agent_id', jobs: 'step.first_of_job' } },
  channel: { sums: { ...days, key: 'channel' }, steps: { key: 'job.channel', jobs: 'step.first_of_job' } },
  model: {
    sums: { ...days, key: "provider_id || '/' || model", jobs: 'model_jobs' },
    steps: { key: "step.provider_id || '/' || step.model", jobs: 'step.first_of_model' },
  },
}

const LATEST = Number.MAX_SAFE_INTEGER - UTC_DAY_MS

/**
 * What recorded replies cost, in groups. A job is counted once in each group it belongs to: where it spent first (so,
 * by day, on the day of its first reply; by model, once for every model it used). Days come in their order, everything
 * else dearest first. Throws AppError invalid_request for an unknown time zone.
 */
export function readSpend(db: Db, { by, from = 0, to = LATEST, timezone }: SpendQuery): Spend {
  const dayOf = createDayNamer(timezone)
  const sums = new Map<string, Sums>()
  for (const row of readSums(db, by, from, to)) {
    const key = by === 'day' ? dayOf(row.key as number) : String(row.key)
    const sum = sums.get(key)
    sums.set(key, sum === undefined ? row : add(sum, row))
  }
  const labelOf = labelerFor(db, by)
  const rows = [...sums].map(([key, sum]) => rowOf(key, labelOf(key), sum))
  rows.sort(by === 'day' ? (a, b) => compare(a.key, b.key) : (a, b) => b.costUsd - a.costUsd || compare(a.label, b.label))
  const total = [...sums.values()].reduce((all, sum) => all + sum.cost, 0)
  return { rows, totalUsd: toUsd(total), unpricedCalls: rows.reduce((all, row) => all + row.unpricedCalls, 0) }
}

/** What lies wholly within the span from the sums, the pieces at both ends from the steps. In the order of time when by day. */
function readSums(db: Db, by: SpendBy, from: number, to: number): SumRow[] {
  const { sums, steps } = SOURCES[by]
  const firstWhole = Math.ceil(from / sums.width) * sums.width
  const endWhole = Math.floor(to / sums.width) * sums.width
  if (firstWhole >= endWhole) return addSteps(db, steps, from, to)
  return [...addSteps(db, steps, from, firstWhole), ...addSums(db, sums, firstWhole, endWhole), ...addSteps(db, steps, endWhole, to)]
}

function addSums(db: Db, { table, time, key, jobs }: Source['sums'], from: number, to: number): SumRow[] {
  return db
    .prepare<SumRow>(
      `SELECT ${key} AS key, sum(cost_micros) AS cost, sum(input_tokens) AS input, sum(output_tokens) AS output,
         sum(cached_tokens) AS cached, sum(unpriced_calls) AS unpriced, sum(${jobs}) AS jobs
       FROM ${table} WHERE ${time} >= ? AND ${time} < ? GROUP BY 1 ORDER BY 1`,
    )
    .all(from, to)
}

function addSteps(db: Db, { key, jobs }: Source['steps'], from: number, to: number): SumRow[] {
  if (to <= from) return []
  return db
    .prepare<SumRow>(
      `SELECT ${key} AS key, sum(step.cost_micros) AS cost, sum(step.input_tokens) AS input, sum(step.output_tokens) AS output,
         sum(step.cached_tokens) AS cached, sum(1 - step.priced) AS unpriced, sum(${jobs}) AS jobs
       FROM job_steps AS step CROSS JOIN agent_jobs AS job ON job.seq = step.job_seq
       WHERE step.kind = 'reply' AND step.created_at >= ? AND step.created_at < ? GROUP BY 1 ORDER BY 1`,
    )
    .all(from, to)
}

function labelerFor(db: Db, by: SpendBy): (key: string) => string {
  if (by === 'model') return (key) => key.slice(key.indexOf('/') + 1)
  if (by !== 'agent') return (key) => key
  const name = db.prepare<{ name: string }>('SELECT name FROM agents WHERE id = ?')
  return (key) => name.get(key)?.name ?? key
}

function add(a: Sums, b: Sums): Sums {
  return {
    cost: a.cost + b.cost,
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    unpriced: a.unpriced + b.unpriced,
    jobs: a.jobs + b.jobs,
  }
}

function rowOf(key: string, label: string, sum: Sums): SpendRow {
  return {
    key,
    label,
    costUsd: toUsd(sum.cost),
    inputTokens: sum.input,
    outputTokens: sum.output,
    cachedTokens: sum.cached,
    jobs: sum.jobs,
    unpricedCalls: sum.unpriced,
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
