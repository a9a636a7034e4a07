import { afterEach, beforeEach, expect, it } from 'vitest'
import { openScheduleRig, type ScheduleRig } from '../../testing/schedule-rig.ts'
import type { Schedule } from '../../contract/schedules.ts'
import { LEDGER_KEEPS } from './forgetting.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let rig: ScheduleRig
beforeEach(() => {
  rig = openScheduleRig()
})
afterEach(() => rig.close())

const forget = () => rig.write((tx) => rig.schedules.forgetSome(tx))
/** Looks at every minute for so long; its runs end at once. */
function runFor(schedule: Schedule, minutes: number): void {
  rig.records.db.connection.pragma('synchronous = OFF')
  for (let minute = 0; minute < minutes; minute++) {
    rig.clock.advance(MINUTE)
    rig.write((tx) => rig.schedules.decide(tx, schedule.id))
    for (const jobId of rig.live(schedule)) rig.write((tx) => void rig.jobs.cancel(tx, jobId))
  }
}

it('the ledger keeps its newest rows, and loses the others in small bites', () => {
  const schedule = rig.create({ cron: '* * * * *' })
  runFor(schedule, LEDGER_KEEPS.rows + 600)
  const all = rig.ledger(schedule)
  expect(all).toHaveLength(LEDGER_KEEPS.rows + 600)
  forget()
  expect(rig.ledger(schedule)).toEqual(all.slice(500))
  forget()
  expect(rig.ledger(schedule)).toEqual(all.slice(-LEDGER_KEEPS.rows))
  forget()
  expect(rig.ledger(schedule)).toHaveLength(LEDGER_KEEPS.rows)
}, 60_000)

it('what is older than 400 days goes, but not the last run nor what is still due', () => {
  const [yearly, held] = [rig.create({ cron: '0 10 20 11 *', catchUpHours: 0 }), rig.create({ cron: '0 10 20 11 *' })]
  rig.write((tx) => rig.schedules.runNow(tx, held.id))
  rig.clock.advance(30 * MINUTE)
  rig.look()
  rig.write((tx) => void rig.jobs.cancel(tx, rig.live(yearly)[0]!))
  const [run] = rig.ledger(yearly)
  rig.clock.advance(399 * DAY)
  rig.write((tx) => rig.schedules.decide(tx, yearly.id))
  forget()
  expect(rig.ledger(yearly).map(({ state }) => state)).toEqual(['ran', 'missed'])
  rig.clock.advance(30 * DAY)
  forget()
  expect(rig.ledger(yearly).map(({ state }) => state)).toEqual(['ran', 'missed'])
  expect(rig.read(yearly).lastRun).toMatchObject({ id: run!.id })
  rig.clock.advance(400 * DAY)
  forget()
  expect(rig.ledger(yearly).map(({ id }) => id)).toEqual([run!.id])
  expect(rig.ledger(held).map(({ state }) => state)).toEqual(['ran', 'due'])
})

it('every schedule has its turn', () => {
  const schedules = rig.write((tx) =>
    Array.from({ length: 120 }, () =>
      rig.schedules.create(tx, {
        ...{ name: 'News', agentId: rig.agentId, cron: '0 10 * * *', timezone: 'UTC', task: 'Read.', dailyBudgetUsd: 5 },
        ...{ catchUpHours: 0, notifyOnSuccess: false, notifyVia: 'auto' },
      }),
    ),
  )
  rig.clock.advance(2 * 60 * MINUTE)
  for (const { id } of schedules) rig.write((tx) => rig.schedules.decide(tx, id))
  rig.clock.advance(401 * DAY)
  const left = () => schedules.filter((schedule) => rig.ledger(schedule).length > 0).length
  const seen = [left()]
  for (let bite = 0; bite < 3; bite++) {
    forget()
    seen.push(left())
  }
  expect(seen).toEqual([120, 70, 20, 0])
  forget()
  expect(left()).toBe(0)
})
