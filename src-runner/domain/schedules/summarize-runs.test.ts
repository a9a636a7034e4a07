import { quote } from '../../lib/messages.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { OccurrenceSum } from '../../contract/schedules.ts'
import { replyOf } from '../../testing/domain-rig.ts'
import { openScheduleRig, type ScheduleRig } from '../../testing/schedule-rig.ts'
import { MAX_SUMMARIES } from './summarize-runs.ts'

const HOUR = 3_600_000

let rig: ScheduleRig
beforeEach(() => {
  rig = openScheduleRig(Date.UTC(2026, 10, 20, 10))
})
afterEach(() => rig.close())

const sumUp = (from: number, to?: number, scheduleId?: string) => rig.schedules.sumUp(rig.domain.db, { from, to, scheduleId })
const countsOf = (sums: readonly OccurrenceSum[]) => sums.map(({ state, jobStatus, times }) => `${times} ${state} ${jobStatus}`).sort()

it('sums up what ran, what did not run and why, and the cost', async () => {
  const schedule = rig.create({ name: 'News' })
  const before = rig.clock.now()
  rig.clock.advance(HOUR)
  rig.look()
  rig.end(rig.live(schedule)[0]!, undefined, 30_000)
  rig.clock.advance(HOUR)
  rig.look()
  rig.end(rig.live(schedule)[0]!, { kind: 'failed', error: 'model_unavailable', message: quote('Gone.') }, 10_000)
  const away = rig.clock.now()
  rig.clock.advance(6.5 * HOUR)
  rig.look()

  const { all, schedules, costUsd, count } = await sumUp(before)
  expect(countsOf(all)).toEqual(['1 caught_up pending', '1 ran completed', '1 ran failed', '5 missed null'])
  expect(schedules).toEqual([
    { scheduleId: schedule.id, name: 'News', agentName: 'Ada', status: 'active', sums: all, costUsd: 0.04, priced: true },
  ])
  expect({ costUsd, count }).toEqual({ costUsd: 0.04, count: 1 })
  expect(all.find(({ state }) => state === 'missed')).toMatchObject({
    reason: expect.objectContaining({ code: 'due_missed' }),
    lastAt: before + 7 * HOUR,
  })
  expect(countsOf((await sumUp(away + 1)).all)).toEqual(['1 caught_up pending', '5 missed null'])
  expect(countsOf((await sumUp(before, away + 1)).all)).toEqual(['1 ran completed', '1 ran failed'])
})

it('says whether a run called a model without a price', async () => {
  const schedule = rig.create({})
  const before = rig.clock.now()
  rig.clock.advance(HOUR)
  rig.look()
  rig.end(rig.live(schedule)[0]!, undefined, 30_000)
  expect(await sumUp(before)).toMatchObject({ costUsd: 0.03, priced: true })
  rig.clock.advance(HOUR)
  rig.look()
  rig.write((tx) => {
    const { claim } = rig.jobs.claim(tx, rig.live(schedule)[0]!, 1000)!
    rig.jobs.settle(tx, claim, { kind: 'completed', text: 'Done.' }, replyOf('Done.', { costMicros: 0, priced: false }))
  })
  expect(rig.runHistory(schedule).map(({ priced }) => priced)).toEqual([true, false])
  expect(await sumUp(before)).toMatchObject({ costUsd: 0.03, priced: false })
})

it('counts a shared row if the span overlaps with it', async () => {
  const watch = rig.create({ cron: '* * * * *' })
  rig.clock.advance(50 * HOUR)
  rig.look()
  const row = rig.runHistory(watch).find(({ times }) => times > 1)!
  const { all } = await sumUp(row.dueAt + HOUR)
  expect(all.find(({ state }) => state === 'missed')!.times).toBeGreaterThanOrEqual(row.times)
  expect((await sumUp(rig.clock.now() + HOUR, rig.clock.now() + 2 * HOUR)).all).toEqual([])
})

it('counts a run that a person started within a shared row separately', async () => {
  const watch = rig.create({ cron: '* * * * *' })
  rig.write((tx) => rig.schedules.pause(tx, watch.id))
  rig.clock.advance(20 * HOUR)
  rig.write((tx) => rig.schedules.runNow(tx, watch.id))
  rig.end(rig.live(watch)[0]!)
  const asked = rig.clock.now()
  rig.clock.advance(30 * HOUR)
  rig.write((tx) => rig.schedules.resume(tx, watch.id))
  const row = rig.runHistory(watch).find(({ times }) => times > 1)!
  expect(row.dueAt).toBeLessThan(asked)
  const paused = (sums: readonly OccurrenceSum[]) => sums.filter(({ state }) => state === 'paused').map(({ times }) => times)
  for (const from of [asked, asked + HOUR]) expect(paused((await sumUp(from)).all)[0]).toBeGreaterThanOrEqual(row.times)
  expect(countsOf((await sumUp(asked)).all)).toContain('1 ran completed')
  expect((await sumUp(asked + HOUR)).all.map(({ state }) => state)).toEqual(['paused'])
})

it('omits schedules without due times, and lists those with problems first', async () => {
  const from = rig.clock.now()
  const [failed, missed, well] = ['Failed', 'Missed', 'Well'].map((name) => rig.create({ name, catchUpHours: 0 }))
  rig.create({ name: 'Yearly', cron: '0 0 1 1 *' })
  rig.clock.advance(HOUR)
  rig.look()
  rig.end(rig.live(failed!)[0]!, { kind: 'failed', error: 'internal', message: quote('Gone.') })
  for (const schedule of [missed!, well!]) rig.end(rig.live(schedule)[0]!)
  for (const schedule of [failed!, well!]) rig.write((tx) => rig.schedules.update(tx, schedule.id, { cron: '0 0 1 1 *' }))
  rig.clock.advance(4.5 * HOUR)
  rig.look()
  expect((await sumUp(from)).schedules.map(({ name }) => name)).toEqual(['Failed', 'Missed', 'Well'])
  expect(countsOf((await sumUp(from, undefined, well!.id)).all)).toEqual(['1 ran completed'])
})

it('counts all schedules, and lists a limited number', async () => {
  const from = rig.clock.now()
  for (let n = 0; n < MAX_SUMMARIES + 5; n++) rig.create({ name: `Watch ${n}`, catchUpHours: 0 })
  rig.clock.advance(2 * HOUR)
  const due = rig.schedules.listDue(rig.domain.db, 'running', { at: -1, seq: 0 }, 1000)
  rig.write((tx) =>
    rig.schedules.decide(
      tx,
      due.map(({ id }) => id),
    ),
  )
  const { all, schedules, count } = await sumUp(from)
  expect(schedules).toHaveLength(MAX_SUMMARIES)
  expect(count).toBe(MAX_SUMMARIES + 5)
  expect(all.reduce((sum, { times }) => sum + times, 0)).toBe(2 * count)
})
