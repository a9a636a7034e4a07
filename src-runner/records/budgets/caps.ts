import type { Db } from '../../base/db/database.ts'
import { toMicros } from '../micros.ts'
import { readSettings } from '../settings/settings.ts'
import { QUARTER_MS } from '../spend/add-spend.ts'
import { readAgentSpend } from '../spend/agent-spend.ts'
import { readExtension, type Purse } from './extensions.ts'
import { periodOf } from './periods.ts'

/** A limit on money as it stands: `limitMicros` with what was added, `baseMicros` without. */
export type Cap = Purse & { baseMicros: number; limitMicros: number; spentMicros: number }

type JobRow = {
  id: string
  agent_id: string
  cost_micros: number
  children_cost_micros: number
  max_cost_micros: number
  parent_job_id: string | null
  parent_call_id: string | null
}

/**
 * Every cap that a model call of this job counts against: its own, those of the jobs that delegated it, its agent's day
 * and month, everybody's day. What is dated later than `now` was spent by a clock that was ahead for long enough to be
 * believed, and is of no day that has been: it is in the way of nothing before its time.
 */
export function readCaps(db: Db, jobId: string, now: number, timezone: string): Cap[] {
  const chain = readChain(db, jobId)
  const job = chain[0]
  if (job === undefined) return []
  const caps = chain.map((row) =>
    capOf(db, { scope: 'job', owner: row.id, period: '' }, row.max_cost_micros, row.cost_micros + row.children_cost_micros),
  )
  const until = now - (now % QUARTER_MS) + QUARTER_MS
  const budgets = db
    .prepare<{ day: number | null; month: number | null }>(
      'SELECT day_budget_micros AS day, month_budget_micros AS month FROM agents WHERE id = ?',
    )
    .get(job.agent_id)!
  for (const [scope, kind, base] of [['agent_day', 'day', budgets.day] as const, ['agent_month', 'month', budgets.month] as const]) {
    if (base === null) continue
    const { name, startAt } = periodOf(kind, now, timezone)
    caps.push(capOf(db, { scope, owner: job.agent_id, period: name }, base, readAgentSpend(db, job.agent_id, startAt, until)))
  }
  const { dayBudgetUsd } = readSettings(db)
  if (dayBudgetUsd !== null) {
    const { name, startAt } = periodOf('day', now, timezone)
    caps.push(capOf(db, { scope: 'app_day', owner: '', period: name }, toMicros(dayBudgetUsd), spentByAll(db, startAt, until)))
  }
  return caps
}

/** The job and those above it that delegated it, the job itself first. */
function readChain(db: Db, jobId: string): JobRow[] {
  const read = db.prepare<JobRow>(
    `SELECT job.id, job.agent_id, job.cost_micros, job.children_cost_micros, agent.max_cost_micros, job.parent_job_id, job.parent_call_id
     FROM agent_jobs AS job JOIN agents AS agent ON agent.id = job.agent_id WHERE job.id = ?`,
  )
  const chain: JobRow[] = []
  for (let row = read.get(jobId); row !== undefined; row = row.parent_call_id === null ? undefined : read.get(row.parent_job_id))
    chain.push(row)
  return chain
}

function capOf(db: Db, purse: Purse, baseMicros: number, spentMicros: number): Cap {
  return { ...purse, baseMicros, limitMicros: baseMicros + readExtension(db, purse), spentMicros }
}

function spentByAll(db: Db, since: number, until: number): number {
  return db
    .prepare<{ micros: number }>(
      'SELECT ifnull(sum(cost_micros), 0) AS micros FROM spend_quarters WHERE quarter_at >= ? AND quarter_at < ?',
    )
    .get(since, until)!.micros
}
