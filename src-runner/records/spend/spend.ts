import type { Db } from '../../base/db/database.ts'
import type { Spend, SpendBy, SpendQuery, SpendRow } from '../../contract/spend.ts'
import { toUsd } from '../micros.ts'
import { QUARTER_MS } from './add-spend.ts'
import { createDayNamer } from './days.ts'

type Sums = { cost: number; input: number; output: number; cached: number; unpriced: number; jobs: number }
type SumRow = Sums & { key: string | number }

/** Where a group's key stands, in the quarters and in the steps of the quarters that are only partly asked for. */
const KEYS: Record<SpendBy, { quarters: string; steps: string }> = {
  day: { quarters: 'quarter_at', steps: `step.created_at - step.created_at % ${QUARTER_MS}` },
  agent: { quarters: 'agent_id', steps: 'job.agent_id' },
  model: { quarters: "provider_id || '/' || model", steps: "step.provider_id || '/' || step.model" },
  channel: { quarters: 'channel', steps: 'job.channel' },
}

const LATEST = Number.MAX_SAFE_INTEGER - QUARTER_MS

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

/** Whole quarters from their sums, the pieces at both ends from the steps themselves. In the order of time when by day. */
function readSums(db: Db, by: SpendBy, from: number, to: number): SumRow[] {
  if (to <= from) return []
  const firstWhole = Math.ceil(from / QUARTER_MS) * QUARTER_MS
  const lastWhole = Math.floor(to / QUARTER_MS) * QUARTER_MS
  if (firstWhole > lastWhole) return sumSteps(db, by, from, to)
  return [...sumSteps(db, by, from, firstWhole), ...sumQuarters(db, by, firstWhole, lastWhole), ...sumSteps(db, by, lastWhole, to)]
}

function sumQuarters(db: Db, by: SpendBy, from: number, to: number): SumRow[] {
  return db
    .prepare<SumRow>(
      `SELECT ${KEYS[by].quarters} AS key, sum(cost_micros) AS cost, sum(input_tokens) AS input, sum(output_tokens) AS output,
         sum(cached_tokens) AS cached, sum(unpriced_calls) AS unpriced, sum(${by === 'model' ? 'model_jobs' : 'jobs'}) AS jobs
       FROM spend_quarters WHERE quarter_at >= ? AND quarter_at < ? GROUP BY 1 ORDER BY 1`,
    )
    .all(from, to)
}

function sumSteps(db: Db, by: SpendBy, from: number, to: number): SumRow[] {
  if (to <= from) return []
  return db
    .prepare<SumRow>(
      `SELECT ${KEYS[by].steps} AS key, sum(step.cost_micros) AS cost, sum(step.input_tokens) AS input, sum(step.output_tokens) AS output,
         sum(step.cached_tokens) AS cached, sum(1 - step.priced) AS unpriced,
         sum(${by === 'model' ? 'step.first_of_model' : 'step.first_of_job'}) AS jobs
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
