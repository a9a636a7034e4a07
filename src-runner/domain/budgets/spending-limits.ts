import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { toMicros } from '../../lib/micros.ts'
import { DAY_MS, localDate, localDayStart } from '../../lib/zone-offsets.ts'
import { agents } from '../agents/agents-table.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { readSettings } from '../settings/settings.ts'
import { BUCKET_MS } from '../spend/add-spend.sql.ts'
import { readAgentSpend, readSpendOfAll } from '../spend/agent-spend.ts'
import { readImportedSpend } from '../spend/imported-spend.ts'
import { readExtension, type BudgetKey } from './extensions.ts'

/** `limitMicros` includes what a person added to `baseMicros`. */
export type SpendingLimit = BudgetKey & { baseMicros: number; limitMicros: number; spentMicros: number }

/**
 * Every limit that a model call of this job counts against: its own, those of the jobs that delegated it, its agent's day and
 * month, and the day of all agents. Spend dated later than `now` was recorded by a clock that was ahead long enough to be
 * trusted. It counts when its day comes.
 */
export function readSpendingLimits(db: Db, jobId: string, now: number, timezone: string): SpendingLimit[] {
  const chain = readChain(db, jobId)
  const job = chain[0]
  if (job === undefined) return []
  const limits = chain.map(({ id, limitUsd, costUsd, childrenCostUsd }) =>
    limitOf(db, { scope: 'job', owner: id, period: '' }, toMicros(limitUsd), toMicros(costUsd) + toMicros(childrenCostUsd)),
  )
  const until = now - (now % BUCKET_MS) + BUCKET_MS
  const { agentId } = job
  for (const [scope, kind, limitUsd] of [['agent_day', 'day', job.dayUsd] as const, ['agent_month', 'month', job.monthUsd] as const]) {
    if (limitUsd === null) continue
    const { name, startAt } = periodOf(kind, now, timezone)
    const spent = readAgentSpend(db, agentId, startAt, until)
    limits.push(limitOf(db, { scope, owner: agentId, period: name }, toMicros(limitUsd), spent))
  }
  const { dayBudgetUsd } = readSettings(db)
  if (dayBudgetUsd !== null) {
    const { name, startAt } = periodOf('day', now, timezone)
    const span = { since: startAt, until }
    const spent = readSpendOfAll(db, span) - readImportedSpend(db, span)
    limits.push(limitOf(db, { scope: 'app_day', owner: '', period: name }, toMicros(dayBudgetUsd), spent))
  }
  return limits
}

/** The local day or month that `now` is in. */
export function periodOf(kind: 'day' | 'month', now: number, timezone: string): { name: string; startAt: number } {
  const date = localDate(now, timezone)
  const startAt = localDayStart(now, timezone)
  if (kind === 'day') return { name: date, startAt }
  const middleOfFirstDay = startAt - (Number(date.slice(8)) - 1.5) * DAY_MS
  return { name: date.slice(0, 7), startAt: localDayStart(middleOfFirstDay, timezone) }
}

const JOB_WITH_LIMITS = prepareOnce((db: Db) =>
  db
    .select({
      id: jobs.id,
      agentId: jobs.agentId,
      costUsd: jobs.costUsd,
      childrenCostUsd: jobs.childrenCostUsd,
      parentJobId: jobs.parentJobId,
      parentCallId: jobs.parentCallId,
      limitUsd: agents.maxCostUsd,
      dayUsd: agents.dayBudgetUsd,
      monthUsd: agents.monthBudgetUsd,
    })
    .from(jobs)
    .innerJoin(agents, eq(agents.id, jobs.agentId))
    .where(eq(jobs.id, sql.placeholder('id'))),
)

type JobWithLimits = NonNullable<ReturnType<ReturnType<typeof JOB_WITH_LIMITS>['get']>>

/** The job, then the jobs above it that delegated it. */
function readChain(db: Db, jobId: string): JobWithLimits[] {
  const chain: JobWithLimits[] = []
  const read = (id: string | null) => (id === null ? undefined : JOB_WITH_LIMITS(db).get({ id }))
  for (let row = read(jobId); row !== undefined; row = row.parentCallId === null ? undefined : read(row.parentJobId)) chain.push(row)
  return chain
}

function limitOf(db: Db, key: BudgetKey, baseMicros: number, spentMicros: number): SpendingLimit {
  return { ...key, baseMicros, limitMicros: baseMicros + readExtension(db, key), spentMicros }
}
