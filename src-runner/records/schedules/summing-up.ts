import { setImmediate } from 'node:timers/promises'
import type { Db } from '../../base/db/database.ts'
import type { JobStatus } from '../../contract/jobs.ts'
import type { OccurrenceState, OccurrenceSum, ScheduleSummary } from '../../contract/schedules.ts'
import { toUsd } from '../micros.ts'

export type SummedSpan = { from: number; to: number; scheduleId?: string | undefined }

export type SchedulesSummary = { all: OccurrenceSum[]; costUsd: number; schedules: ScheduleSummary[]; count: number }

/** Nobody reads further; what is left out is in the sums of all. */
export const MOST_SUMMARIES = 200
/** Schedules that are summed up before whatever else waits gets its turn: a ledger keeps up to 2,000 rows of each. */
const AT_ONCE = 10

type ScheduleHead = { seq: number; id: string; name: string; status: ScheduleSummary['status']; agent_name: string }
type SumRow = {
  state: OccurrenceState
  job_status: JobStatus | null
  quiet: number | null
  times: number
  cost_micros: number
  last_at: number
  reason: string
}

const SCHEDULES = `SELECT schedule.seq, schedule.id, schedule.name, schedule.status, agent.name AS agent_name
  FROM schedules AS schedule JOIN agents AS agent ON agent.id = schedule.agent_id`

/**
 * A row that stands for many due times may begin before the span and reach into it; in between lie only runs that somebody
 * asked for. The reason is that of the newest row.
 */
const SUMS = `
  SELECT occurrence.state, job.status AS job_status, job.quiet, sum(occurrence.times) AS times,
    ifnull(sum(job.cost_micros), 0) AS cost_micros, max(ifnull(occurrence.until_at, occurrence.due_at)) AS last_at, occurrence.reason
  FROM occurrences AS occurrence LEFT JOIN agent_jobs AS job ON job.seq = occurrence.job_seq
  WHERE occurrence.schedule_seq = @seq AND occurrence.due_at < @to AND occurrence.due_at >= ifnull(
    (SELECT iif(before.until_at >= @from, before.due_at, NULL) FROM occurrences AS before
      WHERE before.schedule_seq = @seq AND before.due_at < @from AND before.origin = 'clock' ORDER BY before.due_at DESC LIMIT 1), @from)
    AND ifnull(occurrence.until_at, occurrence.due_at) >= @from
  GROUP BY occurrence.state, job.status, job.quiet`

/** What came due in a span of time and what became of it: in all, and for each schedule of which something came due. */
export async function sumUpSchedules(db: Db, { from, to, scheduleId }: SummedSpan): Promise<SchedulesSummary> {
  const heads =
    scheduleId === undefined
      ? db.prepare<ScheduleHead>(SCHEDULES).all()
      : db.prepare<ScheduleHead>(`${SCHEDULES} WHERE schedule.id = ?`).all(scheduleId)
  const all = new Map<string, OccurrenceSum>()
  const schedules: ScheduleSummary[] = []
  let costMicros = 0
  for (const [nth, { seq, id, name, status, agent_name: agentName }] of heads.entries()) {
    if (nth > 0 && nth % AT_ONCE === 0) await setImmediate()
    const rows = db.prepare<SumRow>(SUMS).all({ seq, from, to })
    if (rows.length === 0) continue
    const cost = rows.reduce((sum, row) => sum + row.cost_micros, 0)
    const sums = rows.map(sumOf).sort((a, b) => b.lastAt - a.lastAt)
    costMicros += cost
    schedules.push({ scheduleId: id, name, agentName, status, sums, costUsd: toUsd(cost) })
    for (const sum of sums) add(all, sum)
  }
  return {
    all: [...all.values()].sort((a, b) => b.lastAt - a.lastAt),
    costUsd: toUsd(costMicros),
    schedules: schedules.sort((a, b) => rankOf(a) - rankOf(b) || b.sums[0]!.lastAt - a.sums[0]!.lastAt).slice(0, MOST_SUMMARIES),
    count: schedules.length,
  }
}

function sumOf({ state, job_status: jobStatus, quiet, times, last_at: lastAt, reason }: SumRow): OccurrenceSum {
  return { state, jobStatus, quiet: quiet === 1, times, reason, lastAt }
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
