import type { Db } from '../../platform/db/database.ts'
import type { UpcomingRun } from '../../contract/schedules.ts'
import { memoize } from '../../lib/memoize.ts'
import { nextLocalDayStart } from '../../lib/zone-offsets.ts'
import { isAllPaused } from '../settings/settings.ts'
import { listRunsAfter } from './clock-changes.ts'
import { dueTimesBetween, isWatcher } from './due-times.ts'
import { findOverspend } from './daily-budget.ts'
import { findLiveJob, listDueUntil, type UpcomingRow } from './schedules.sql.ts'

/** Nobody reads more, and a busy week has many thousands. */
export const MAX_UPCOMING = 200

/** The runs expected after `now` until `until`, soonest first. A watcher has one entry for all its runs that have the same blocker. */
export function listUpcoming(
  db: Db,
  { now, moneyNow, until, entityId }: { now: number; moneyNow: number; until: number; entityId?: string | undefined },
): UpcomingRun[] {
  const pauseAll = isAllPaused(db)
  // Many schedules share an expression, and a watcher's times of a week are thousands.
  const timesOf = memoize((cron: string, timezone: string, after: number, most: number) =>
    dueTimesBetween(cron, timezone, after, until, most),
  )
  let runs: UpcomingRun[] = []
  for (const row of listDueUntil(db, until, MAX_UPCOMING, entityId)) {
    // Nothing is computed beyond the last entry that is shown.
    const last = runs.length < MAX_UPCOMING ? until : runs.at(-1)!.dueAt
    if (row.nextDueAt! > last) break
    runs.push(...runsOf(row, row.nextDueAt!))
    if (runs.length >= MAX_UPCOMING) runs = soonest(runs)
  }
  return soonest(runs)

  function runsOf(row: UpcomingRow, nextDueAt: number): UpcomingRun[] {
    const watches = isWatcher(row.cron, row.timezone)
    const due = timesOf(row.cron, row.timezone, Math.max(now, nextDueAt - 1), watches ? Infinity : MAX_UPCOMING)
    const ran = listRunsAfter(db, row.seq, now)
    const times = ran.size === 0 ? due : due.filter((at) => !ran.has(at))
    if (times.length === 0) return []
    const head = { scheduleId: row.id, name: row.name, agentName: row.agentName }
    const blockedBy = blockerOf(db, row, { now, moneyNow, pauseAll })
    const alike = (group: number[], by: UpcomingRun['blockedBy']) => {
      return { ...head, dueAt: group[0]!, times: group.length, untilAt: group.at(-1)!, blockedBy: by }
    }
    if (!watches) return times.map((dueAt, nth) => alike([dueAt], blockedBy(dueAt, nth)))
    return [...Map.groupBy(times, blockedBy)].map(([by, group]) => alike(group, by))
  }
}

/** What will prevent the run at `dueAt`, which is the `nth` one. */
function blockerOf(
  db: Db,
  row: UpcomingRow,
  { now, moneyNow, pauseAll }: { now: number; moneyNow: number; pauseAll: boolean },
): (dueAt: number, nth: number) => UpcomingRun['blockedBy'] {
  const overspent = findOverspend(db, row, row.dailyBudgetMicros, moneyNow) !== null
  const dayEnd = nextLocalDayStart(now, row.timezone)
  const live = findLiveJob(db, row.id) !== null
  return (dueAt, nth) => {
    if (pauseAll) return 'pauseAll'
    if (overspent && dueAt < dayEnd) return 'budget'
    return live && nth === 0 ? 'overlap' : null
  }
}

function soonest(runs: UpcomingRun[]): UpcomingRun[] {
  return runs.sort((a, b) => a.dueAt - b.dueAt || (a.scheduleId < b.scheduleId ? -1 : 1)).slice(0, MAX_UPCOMING)
}
