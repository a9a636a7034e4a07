import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Tx } from '../../platform/db/database.ts'
import { AppError } from '../../lib/errors.ts'
import { quote } from '../../lib/messages.ts'
import type { Log } from '../../lib/log.ts'
import type { ScheduleStore } from '../../domain/schedules/schedule-store.ts'
import { openScheduleRig, type ScheduleRig } from '../../testing/schedule-rig.ts'
import type { Alarm } from './alarm.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const at = (text: string) => Date.parse(text)
const START = at('2026-11-20T09:30:00Z')

let rig: ScheduleRig
let scheduler: Scheduler
let logged: string[]
/** The last moment that the alarm was set for, and how it rings. */
let set: { at: number | null; ring: () => void }
let timesSet: number

const alarm: Alarm = {
  set(moment, ring) {
    set = { at: moment, ring }
    timesSet++
  },
}

beforeEach(() => {
  rig = openScheduleRig(START)
  logged = []
  timesSet = 0
  set = { at: null, ring() {} }
})
afterEach(async () => {
  await scheduler.stop()
  rig.close()
})

function start(store: ScheduleStore = rig.schedules): void {
  const collect = (_fields: unknown, message: string) => void logged.push(message)
  const log: Log = { error: collect, warn: collect, info: collect, debug() {} }
  scheduler = createScheduler({ db: rig.domain.db, clock: rig.clock, alarm, schedules: store, log })
  scheduler.start()
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setImmediate(resolve))
}

describe('the alarm', () => {
  it('is set for the earliest due time, and again when that changes', async () => {
    const daily = rig.create({ cron: '0 12 * * *' })
    start()
    await until(() => set.at === at('2026-11-20T12:00:00Z'))
    const hourly = rig.create()
    await until(() => set.at === at('2026-11-20T10:00:00Z'))
    rig.write((tx) => rig.schedules.update(tx, hourly.id, { cron: '45 * * * *' }))
    await until(() => set.at === at('2026-11-20T09:45:00Z'))
    rig.write((tx) => rig.schedules.pause(tx, hourly.id))
    await until(() => set.at === at('2026-11-20T12:00:00Z'))
    rig.write((tx) => rig.schedules.resume(tx, hourly.id))
    await until(() => set.at === at('2026-11-20T09:45:00Z'))
    rig.write((tx) => rig.schedules.remove(tx, hourly.id))
    await until(() => set.at === at('2026-11-20T12:00:00Z'))
    rig.write((tx) => rig.schedules.remove(tx, daily.id))
    await until(() => set.at === null)
  })

  it('is set once for many changes in a row', async () => {
    start()
    await until(() => timesSet === 1)
    for (let i = 0; i < 100; i++) rig.create()
    await until(() => set.at === at('2026-11-20T10:00:00Z'))
    expect(timesSet).toBeLessThan(5)
  })

  it('is set for the day on which a budget is renewed', async () => {
    const schedule = rig.create({ dailyBudgetUsd: 1, cron: '0 10 * * 5' })
    start()
    rig.spend(1_000_000)
    rig.clock.advance(30 * MINUTE)
    set.ring()
    await until(() => rig.read(schedule).status === 'budget_exhausted')
    await until(() => set.at === at('2026-11-21T00:00:00Z'))
  })

  it('is set again if it rings too early', async () => {
    const schedule = rig.create()
    start()
    await until(() => set.at === at('2026-11-20T10:00:00Z'))
    rig.clock.advance(30 * MINUTE - 1)
    const before = timesSet
    set.ring()
    await until(() => timesSet > before)
    expect(set.at).toBe(at('2026-11-20T10:00:00Z'))
    expect(rig.runHistory(schedule)).toEqual([])
    rig.clock.advance(1)
    set.ring()
    await until(() => rig.runHistory(schedule).length === 1)
  })

  it('does not ring after the stop', async () => {
    const schedule = rig.create()
    start()
    await until(() => set.at !== null)
    const { ring } = set
    await scheduler.stop()
    expect(set.at).toBeNull()
    rig.clock.advance(HOUR)
    ring()
    await new Promise((resolve) => setImmediate(resolve))
    expect(rig.runHistory(schedule)).toEqual([])
    expect(await tick()).toEqual({ fired: 0, skipped: 0, exhausted: 0 })
  })
})

/** Runs a check and counts what it did. */
async function tick() {
  const { fired, skipped, exhausted } = await scheduler.tick()
  return { fired: fired.length, skipped: skipped.length, exhausted: exhausted.length }
}

describe('a check', () => {
  it('decides everything that is due and returns the counts', async () => {
    const [free, held, spent] = [rig.create(), rig.create(), rig.create({ agentId: rig.domain.addAgent('Bob').id, dailyBudgetUsd: 1 })]
    rig.write((tx) => rig.schedules.runNow(tx, held.id))
    rig.spend(1_000_000, rig.read(spent).agentId)
    start()
    await scheduler.tick()
    rig.clock.jump(30 * MINUTE)
    expect(await tick()).toEqual({ fired: 1, skipped: 1, exhausted: 1 })
    expect(rig.runHistory(free)).toMatchObject([{ state: 'ran' }])
    expect(await tick()).toEqual({ fired: 0, skipped: 1, exhausted: 0 })
  })

  it('starts a waiting run as soon as the run before it ends', async () => {
    const schedule = rig.create()
    start()
    const { jobId } = rig.write((tx) => rig.schedules.runNow(tx, schedule.id))
    rig.clock.jump(30 * MINUTE)
    expect(await tick()).toEqual({ fired: 0, skipped: 1, exhausted: 0 })
    rig.end(jobId)
    await until(() => rig.runHistory(schedule).at(-1)!.state === 'ran')
  })

  it('lets other work run while thousands are decided', async () => {
    const { agentId } = rig
    const fields = { name: 'News', agentId, cron: '0 * * * *', timezone: 'UTC', task: 'Read.', dailyBudgetUsd: 5, catchUpHours: 24 }
    const create = (tx: Tx) => rig.schedules.create(tx, { ...fields, notifyOnSuccess: false, notifyVia: 'auto' })
    rig.write((tx) => Array.from({ length: 2000 }, () => create(tx)))
    start()
    await scheduler.tick()
    let turns = 0
    let counting = true
    const count = () => {
      turns++
      if (counting) setImmediate(count)
    }
    setImmediate(count)
    rig.clock.jump(30 * MINUTE)
    expect(await tick()).toEqual({ fired: 2000, skipped: 0, exhausted: 0 })
    counting = false
    expect(turns).toBeGreaterThan(7)
  })

  it('serves all requests that arrive before it begins', async () => {
    const schedule = rig.create()
    let checks = 0
    start({ ...rig.schedules, listToResume: (db) => (checks++, rig.schedules.listToResume(db)) })
    await scheduler.tick()
    rig.clock.jump(30 * MINUTE)
    checks = 0
    const answers = await Promise.all(Array.from({ length: 50 }, tick))
    for (const answer of answers) expect(answer).toEqual({ fired: 1, skipped: 0, exhausted: 0 })
    expect(checks).toBe(1)
    expect(rig.live(schedule)).toHaveLength(1)
  })

  it('runs again if it is requested while it runs', async () => {
    const schedule = rig.create({ cron: '1 10 * * *' })
    const asked: Promise<unknown>[] = []
    start({
      ...rig.schedules,
      // The last step of a check, which has found nothing by then.
      listWaiting(db) {
        if (rig.clock.now() === START + 30 * MINUTE && asked.length === 0) {
          rig.clock.jump(MINUTE)
          asked.push(tick())
        }
        return rig.schedules.listWaiting(db)
      },
    })
    await scheduler.tick()
    rig.clock.jump(30 * MINUTE)
    expect(await tick()).toEqual({ fired: 0, skipped: 0, exhausted: 0 })
    expect(await Promise.all(asked)).toEqual([{ fired: 1, skipped: 0, exhausted: 0 }])
    expect(rig.runHistory(schedule)).toMatchObject([{ state: 'ran' }])
  })

  it('fails for all requests that share it, and not for later ones', async () => {
    const schedule = rig.create()
    let isBroken = true
    start({
      ...rig.schedules,
      listDue(...args) {
        if (isBroken) throw new AppError('database_unavailable', quote('The database cannot be read.'))
        return rig.schedules.listDue(...args)
      },
    })
    rig.clock.jump(30 * MINUTE)
    const answers = await Promise.allSettled([scheduler.tick(), scheduler.tick()])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isBroken = false
    expect(await tick()).toMatchObject({ fired: 1 })
    expect(rig.runHistory(schedule)).toHaveLength(1)
  })

  it('decides smaller batches of schedules with missed runs', async () => {
    const fields = { name: 'News', agentId: rig.agentId, cron: '0 * * * *', timezone: 'UTC', task: 'Read.', dailyBudgetUsd: 5 }
    rig.write((tx) => {
      for (let i = 0; i < 300; i++) rig.schedules.create(tx, { ...fields, catchUpHours: 24, notifyOnSuccess: false, notifyVia: 'auto' })
    })
    const batches: number[] = []
    start({ ...rig.schedules, decide: (tx, ids) => (batches.push(ids.length), rig.schedules.decide(tx, ids)) })
    await scheduler.tick()
    rig.clock.jump(30 * MINUTE)
    await scheduler.tick()
    expect(batches.splice(0)).toEqual([256, 44])
    rig.clock.jump(7 * 24 * HOUR + MINUTE)
    expect(await tick()).toEqual({ fired: 0, skipped: 300, exhausted: 0 })
    expect(Math.max(...batches)).toBe(16)
  })

  it('decides a year of missed runs', async () => {
    const schedule = rig.create({ cron: '*/5 * * * *' })
    rig.clock.jump(365 * 24 * HOUR)
    start()
    await scheduler.tick()
    const rows = rig.runHistory(schedule)
    expect(rows.map(({ state, times }) => [state, times])).toEqual([
      ['missed', (365 * 24 * 60) / 5 - 1],
      ['ran', 1],
    ])
  })

  it('decides the others if one fails, and retries that one later', async () => {
    const [sick, well] = [rig.create(), rig.create()]
    let isSick = true
    start({
      ...rig.schedules,
      decide(tx, ids) {
        if (isSick && ids.includes(sick.id)) throw new Error('no')
        return rig.schedules.decide(tx, ids)
      },
    })
    await scheduler.tick()
    rig.clock.jump(30 * MINUTE)
    expect((await tick()).fired).toBe(1)
    expect(rig.runHistory(sick)).toEqual([])
    expect(rig.runHistory(well)).toMatchObject([{ state: 'ran' }])
    expect(logged).toContain('could not decide a schedule: no')
    // Not at once, because it would fail again.
    expect(set.at).toBe(rig.clock.now() + 30_000)
    isSick = false
    rig.clock.advance(30_000)
    await until(() => rig.runHistory(sick).length === 1)
  })

  it('skips a schedule whose time zone is unknown', async () => {
    const schedule = rig.create()
    rig.domain.db.prepare("UPDATE schedules SET timezone = 'Mars/Olympus' WHERE id = ?").run(schedule.id)
    start()
    rig.clock.jump(30 * MINUTE)
    expect(await tick()).toEqual({ fired: 0, skipped: 0, exhausted: 0 })
    expect(set.at).toBeNull()
    expect(rig.read(schedule)).toMatchObject({ timezone: 'Mars/Olympus', nextDueAt: null })
    expect(rig.write((tx) => rig.schedules.update(tx, schedule.id, { timezone: 'UTC' })).nextDueAt).toBe(at('2026-11-20T11:00:00Z'))
  })

  it('does not delay others after it failed', async () => {
    const [sick] = [rig.create(), rig.create({ cron: '1 10 * * *' })]
    const decide: ScheduleStore['decide'] = (tx, ids) => {
      if (ids.includes(sick.id)) throw new Error('no')
      return rig.schedules.decide(tx, ids)
    }
    start({ ...rig.schedules, decide })
    await scheduler.tick()
    rig.clock.jump(30 * MINUTE + 40_000)
    await scheduler.tick()
    expect(set.at).toBe(at('2026-11-20T10:01:00Z'))
  })

  it('notices a clock change', async () => {
    const schedule = rig.create()
    start()
    await scheduler.tick()
    rig.clock.jump(30 * MINUTE)
    rig.clock.advance(30_000)
    await until(() => rig.runHistory(schedule).length === 1)
    expect(rig.runHistory(schedule)).toMatchObject([{ state: 'ran', reason: expect.objectContaining({ code: 'due_late' }) }])
  })
})

describe('a clock that is set back', () => {
  const DAYS = 100 * 24 * HOUR

  it('is noticed within 30 seconds, and due times are computed again', async () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    start()
    await scheduler.tick()
    rig.clock.jump(DAYS)
    await scheduler.tick()
    expect(set.at).toBe(at('2027-02-28T10:00:00Z'))
    rig.clock.jump(-DAYS)
    rig.clock.advance(30_000)
    await until(() => set.at === at('2026-11-20T10:00:00Z'))
    expect(rig.read(schedule).nextDueAt).toBe(set.at)
  })

  it('by less than the time since the last decision changes nothing', async () => {
    rig.create()
    let asked = 0
    start({ ...rig.schedules, followClockBack: (tx) => (asked++, rig.schedules.followClockBack(tx)) })
    await scheduler.tick()
    expect(asked).toBe(1)
    rig.clock.advance(30 * MINUTE)
    await scheduler.tick()
    rig.clock.jump(-5_000)
    rig.clock.advance(10_000)
    await scheduler.tick()
    expect(asked).toBe(1)
    rig.clock.jump(-6_000)
    await scheduler.tick()
    expect(asked).toBe(2)
  })

  it('is handled later if the file cannot be written', async () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    let isBroken = false
    start({
      ...rig.schedules,
      followClockBack(tx) {
        if (isBroken) throw new AppError('disk_full', quote('The disk is full.'))
        rig.schedules.followClockBack(tx)
      },
    })
    rig.clock.jump(DAYS)
    await scheduler.tick()
    rig.clock.jump(-DAYS)
    isBroken = true
    await expect(scheduler.tick()).rejects.toThrow('The disk is full.')
    isBroken = false
    rig.clock.advance(30_000)
    await until(() => rig.read(schedule).nextDueAt === at('2026-11-20T10:00:00Z'))
  })
})
