import { readMessage } from '../../lib/messages.ts'
import { setImmediate } from 'node:timers/promises'
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { filterBy } from '../../platform/db/statements.ts'
import type { OccurrenceSum, ScheduleSummary } from '../../contract/schedules.ts'
import { toUsd } from '../../lib/micros.ts'
import { agents } from '../agents/agents-table.ts'
import { schedules } from './schedules-table.ts'
import { sumUpRuns, type SumRow } from './schedules.sql.ts'

export type SummedSpan = { from: number; to: number; scheduleId?: string | undefined; entityId?: string | undefined }

export type SchedulesSummary = { all: OccurrenceSum[]; costUsd: number; priced: boolean; schedules: ScheduleSummary[]; count: number }

/** Nobody reads more. The sums over all include the rest. */
export const MAX_SUMMARIES = 200
/** Schedules summed up in one turn of the event loop. Each has up to 2,000 rows. */
const AT_ONCE = 10

/** Sums over the due times in a span: for all schedules, and for each schedule that has any. */
export async function sumUpSchedules(db: Db, { from, to, scheduleId, entityId }: SummedSpan): Promise<SchedulesSummary> {
  const heads = db
    .select({ seq: schedules.seq, id: schedules.id, name: schedules.name, status: schedules.status, agentName: agents.name })
    .from(schedules)
    .innerJoin(agents, eq(agents.id, schedules.agentId))
    .where(and(filterBy(schedules.id, scheduleId), filterBy(schedules.entityId, entityId)))
    .all()
  const all = new Map<string, OccurrenceSum>()
  const summaries: ScheduleSummary[] = []
  let costMicros = 0
  for (const [nth, { seq, id, name, status, agentName }] of heads.entries()) {
    if (nth > 0 && nth % AT_ONCE === 0) await setImmediate()
    const rows = sumUpRuns(db, { seq, from, to })
    if (rows.length === 0) continue
    const cost = rows.reduce((sum, row) => sum + row.costMicros, 0)
    const sums = rows.map(sumOf).sort((a, b) => b.lastAt - a.lastAt)
    costMicros += cost
    const priced = rows.every(({ unpricedCalls }) => unpricedCalls === 0)
    summaries.push({ scheduleId: id, name, agentName, status, sums, costUsd: toUsd(cost), priced })
    for (const sum of sums) add(all, sum)
  }
  return {
    all: [...all.values()].sort((a, b) => b.lastAt - a.lastAt),
    costUsd: toUsd(costMicros),
    priced: summaries.every((summary) => summary.priced),
    schedules: summaries.sort((a, b) => rankOf(a) - rankOf(b) || b.sums[0]!.lastAt - a.sums[0]!.lastAt).slice(0, MAX_SUMMARIES),
    count: summaries.length,
  }
}

function sumOf({ state, jobStatus, noOp, times, lastAt, reason }: SumRow): OccurrenceSum {
  return { state, jobStatus, noOp: noOp === 1, times, reason: readMessage(reason)!, lastAt }
}

function add(all: Map<string, OccurrenceSum>, sum: OccurrenceSum): void {
  const key = `${sum.state} ${sum.jobStatus} ${sum.noOp}`
  const known = all.get(key)
  if (known === undefined) return void all.set(key, { ...sum })
  known.times += sum.times
  if (sum.lastAt > known.lastAt) Object.assign(known, { lastAt: sum.lastAt, reason: sum.reason })
}

/** The lowest rank comes first: runs that failed or wait for a person, due times without a run, the rest. */
function rankOf({ sums }: ScheduleSummary): number {
  if (sums.some(({ jobStatus }) => jobStatus === 'failed' || jobStatus === 'awaiting_approval')) return 0
  return sums.some(({ state }) => state === 'missed' || state === 'skipped_budget' || state === 'skipped_overlap') ? 1 : 2
}
