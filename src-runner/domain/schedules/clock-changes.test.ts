import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import type { Schedule } from '../../contract/schedules.ts'
import { openScheduleRig, type ScheduleRig } from '../../testing/schedule-rig.ts'
import { findRunBefore } from './schedule-cursor.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY
const at = (text: string) => Date.parse(text)
const START = at('2026-11-20T09:30:00Z')

let rig: ScheduleRig
beforeEach(() => {
  rig = openScheduleRig(START)
})
afterEach(() => rig.close())

/** Moves time without a check in between. */
const goTo = (text: string) => rig.clock.advance(at(text) - rig.clock.now())
const states = (schedule: Schedule) =>
  rig.runHistory(schedule).map(({ dueAt, state }) => `${new Date(dueAt).toISOString().slice(2, 16)} ${state}`)
/** Sets the clock and checks at once, as the app does within half a minute. Returns the number of jobs made. */
const set = (ms: number): number => {
  rig.clock.jump(ms)
  return rig.look()
}
const endAll = (schedule: Schedule) => {
  for (const jobId of rig.live(schedule)) rig.end(jobId)
}

describe('a clock that is set back a little', () => {
  it('runs no due time twice, and runs one that made no job before', () => {
    const schedule = rig.create()
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    endAll(schedule)
    expect(states(schedule)).toEqual(['26-11-20T10:00 missed', '26-11-20T11:00 ran'])
    expect(set(-2 * HOUR)).toBe(0)
    expect(rig.read(schedule).nextDueAt).toBe(at('2026-11-20T10:00:00Z'))
    for (const [time, jobs] of [
      ['10:00', 1],
      ['11:00', 0],
      ['12:00', 1],
    ] as const) {
      goTo(`2026-11-20T${time}:00Z`)
      expect(rig.look(), time).toBe(jobs)
      endAll(schedule)
    }
    expect(states(schedule)).toEqual(['26-11-20T10:00 ran', '26-11-20T11:00 ran', '26-11-20T12:00 ran'])
  })

  it('by up to a day runs nothing twice', () => {
    const schedule = rig.create({ cron: '*/10 * * * *' })
    const runNext = () => {
      rig.clock.advance(rig.read(schedule).nextDueAt! - rig.clock.now())
      const jobs = rig.look()
      endAll(schedule)
      return jobs
    }
    while (rig.clock.now() < START + DAY + HOUR) runNext()
    for (const ms of [1, 500, 30_000, HOUR, 2 * HOUR, DAY]) {
      const [until, before] = [rig.clock.now(), states(schedule)]
      set(-ms)
      while (rig.clock.now() < until) {
        rig.clock.advance(Math.min(10 * MINUTE, until + 5 * MINUTE - rig.clock.now()))
        expect(rig.look(), `${ms} ms`).toBe(0)
      }
      expect(states(schedule), `${ms} ms`).toEqual(before)
      expect(runNext(), `${ms} ms`).toBe(1)
    }
  })

  it('removes a waiting due time, which waits again when its time comes', () => {
    const schedule = rig.create()
    goTo('2026-11-20T10:00:00Z')
    rig.look()
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    expect(states(schedule)).toEqual(['26-11-20T10:00 ran', '26-11-20T11:00 due'])
    set(-90 * MINUTE)
    expect(states(schedule)).toEqual(['26-11-20T10:00 ran'])
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    expect(states(schedule)).toEqual(['26-11-20T10:00 ran', '26-11-20T11:00 due'])
    endAll(schedule)
    expect(rig.look()).toBe(1)
    expect(states(schedule)).toEqual(['26-11-20T10:00 ran', '26-11-20T11:00 ran'])
  })

  it('counts by a new cron expression from now on, and repeats no due time that both have', () => {
    const schedule = rig.create()
    goTo('2026-11-20T11:00:00Z')
    rig.look()
    rig.clock.jump(-HOUR)
    const changed = rig.write((tx) => rig.schedules.update(tx, schedule.id, { cron: '*/30 * * * *' }))
    expect(changed.nextDueAt).toBe(at('2026-11-20T10:30:00Z'))
    goTo('2026-11-20T10:30:00Z')
    rig.look()
    expect(rig.read(schedule).nextDueAt).toBe(at('2026-11-20T11:30:00Z'))
  })

  it('keeps a run of the old cron expression among the missed due times of the new one', () => {
    const schedule = rig.create({ cron: '* * * * *', catchUpHours: 0 })
    goTo('2026-11-21T21:22:10Z')
    rig.look()
    endAll(schedule)
    rig.clock.jump(-HOUR)
    rig.write((tx) => rig.schedules.update(tx, schedule.id, { cron: '5-59/10 * * * *' }))
    goTo('2026-11-21T21:28:00Z')
    rig.look()
    expect(rig.runHistory(schedule).map(({ dueAt, untilAt, times, state }) => [dueAt, untilAt, times, state])).toEqual([
      [at('2026-11-20T09:31:00Z'), at('2026-11-21T20:21:00Z'), 2091, 'missed'],
      [at('2026-11-21T20:22:00Z'), null, 1, 'ran'],
      ...['20:25', '20:35', '20:45', '20:55', '21:05', '21:15'].map((time) => [at(`2026-11-21T${time}:00Z`), null, 1, 'missed']),
      [at('2026-11-21T21:22:00Z'), null, 1, 'ran'],
      [at('2026-11-21T21:25:00Z'), null, 1, 'missed'],
    ])
  })

  it('and forward again restores the run history', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1, catchUpHours: 0 })
    goTo('2026-11-20T11:30:00Z')
    rig.look()
    rig.spend(1_000_000)
    goTo('2026-11-20T12:00:00Z')
    rig.look()
    rig.write((tx) => rig.schedules.pause(tx, schedule.id))
    goTo('2026-11-20T13:00:00Z')
    rig.look()
    rig.write((tx) => rig.schedules.resume(tx, schedule.id))
    goTo('2026-11-20T14:10:00Z')
    rig.look()
    const before = rig.runHistory(schedule)
    expect(before.map(({ state }) => state)).toEqual(['missed', 'missed', 'skipped_budget', 'paused', 'missed'])
    set(-2.5 * HOUR)
    expect(rig.runHistory(schedule)).toEqual(before.slice(0, 2))
    set(2.5 * HOUR)
    // Only the newest is decided again, with the same result.
    expect(rig.runHistory(schedule)).toEqual([...before.slice(0, 4), { ...before[4], id: expect.any(String) }])
    expect(rig.live(schedule)).toEqual([])
  })
})

describe('a clock that was set forward', () => {
  it('counts the time in between as missed', () => {
    const schedule = rig.create()
    expect(set(2 * HOUR)).toBe(1)
    expect(states(schedule)).toEqual(['26-11-20T10:00 missed', '26-11-20T11:00 caught_up'])
  })
})

describe('a clock that was a year ahead and is right again', () => {
  test.each([
    ['0 10 * * *', ['26-11-20T10:00 ran', '26-11-21T10:00 ran', '26-11-22T10:00 ran']],
    ['0 */12 * * *', ['26-11-20T12:00 ran', '26-11-21T00:00 ran', '26-11-21T12:00 ran']],
  ])('runs "%s" at its next due time and those after it', (cron, expected) => {
    const schedule = rig.create({ cron })
    expect(set(YEAR)).toBe(1)
    endAll(schedule)
    expect(rig.read(schedule).nextDueAt).toBeGreaterThan(START + YEAR)
    expect(set(-YEAR)).toBe(0)
    // Future due times are shown only if they are runs.
    const ahead = states(schedule)
    expect(ahead).toHaveLength(1)
    for (const expectedOne of expected) {
      expect(rig.clock.now()).toBeLessThan(rig.read(schedule).nextDueAt!)
      rig.clock.advance(rig.read(schedule).nextDueAt! - rig.clock.now())
      expect(rig.look(), expectedOne).toBe(1)
      endAll(schedule)
    }
    expect(states(schedule)).toEqual([...expected, ...ahead])
  })

  it('runs the next due time also if the app was started with the wrong or the right clock', () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    rig.clock.jump(YEAR)
    rig.reboot()
    rig.look()
    endAll(schedule)
    rig.clock.jump(-YEAR)
    rig.reboot()
    rig.look()
    expect(rig.read(schedule).nextDueAt).toBe(at('2026-11-20T10:00:00Z'))
  })

  it('runs a due time that came before the correction was noticed', () => {
    const [daily, hourly] = [rig.create({ cron: '0 10 * * *' }), rig.create()]
    set(YEAR)
    for (const schedule of [daily, hourly]) endAll(schedule)
    rig.clock.jump(-YEAR)
    rig.clock.advance(50 * MINUTE)
    rig.reboot()
    expect(rig.look()).toBe(2)
    expect(states(daily)[0]).toBe('26-11-20T10:00 caught_up')
    expect(states(hourly)[0]).toBe('26-11-20T10:00 caught_up')
    expect(rig.read(hourly).nextDueAt).toBe(at('2026-11-20T11:00:00Z'))
    expect(rig.look()).toBe(0)
  })

  it('does not hold up a schedule that was created or changed by it', () => {
    rig.clock.jump(YEAR)
    const made = rig.create({ cron: '0 10 * * *' })
    const changed = rig.create()
    rig.write((tx) => rig.schedules.update(tx, changed.id, { cron: '0 12 * * *' }))
    set(-YEAR)
    expect(rig.read(made).nextDueAt).toBe(at('2026-11-20T10:00:00Z'))
    expect(rig.read(changed).nextDueAt).toBe(at('2026-11-20T12:00:00Z'))
  })

  it('lets a watcher run that missed half a million times, and keeps its earlier missed runs', () => {
    const schedule = rig.create({ cron: '* * * * *' })
    rig.clock.advance(2 * DAY)
    rig.clock.jump(YEAR)
    rig.look()
    endAll(schedule)
    expect(set(-YEAR)).toBe(1)
    endAll(schedule)
    expect(rig.runHistory(schedule).map(({ state, times }) => [state, times])).toEqual([
      ['missed', 2 * 24 * 60 - 1],
      ['ran', 1],
      ['ran', 1],
    ])
    expect(rig.runHistory(schedule)[0]!.untilAt).toBe(START + 2 * DAY - MINUTE)
    for (let minute = 0; minute < 3; minute++) {
      rig.clock.advance(MINUTE)
      expect(rig.look()).toBe(1)
      endAll(schedule)
    }
    rig.clock.advance(5 * MINUTE)
    rig.look()
    expect(rig.runHistory(schedule).map(({ state }) => state)).toEqual([
      'missed',
      'ran',
      'ran',
      'ran',
      'ran',
      'missed',
      'missed',
      'missed',
      'missed',
      'ran',
      'ran',
    ])
  })

  it('catches up with the newest missed due time, and records the others', () => {
    const schedule = rig.create()
    set(YEAR)
    endAll(schedule)
    set(-YEAR)
    goTo('2026-11-20T13:20:00Z')
    expect(rig.look()).toBe(1)
    expect(states(schedule).slice(0, -1)).toEqual([
      '26-11-20T10:00 missed',
      '26-11-20T11:00 missed',
      '26-11-20T12:00 missed',
      '26-11-20T13:00 caught_up',
    ])
  })

  it('does not repeat a due time that ran by it', () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    set(YEAR)
    endAll(schedule)
    const [run] = rig.runHistory(schedule).filter(({ jobId }) => jobId !== null)
    set(-YEAR)
    rig.clock.skip(YEAR - DAY)
    rig.look()
    endAll(schedule)
    expect(run!.dueAt).toBe(at('2027-11-19T10:00:00Z'))
    goTo('2027-11-19T10:00:00Z')
    expect(rig.look()).toBe(0)
    expect(rig.runHistory(schedule).at(-1)).toEqual(expect.objectContaining({ ...run, jobStatus: 'completed' }))
    goTo('2027-11-20T10:00:00Z')
    expect(rig.look()).toBe(1)
  })

  it('restores the budget of today, and notifies the owner for today', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    rig.clock.jump(YEAR)
    rig.spend(1_000_000)
    rig.look()
    expect(rig.read(schedule).status).toBe('budget_exhausted')
    expect(rig.told).toHaveLength(1)
    set(-YEAR)
    expect(rig.read(schedule)).toMatchObject({ status: 'active', agentSpentTodayUsd: 0, spentTodayUsd: 0 })
    goTo('2026-11-20T10:00:00Z')
    expect(rig.look()).toBe(1)
    endAll(schedule)
    rig.spend(1_000_000)
    goTo('2026-11-20T11:00:00Z')
    expect(rig.look()).toBe(0)
    expect(rig.told.map(({ resumeAt }) => resumeAt)).toEqual([at('2027-11-21T00:00:00Z'), at('2026-11-21T00:00:00Z')])
    goTo('2026-11-21T00:00:00Z')
    expect(rig.look()).toBe(1)
  })

  it('lets a schedule with a spent budget wait only until tomorrow', () => {
    const schedule = rig.create({ dailyBudgetUsd: 1 })
    rig.spend(1_000_000)
    rig.clock.jump(YEAR)
    rig.spend(1_000_000)
    rig.look()
    set(-YEAR)
    expect(rig.read(schedule).status).toBe('budget_exhausted')
    expect(rig.schedules.nextAt(rig.domain.db)).toBe(at('2026-11-20T10:00:00Z'))
    goTo('2026-11-21T00:00:00Z')
    rig.look()
    expect(rig.read(schedule).status).toBe('active')
  })

  it('counts a paused schedule from now', () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    rig.write((tx) => rig.schedules.pause(tx, schedule.id))
    set(YEAR)
    set(-YEAR)
    expect(states(schedule)).toEqual([])
    goTo('2026-11-21T09:00:00Z')
    rig.look()
    expect(states(schedule)).toEqual(['26-11-20T10:00 paused'])
    rig.write((tx) => rig.schedules.resume(tx, schedule.id))
    goTo('2026-11-21T10:00:00Z')
    expect(rig.look()).toBe(1)
  })

  it('dates a run that a person starts by the right clock', () => {
    const schedule = rig.create()
    const ask = () => rig.write((tx) => rig.schedules.runNow(tx, schedule.id))
    rig.clock.jump(YEAR)
    rig.end(ask().jobId)
    set(-YEAR)
    expect(ask().occurrence.dueAt).toBe(START)
  })

  it('gives a run the result of the run that was really before it', () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    const runs: string[] = []
    const run = () => {
      rig.clock.advance(rig.read(schedule).nextDueAt! - rig.clock.now())
      rig.look()
      const [id] = rig.live(schedule)
      const before = findRunBefore(rig.domain.db, { id: id!, scheduleId: schedule.id })
      rig.end(id!)
      runs.push(id!)
      return before?.jobId ?? null
    }
    expect(run()).toBeNull()
    rig.clock.jump(YEAR)
    expect(run()).toBe(runs[0])
    set(-YEAR)
    for (const nth of [1, 2, 3]) expect(run()).toBe(runs[nth])
  })

  it('lists no upcoming run for a due time that has run', () => {
    const schedule = rig.create({ cron: '0 */2 * * *' })
    set(5 * HOUR)
    set(-5 * HOUR)
    const times = rig.schedules.listUpcoming(rig.domain.db, 9).map(({ dueAt }) => new Date(dueAt).getUTCHours())
    expect(times).toEqual([10, 12, 16, 18])
    expect(rig.read(schedule).nextDueAt).toBe(at('2026-11-20T10:00:00Z'))
  })
})

describe('a clock that is behind for a while', () => {
  it('by ten days restores the run history, and runs nothing for it', () => {
    const schedule = rig.create({ cron: '0 10 * * *', dailyBudgetUsd: 1 })
    for (let day = 0; day < 20; day++) {
      rig.clock.advance(rig.read(schedule).nextDueAt! - rig.clock.now())
      if (day % 3 === 0) rig.spend(1_000_000)
      rig.look()
      endAll(schedule)
    }
    const before = rig.runHistory(schedule)
    expect(before.filter(({ state }) => state === 'skipped_budget')).toHaveLength(7)
    expect(set(-10 * DAY)).toBe(0)
    expect(set(10 * DAY)).toBe(0)
    expect(rig.runHistory(schedule)).toEqual(before)
  })

  it('misses nothing from before a schedule was created', () => {
    rig.clock.advance(100 * DAY)
    const schedule = rig.create({ cron: '0 10 * * *' })
    set(-90 * DAY)
    expect(rig.read(schedule).nextDueAt).toBe(at('2026-11-30T10:00:00Z'))
    set(90 * DAY)
    expect(rig.runHistory(schedule)).toEqual([])
    expect(rig.read(schedule).nextDueAt).toBe(at('2027-02-28T10:00:00Z'))
  })

  it('is ignored if it shows an impossible year, as after an empty battery', () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    goTo('2026-11-20T10:00:00Z')
    rig.look()
    endAll(schedule)
    rig.clock.jump(at('2010-01-01T00:00:00Z') - rig.clock.now())
    rig.reboot()
    for (let day = 0; day < 3; day++) {
      rig.clock.advance(DAY)
      expect(rig.look()).toBe(0)
    }
    rig.clock.jump(at('2026-11-21T10:00:00Z') - rig.clock.now())
    expect(rig.look()).toBe(1)
    expect(states(schedule)).toEqual(['26-11-20T10:00 ran', '26-11-21T10:00 ran'])
  })

  it('is corrected in the end, also if it was ahead before', () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    set(YEAR)
    endAll(schedule)
    rig.clock.jump(at('2010-01-01T00:00:00Z') - rig.clock.now())
    rig.reboot()
    rig.look()
    rig.clock.jump(START - rig.clock.now())
    rig.look()
    expect(rig.read(schedule).nextDueAt).toBe(at('2026-11-20T10:00:00Z'))
  })
})
