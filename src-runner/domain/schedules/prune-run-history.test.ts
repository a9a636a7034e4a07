import { afterEach, beforeEach, expect, it } from 'vitest'
import { openScheduleRig, type ScheduleRig } from '../../testing/schedule-rig.ts'
import type { Schedule } from '../../contract/schedules.ts'
import { RUN_HISTORY_KEEPS } from './prune-run-history.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let rig: ScheduleRig
beforeEach(() => {
  rig = openScheduleRig()
})
afterEach(() => rig.close())

const forget = () => rig.write((tx) => rig.schedules.prune(tx))
/** Checks every minute for this long. Runs end at once. */
function runFor(schedule: Schedule, minutes: number): void {
  rig.domain.db.connection.pragma('synchronous = OFF')
  for (let minute = 0; minute < minutes; minute++) {
    rig.clock.advance(MINUTE)
    rig.write((tx) => rig.schedules.decide(tx, [schedule.id]))
    for (const jobId of rig.live(schedule)) rig.write((tx) => void rig.jobs.cancel(tx, jobId))
  }
}

it('keeps the newest rows, and deletes the others in small batches', () => {
  const schedule = rig.create({ cron: '* * * * *' })
  runFor(schedule, RUN_HISTORY_KEEPS.rows + 600)
  const all = rig.runHistory(schedule)
  expect(all).toHaveLength(RUN_HISTORY_KEEPS.rows + 600)
  forget()
  expect(rig.runHistory(schedule)).toEqual(all.slice(500))
  forget()
  expect(rig.runHistory(schedule)).toEqual(all.slice(-RUN_HISTORY_KEEPS.rows))
  forget()
  expect(rig.runHistory(schedule)).toHaveLength(RUN_HISTORY_KEEPS.rows)
})

it('deletes rows older than 400 days, except the last run and waiting due times', () => {
  const [yearly, held] = [rig.create({ cron: '0 10 20 11 *', catchUpHours: 0 }), rig.create({ cron: '0 10 20 11 *' })]
  rig.write((tx) => rig.schedules.runNow(tx, held.id))
  rig.clock.advance(30 * MINUTE)
  rig.look()
  rig.write((tx) => void rig.jobs.cancel(tx, rig.live(yearly)[0]!))
  const [run] = rig.runHistory(yearly)
  rig.clock.advance(399 * DAY)
  rig.write((tx) => rig.schedules.decide(tx, [yearly.id]))
  forget()
  expect(rig.runHistory(yearly).map(({ state }) => state)).toEqual(['ran', 'missed'])
  rig.clock.advance(30 * DAY)
  forget()
  expect(rig.runHistory(yearly).map(({ state }) => state)).toEqual(['ran', 'missed'])
  expect(rig.read(yearly).lastRun).toMatchObject({ id: run!.id })
  rig.clock.advance(400 * DAY)
  forget()
  expect(rig.runHistory(yearly).map(({ id }) => id)).toEqual([run!.id])
  expect(rig.runHistory(held).map(({ state }) => state)).toEqual(['ran', 'due'])
})

it('prunes every schedule in turn', () => {
  const schedules = rig.write((tx) =>
    Array.from({ length: 120 }, () =>
      rig.schedules.create(tx, {
        name: 'News',
        agentId: rig.agentId,
        cron: '0 10 * * *',
        timezone: 'UTC',
        task: 'Read.',
        dailyBudgetUsd: 5,
        catchUpHours: 0,
        notifyOnSuccess: false,
        notifyVia: 'auto',
      }),
    ),
  )
  rig.clock.advance(2 * 60 * MINUTE)
  for (const { id } of schedules) rig.write((tx) => rig.schedules.decide(tx, [id]))
  rig.clock.advance(401 * DAY)
  const left = () => schedules.filter((schedule) => rig.runHistory(schedule).length > 0).length
  const seen = [left()]
  for (let batch = 0; batch < 3; batch++) {
    forget()
    seen.push(left())
  }
  expect(seen).toEqual([120, 70, 20, 0])
  forget()
  expect(left()).toBe(0)
})
