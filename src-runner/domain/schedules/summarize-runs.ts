import { readMessage } from '../../lib/messages.ts'
import { setImmediate } from 'node:timers/promises'
import { eq } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import type { OccurrenceSum, ScheduleSummary } from '../../contract/schedules.ts'
import { toUsd } from '../../lib/micros.ts'
import { agents } from '../agents/agents-table.ts'
import { schedules } from './schedules-table.ts'
import { sumUpRuns, type SumRow } from './schedules.sql.ts'

export type SummedSpan = { from: number; to: number; scheduleId?: string | undefined }

export type SchedulesSummary = { all: OccurrenceSum[]; costUsd: number; schedules: ScheduleSummary[]; count: number }

/** Nobody reads further; what is left out is in the sums of all. */
export const MOST_SUMMARIES = 200
/** Schedules that are summed up before whatever else waits gets its turn: a run history keeps up to 2,000 rows of each. */
const AT_ONCE = 10

/** What came due in a span of time and what became of it: in all, and for each schedule of which something came due. */
export async function sumUpSchedules(db: Db, { from, to, scheduleId }: SummedSpan): Promise<SchedulesSummary> {
  const heads = db
    .select({ seq: schedules.seq, id: schedules.id, name: schedules.name, status: schedules.status, agentName: agents.name })
    .from(schedules)
    .innerJoin(agents, eq(agents.id, schedules.agentId))
    .where(scheduleId === undefined ? undefined : eq(schedules.id, scheduleId))
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
    summaries.push({ scheduleId: id, name, agentName, status, sums, costUsd: toUsd(cost) })
    for (const sum of sums) add(all, sum)
  }
  return {
    all: [...all.values()].sort((a, b) => b.lastAt - a.lastAt),
    costUsd: toUsd(costMicros),
    schedules: summaries.sort((a, b) => rankOf(a) - rankOf(b) || b.sums[0]!.lastAt - a.sums[0]!.lastAt).slice(0, MOST_SUMMARIES),
    count: summaries.length,
  }
}

function sumOf({ state, jobStatus, quiet, times, lastAt, reason }: SumRow): OccurrenceSum {
  return { state, jobStatus, quiet: quiet === 1, times, reason: readMessage(reason)!, lastAt }
}

function add(all: Map<string, OccurrenceSum>, sum: OccurrenceSum): void {
  const key = `${sum.state} ${sum.jobStatus} ${sum.quiet}`
  const known = all.get(key)
  if (known === undefined) return void all.set(key, { ...sum })
  known.times += sum.times
  if (sum.lastAt > known.lastAt) Object.assign(known, { lastAt: sum.lastAt, reason: sum.reason })
}

/** The lower, the more the person has to know of it: what failed or waits for them, what did not run, the rest. */
function rankOf({ sums }: ScheduleSummary): number {
  if (sums.some(({ jobStatus }) => jobStatus === 'failed' || jobStatus === 'awaiting_approval')) return 0
  return sums.some(({ state }) => state === 'missed' || state === 'skipped_budget' || state === 'skipped_overlap') ? 1 : 2
}
