import type { Db } from '../../platform/db/database.ts'
import type { Spend, SpendBy, SpendQuery } from '../../contract/spend.ts'
import { invalidAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { toUsd } from '../../lib/micros.ts'
import { localDate, nextLocalDayStart } from '../../lib/zone-offsets.ts'
import { agents } from '../agents/agents-table.ts'
import { BUCKET_MS, UTC_DAY_MS } from './add-spend.sql.ts'
import { spendBuckets } from './spend-table.ts'

const SUMMED = ['costMicros', 'inputTokens', 'outputTokens', 'cachedTokens', 'unpricedCalls', 'jobs'] as const
type Sums = Pick<typeof spendBuckets.$inferSelect, (typeof SUMMED)[number]>
type SumRow = Sums & { key: string | number }

/** A table of sums whose rows are `widthMs` apart, and the expressions that give the same sums from the steps themselves. */
type Source = {
  table: string
  time: string
  widthMs: number
  key: string
  jobs: string
  stepKey: string
  stepJobs: string
  /** The same of the replies of deleted jobs. */
  deletedKey: string
  deletedJobs: string
  entityId?: string
}

const days = { table: 'spend_days', time: 'day_at', widthMs: UTC_DAY_MS, jobs: 'jobs', stepJobs: 'first_of_job', deletedJobs: 'jobs' }
const SOURCES: Record<SpendBy, Source> = {
  day: {
    table: 'spend_buckets',
    time: 'bucket_at',
    widthMs: BUCKET_MS,
    key: 'bucket_at',
    jobs: 'jobs',
    stepKey: `step.created_at - step.created_at % ${BUCKET_MS}`,
    stepJobs: 'first_of_job',
    deletedKey: 'bucket_at',
    deletedJobs: 'jobs',
  },
  agent: { ...days, key: 'agent_id', stepKey: 'job.agent_id', deletedKey: 'agent_id' },
  channel: { ...days, key: 'channel', stepKey: 'job.channel', deletedKey: 'channel' },
  model: {
    ...days,
    key: "provider_id || '/' || model",
    jobs: 'model_jobs',
    stepKey: "step.provider_id || '/' || step.model",
    stepJobs: 'first_of_model',
    deletedKey: "provider_id || '/' || model",
    deletedJobs: 'model_jobs',
  },
}

/** One workspace. Sums by quarter of an hour exist only for all of them, so its days are UTC days. */
function sourceFor(by: SpendBy, entityId: string | undefined): Source {
  if (entityId === undefined) return SOURCES[by]
  const day = {
    ...days,
    key: 'day_at',
    stepKey: `step.created_at - step.created_at % ${UTC_DAY_MS}`,
    deletedKey: `bucket_at - bucket_at % ${UTC_DAY_MS}`,
  }
  return { ...(by === 'day' ? day : SOURCES[by]), entityId }
}

function requireUtc(timezone = 'UTC'): string {
  if (timezone === 'UTC') return timezone
  throw invalidAt('timezone', createMessage('spend_only_utc'))
}

const LATEST = Number.MAX_SAFE_INTEGER - UTC_DAY_MS

/**
 * What recorded replies cost, in groups. A job counts once in each group, where it spent first: by day on the day of its first
 * reply, by model once for every model it used. Days are in order, other groups start with the most expensive. Without a time
 * zone, days are those of UTC. Throws AppError invalid_request for an unknown one.
 */
export function readSpend(db: Db, { by, from = 0, to = LATEST, timezone }: SpendQuery, entityId?: string): Spend {
  const dateOf = createDateReader(entityId === undefined ? (timezone ?? 'UTC') : requireUtc(timezone))
  const groups = new Map<string, Sums>()
  for (const { key, ...sums } of readSums(db, sourceFor(by, entityId), from, to)) {
    const name = by === 'day' ? dateOf(key as number) : String(key)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, sums)
    else for (const column of SUMMED) group[column] += sums[column]
  }
  const labelOf = createLabeler(db, by)
  const rows = [...groups].map(([key, { costMicros, ...counts }]) => ({ key, label: labelOf(key), costUsd: toUsd(costMicros), ...counts }))
  rows.sort(by === 'day' ? (a, b) => compare(a.key, b.key) : (a, b) => b.costUsd - a.costUsd || compare(a.label, b.label))
  const totalMicros = [...groups.values()].reduce((sum, { costMicros }) => sum + costMicros, 0)
  return { rows, totalUsd: toUsd(totalMicros), unpricedCalls: rows.reduce((sum, row) => sum + row.unpricedCalls, 0) }
}

/** To be called in ascending order, because a year has 35,000 buckets and 365 dates. */
function createDateReader(timezone: string): (at: number) => string {
  try {
    localDate(0, timezone)
  } catch (error) {
    throw invalidAt('timezone', createMessage('cron_bad_zone'), error)
  }
  let date = ''
  let end = -Infinity
  return (at) => {
    if (at >= end) {
      date = localDate(at, timezone)
      end = nextLocalDayStart(at, timezone)
    }
    return date
  }
}

/** Reads the table of sums for the rows that the span covers completely, and the steps for the rest at both ends. */
function readSums(db: Db, source: Source, from: number, to: number): SumRow[] {
  const firstFull = Math.ceil(from / source.widthMs) * source.widthMs
  const endFull = Math.floor(to / source.widthMs) * source.widthMs
  if (firstFull >= endFull) return sumSteps(db, source, from, to)
  return [...sumSteps(db, source, from, firstFull), ...sumRows(db, source, firstFull, endFull), ...sumSteps(db, source, endFull, to)]
}

function sumRows(db: Db, { table, time, key, jobs, entityId }: Source, from: number, to: number): SumRow[] {
  return db
    .prepare<SumRow>(
      `SELECT ${key} AS key, sum(cost_micros) AS costMicros, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
         sum(cached_tokens) AS cachedTokens, sum(unpriced_calls) AS unpricedCalls, sum(${jobs}) AS jobs
       FROM ${table} WHERE ${time} >= ? AND ${time} < ? ${ofAgents(entityId)} GROUP BY 1 ORDER BY 1`,
    )
    .all(from, to, ...(entityId === undefined ? [] : [entityId]))
}

/** Deleted jobs are counted by quarters of an hour, at the beginning of each. */
function sumSteps(db: Db, source: Source, from: number, to: number): SumRow[] {
  if (to <= from) return []
  const { stepKey, stepJobs, deletedKey, deletedJobs, entityId } = source
  const deleted = { ...source, table: 'spend_of_deleted', time: 'bucket_at', key: deletedKey, jobs: deletedJobs }
  const kept = db
    .prepare<SumRow>(
      `SELECT ${stepKey} AS key, sum(step.cost_micros) AS costMicros, sum(step.input_tokens) AS inputTokens,
         sum(step.output_tokens) AS outputTokens, sum(step.cached_tokens) AS cachedTokens, sum(1 - step.priced) AS unpricedCalls,
         sum(step.${stepJobs}) AS jobs
       FROM job_steps AS step CROSS JOIN agent_jobs AS job ON job.seq = step.job_seq
       WHERE step.kind = 'reply' AND step.created_at >= ? AND step.created_at < ?
         ${entityId === undefined ? '' : 'AND job.entity_id = ?'} GROUP BY 1 ORDER BY 1`,
    )
    .all(from, to, ...(entityId === undefined ? [] : [entityId]))
  return [...kept, ...sumRows(db, deleted, from, to)].sort((a, b) => compare(a.key, b.key))
}

function ofAgents(entityId: string | undefined): string {
  return entityId === undefined ? '' : 'AND agent_id IN (SELECT id FROM agents WHERE entity_id = ?)'
}

function createLabeler(db: Db, by: SpendBy): (key: string) => string {
  if (by === 'model') return (key) => key.slice(key.indexOf('/') + 1)
  if (by !== 'agent') return (key) => key
  const rows = db.select({ id: agents.id, name: agents.name }).from(agents).all()
  const names = new Map(rows.map(({ id, name }) => [id, name]))
  return (key) => names.get(key) ?? key
}

function compare<Key extends string | number>(a: Key, b: Key): number {
  return a < b ? -1 : a > b ? 1 : 0
}
