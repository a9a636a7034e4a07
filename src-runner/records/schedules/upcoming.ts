import type { Db } from '../../base/db/database.ts'
import type { UpcomingRun } from '../../contract/schedules.ts'
import { nextLocalDayStart } from '../../kit/zone-offsets.ts'
import { isBrakeOn } from '../settings/settings.ts'
import { listRunsAfter } from './coming-again.ts'
import { dueTimesBetween, isWatcher } from './due-times.ts'
import { findOverspend } from './exhausting.ts'
import { findLiveJob, type ScheduleRow } from './schedule-rows.ts'

/** Nobody reads further, and a busy week has many thousands. */
export const MOST_UPCOMING = 200

type Row = ScheduleRow & { agent_name: string }

const UPCOMING = `SELECT schedule.*, agent.name AS agent_name
  FROM schedules AS schedule INDEXED BY schedules_due JOIN agents AS agent ON agent.id = schedule.agent_id
  WHERE schedule.status <> 'paused' AND schedule.next_due_at <= ? ORDER BY schedule.next_due_at LIMIT ?`

/** The runs that are expected after `now` until `until`, the soonest first; of a watcher, one entry for all of them. */
export function listUpcoming(db: Db, { now, moneyNow, until }: { now: number; moneyNow: number; until: number }): UpcomingRun[] {
  const brake = isBrakeOn(db)
  const timesOf = createTimes(until)
  let runs: UpcomingRun[] = []
  for (const row of db.prepare<Row>(UPCOMING).all(until, MOST_UPCOMING)) {
    // Behind the last one that is shown, nothing has to be worked out.
    const last = runs.length < MOST_UPCOMING ? until : runs.at(-1)!.dueAt
    if (row.next_due_at! > last) break
    runs.push(...runsOf(row, row.next_due_at!))
    if (runs.length >= MOST_UPCOMING) runs = soonest(runs)
  }
  return soonest(runs)

  function runsOf(row: Row, nextDueAt: number): UpcomingRun[] {
    const watches = isWatcher(row.cron, row.timezone)
    const due = timesOf(row.cron, row.timezone, Math.max(now, nextDueAt - 1), watches ? Infinity : MOST_UPCOMING)
    const ran = listRunsAfter(db, row.seq, now)
    const times = ran.size === 0 ? due : due.filter((at) => !ran.has(at))
    if (times.length === 0) return []
    const head = { scheduleId: row.id, name: row.name, agentName: row.agent_name }
    const blockedBy = blockerOf(db, row, { now, moneyNow, brake })
    if (watches) return [{ ...head, dueAt: times[0]!, times: times.length, untilAt: times.at(-1)!, blockedBy: blockedBy(times[0]!, 0) }]
    return times.map((dueAt, nth) => ({ ...head, dueAt, times: 1, untilAt: dueAt, blockedBy: blockedBy(dueAt, nth) }))
  }
}

/** What stands in the way of the run at `dueAt`, the `nth` that comes. */
function blockerOf(
  db: Db,
  row: ScheduleRow,
  { now, moneyNow, brake }: { now: number; moneyNow: number; brake: boolean },
): (dueAt: number, nth: number) => UpcomingRun['blockedBy'] {
  const overspent = findOverspend(db, row, moneyNow) !== null
  const dayEnd = nextLocalDayStart(now, row.timezone)
  const live = findLiveJob(db, row.id) !== null
  return (dueAt, nth) => {
    if (brake) return 'brake'
    if (overspent && dueAt < dayEnd) return 'budget'
    return live && nth === 0 ? 'overlap' : null
  }
}

/** Many schedules share an expression, and a watcher's times of a week are thousands. */
function createTimes(until: number): (cron: string, timezone: string, after: number, most: number) => number[] {
  const known = new Map<string, number[]>()
  return (cron, timezone, after, most) => {
    const key = `${cron} ${timezone} ${after}`
    let times = known.get(key)
    if (times === undefined) known.set(key, (times = dueTimesBetween(cron, timezone, after, until, most).times))
    return times
  }
}

function soonest(runs: UpcomingRun[]): UpcomingRun[] {
  return runs.sort((a, b) => a.dueAt - b.dueAt || (a.scheduleId < b.scheduleId ? -1 : 1)).slice(0, MOST_UPCOMING)
}
