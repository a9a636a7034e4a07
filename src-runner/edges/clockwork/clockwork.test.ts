import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Tx } from '../../base/db/transact.ts'
import { AppError } from '../../kit/errors.ts'
import type { Log } from '../../kit/log.ts'
import type { ScheduleStore } from '../../records/schedules/schedule-store.ts'
import { openScheduleRig, type ScheduleRig } from '../../testing/schedule-rig.ts'
import type { Alarm } from './alarm.ts'
import { createClockwork, type Clockwork } from './clockwork.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const at = (text: string) => Date.parse(text)
const START = at('2026-11-20T09:30:00Z')

let rig: ScheduleRig
let clockwork: Clockwork
let logged: string[]
/** What the alarm was set for last, and how it rings. */
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
  await clockwork.stop()
  rig.close()
})

function start(store: ScheduleStore = rig.schedules): void {
  const collect = (_fields: unknown, message: string) => void logged.push(message)
  const log: Log = { error: collect, warn: collect, info: collect, debug() {} }
  clockwork = createClockwork({ db: rig.records.db, clock: rig.clock, alarm, schedules: store, log })
  clockwork.start()
}

/** The schedules, with somebody who sees which one was decided, of how many due times at most. */
function observed(see: (scheduleId: string, mostTimes?: number) => void): ScheduleStore {
  return {
    ...rig.schedules,
    decide(tx, id, mostTimes) {
      const decision = rig.schedules.decide(tx, id, mostTimes)
      see(id, mostTimes)
      return decision
    },
    decideAll(tx, ids, mostTimes) {
      const decisions = rig.schedules.decideAll(tx, ids, mostTimes)
      for (const id of ids) see(id, mostTimes)
      return decisions
    },
  }
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => setImmediate(resolve))
}

describe('the alarm', () => {
  it('is set for the earliest thing to do, and anew when that changes', async () => {
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

  it('is set for the day that gives a budget back, too', async () => {
    const schedule = rig.create({ dailyBudgetUsd: 1, cron: '0 10 * * 5' })
    start()
    rig.spend(1_000_000)
    rig.clock.advance(30 * MINUTE)
    set.ring()
    await until(() => rig.read(schedule).status === 'budget_exhausted')
    await until(() => set.at === at('2026-11-21T00:00:00Z'))
  })

  it('that rings a moment early is set again', async () => {
    const schedule = rig.create()
    start()
    await until(() => set.at === at('2026-11-20T10:00:00Z'))
    rig.clock.advance(30 * MINUTE - 1)
    const before = timesSet
    set.ring()
    await until(() => timesSet > before)
    expect(set.at).toBe(at('2026-11-20T10:00:00Z'))
    expect(rig.ledger(schedule)).toEqual([])
    rig.clock.advance(1)
    set.ring()
    await until(() => rig.ledger(schedule).length === 1)
  })

  it('rings for nobody after the end', async () => {
    const schedule = rig.create()
    start()
    await until(() => set.at !== null)
    const { ring } = set
    await clockwork.stop()
    expect(set.at).toBeNull()
    rig.clock.advance(HOUR)
    ring()
    await new Promise((resolve) => setImmediate(resolve))
    expect(rig.ledger(schedule)).toEqual([])
    expect(await clockwork.tick()).toEqual({ fired: 0, skipped: 0, exhausted: 0 })
  })
})

describe('a look', () => {
  it('decides everything that is due and says what came of it', async () => {
    const [free, held, spent] = [rig.create(), rig.create(), rig.create({ agentId: rig.records.addAgent('Bob').id, dailyBudgetUsd: 1 })]
    rig.write((tx) => rig.schedules.runNow(tx, held.id))
    rig.spend(1_000_000, rig.read(spent).agentId)
    start()
    await clockwork.tick()
    rig.clock.jump(30 * MINUTE)
    expect(await clockwork.tick()).toEqual({ fired: 1, skipped: 1, exhausted: 1 })
    expect(rig.ledger(free)).toMatchObject([{ state: 'ran' }])
    expect(await clockwork.tick()).toEqual({ fired: 0, skipped: 1, exhausted: 0 })
  })

  it('runs what waited as soon as the run before it ends, without anybody asking', async () => {
    const schedule = rig.create()
    start()
    const { jobId } = rig.write((tx) => rig.schedules.runNow(tx, schedule.id))
    rig.clock.jump(30 * MINUTE)
    expect(await clockwork.tick()).toEqual({ fired: 0, skipped: 1, exhausted: 0 })
    rig.end(jobId)
    await until(() => rig.ledger(schedule).at(-1)!.state === 'ran')
  })

  it('gives everything else its turn while thousands are decided, and leaves none out', async () => {
    const { agentId } = rig
    const fields = { name: 'News', agentId, cron: '0 * * * *', timezone: 'UTC', task: 'Read.', dailyBudgetUsd: 5, catchUpHours: 24 }
    const create = (tx: Tx) => rig.schedules.create(tx, { ...fields, notifyOnSuccess: false, notifyVia: 'auto' })
    rig.write((tx) => Array.from({ length: 2000 }, () => create(tx)))
    start()
    await clockwork.tick()
    let turns = 0
    let counting = true
    const count = () => {
      turns++
      if (counting) setImmediate(count)
    }
    setImmediate(count)
    rig.clock.jump(30 * MINUTE)
    expect(await clockwork.tick()).toEqual({ fired: 2000, skipped: 0, exhausted: 0 })
    counting = false
    expect(turns).toBeGreaterThan(7)
  })

  it('that many ask for at once is one, with one answer for all of them', async () => {
    const [watcher, other] = [rig.create({ cron: '* * * * *' }), rig.create({ cron: '0 10 20 12 *' })]
    let pieces = 0
    let looks = 0
    const store = observed(() => void pieces++)
    start({ ...store, listToResume: (db) => (looks++, store.listToResume(db)) })
    await clockwork.tick()
    rig.clock.jump(30 * 24 * HOUR + 30 * MINUTE)
    looks = 0
    const first = clockwork.tick()
    const answers = Array.from({ length: 50 }, () => clockwork.tick())
    await until(() => pieces > 3)
    answers.push(clockwork.tick())
    expect(await first).toEqual({ fired: 2, skipped: 0, exhausted: 0 })
    for (const answer of answers) expect(await answer).toEqual(await first)
    expect(looks).toBeLessThan(4)
    expect(rig.live(watcher).length + rig.live(other).length).toBe(2)
    expect(await clockwork.tick()).toEqual({ fired: 0, skipped: 0, exhausted: 0 })
  })

  it('that is shared has what was due when the last of them asked', async () => {
    const schedule = rig.create({ cron: '1 10 * * *' })
    const joined: Promise<unknown>[] = []
    start({
      ...rig.schedules,
      // The last thing that a look does: by then it has found nothing.
      countWaiting(db) {
        if (rig.clock.now() === START + 30 * MINUTE && joined.length === 0) {
          rig.clock.jump(MINUTE)
          joined.push(clockwork.tick())
        }
        return rig.schedules.countWaiting(db)
      },
    })
    await clockwork.tick()
    rig.clock.jump(30 * MINUTE)
    const answer = await clockwork.tick()
    expect(answer).toEqual({ fired: 1, skipped: 0, exhausted: 0 })
    expect(await Promise.all(joined)).toEqual([answer])
    expect(rig.ledger(schedule)).toMatchObject([{ state: 'ran' }])
  })

  it('that fails, fails for all who share it, and not for those who ask afterwards', async () => {
    const schedule = rig.create()
    let isBroken = true
    start({
      ...rig.schedules,
      listDue(...args) {
        if (isBroken) throw new AppError('database_unavailable', 'The database cannot be read.')
        return rig.schedules.listDue(...args)
      },
    })
    rig.clock.jump(30 * MINUTE)
    const answers = await Promise.allSettled([clockwork.tick(), clockwork.tick()])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isBroken = false
    expect(await clockwork.tick()).toMatchObject({ fired: 1 })
    expect(rig.ledger(schedule)).toHaveLength(1)
  })

  it('takes fewer at once of those that have missed something, since each of them has more to write', async () => {
    const fields = { name: 'News', agentId: rig.agentId, cron: '0 * * * *', timezone: 'UTC', task: 'Read.', dailyBudgetUsd: 5 }
    rig.write((tx) => {
      for (let i = 0; i < 300; i++) rig.schedules.create(tx, { ...fields, catchUpHours: 24, notifyOnSuccess: false, notifyVia: 'auto' })
    })
    const pieces: number[] = []
    start({ ...rig.schedules, decideAll: (tx, ids, mostTimes) => (pieces.push(ids.length), rig.schedules.decideAll(tx, ids, mostTimes)) })
    await clockwork.tick()
    rig.clock.jump(30 * MINUTE)
    await clockwork.tick()
    expect(pieces.splice(0)).toEqual([256, 44])
    rig.clock.jump(7 * 24 * HOUR + MINUTE)
    expect(await clockwork.tick()).toEqual({ fired: 0, skipped: 300, exhausted: 0 })
    expect(Math.max(...pieces)).toBe(64)
  })

  it('decides those that are on time before the rest of what others missed', async () => {
    const [watcher, yearly] = [rig.create({ cron: '* * * * *' }), rig.create({ cron: '0 10 20 12 *' })]
    const order: string[] = []
    start(observed((id) => void order.push(id === yearly.id ? 'yearly' : 'watcher')))
    await clockwork.tick()
    rig.clock.jump(30 * 24 * HOUR + 30 * MINUTE)
    expect(await clockwork.tick()).toMatchObject({ fired: 2 })
    expect(order.slice(0, 3)).toEqual(['watcher', 'yearly', 'watcher'])
    expect(order.slice(3)).toEqual(Array.from({ length: 4 }, () => 'watcher'))
    expect(rig.ledger(watcher)).toMatchObject([{ state: 'missed', times: 30 * 24 * 60 + 29 }, { state: 'ran' }])
  })

  it('turns to what comes due while it makes up for a long absence', async () => {
    const watcher = rig.create({ cron: '* * * * *' })
    rig.clock.jump(30 * 24 * HOUR + 30 * MINUTE + 40_000)
    const soon = rig.create({ cron: '1 10 * * *' })
    const order: string[] = []
    start(
      observed((id) => {
        order.push(id === soon.id ? 'soon' : 'watcher')
        // The second step takes so long that the other comes due.
        if (order.length === 2) rig.clock.advance(20_000)
      }),
    )
    await clockwork.tick()
    expect(order.slice(0, 4)).toEqual(['watcher', 'watcher', 'soon', 'watcher'])
    expect(rig.ledger(soon)).toMatchObject([{ state: 'ran', reason: 'On time.' }])
    expect(rig.ledger(watcher)).toMatchObject([{ state: 'missed', times: 30 * 24 * 60 + 30 }, { state: 'ran' }])
  })

  it('takes no second small step of a schedule that is behind, however many others are', async () => {
    const watchers = [1, 2, 3].map(() => rig.create({ cron: '* * * * *' }))
    rig.clock.jump(30 * 24 * HOUR + 30 * MINUTE)
    let small = 0
    start(
      observed((_id, mostTimes) => {
        if (mostTimes === undefined) rig.clock.advance(150)
        else small++
      }),
    )
    expect(await clockwork.tick()).toMatchObject({ fired: 3 })
    expect(small).toBe(3)
    for (const watcher of watchers) expect(rig.ledger(watcher)).toMatchObject([{ state: 'missed' }, { state: 'ran' }])
  })

  it('decides what was missed in a year, and has its turn in between', async () => {
    const schedule = rig.create({ cron: '*/5 * * * *' })
    rig.clock.jump(365 * 24 * HOUR)
    start()
    expect((await clockwork.tick()).fired + rig.live(schedule).length).toBeGreaterThan(0)
    const rows = rig.ledger(schedule)
    expect(rows.map(({ state, times }) => [state, times])).toEqual([
      ['missed', (365 * 24 * 60) / 5 - 1],
      ['ran', 1],
    ])
  })

  it('runs the others when one cannot be decided, and tries that one again later', async () => {
    const [sick, well] = [rig.create(), rig.create()]
    let isSick = true
    start(
      observed((id) => {
        if (isSick && id === sick.id) throw new Error('no')
      }),
    )
    await clockwork.tick()
    rig.clock.jump(30 * MINUTE)
    expect((await clockwork.tick()).fired).toBe(1)
    expect(rig.ledger(sick)).toEqual([])
    expect(rig.ledger(well)).toMatchObject([{ state: 'ran' }])
    expect(logged).toContain('a schedule could not be decided: no')
    // Not at once: it would fail again, and again.
    expect(set.at).toBe(rig.clock.now() + 30_000)
    isSick = false
    rig.clock.advance(30_000)
    await until(() => rig.ledger(sick).length === 1)
  })

  it('passes by a schedule whose time zone this machine does not know any more', async () => {
    const schedule = rig.create()
    rig.records.db.prepare("UPDATE schedules SET timezone = 'Mars/Olympus' WHERE id = ?").run(schedule.id)
    start()
    rig.clock.jump(30 * MINUTE)
    expect(await clockwork.tick()).toEqual({ fired: 0, skipped: 0, exhausted: 0 })
    expect(set.at).toBeNull()
    expect(rig.read(schedule)).toMatchObject({ timezone: 'Mars/Olympus', nextDueAt: null })
    expect(rig.write((tx) => rig.schedules.update(tx, schedule.id, { timezone: 'UTC' })).nextDueAt).toBe(at('2026-11-20T11:00:00Z'))
  })

  it('that failed does not make others late', async () => {
    const [sick] = [rig.create(), rig.create({ cron: '1 10 * * *' })]
    const decide: ScheduleStore['decide'] = (tx, id) => {
      if (id === sick.id) throw new Error('no')
      return rig.schedules.decide(tx, id)
    }
    start({ ...rig.schedules, decide })
    await clockwork.tick()
    rig.clock.jump(30 * MINUTE + 40_000)
    await clockwork.tick()
    expect(set.at).toBe(at('2026-11-20T10:01:00Z'))
  })

  it('notices that the clock was set', async () => {
    const schedule = rig.create()
    start()
    await clockwork.tick()
    rig.clock.jump(30 * MINUTE)
    rig.clock.advance(30_000)
    await until(() => rig.ledger(schedule).length === 1)
    expect(rig.ledger(schedule)).toMatchObject([{ state: 'ran', reason: '30 seconds late.' }])
    expect(logged).toContain('the clock was set or the machine slept')
  })
})

describe('a clock that is set back', () => {
  const DAYS = 100 * 24 * HOUR

  it('is noticed within half a minute, and everything counts from what it shows then', async () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    start()
    await clockwork.tick()
    rig.clock.jump(DAYS)
    await clockwork.tick()
    expect(set.at).toBe(at('2027-02-28T10:00:00Z'))
    rig.clock.jump(-DAYS)
    rig.clock.advance(30_000)
    await until(() => set.at === at('2026-11-20T10:00:00Z'))
    expect(rig.read(schedule).nextDueAt).toBe(set.at)
  })

  it('by less than has passed since the last decision, is nothing to anybody', async () => {
    rig.create()
    let asked = 0
    start({ ...rig.schedules, turnBackSome: (tx, after) => (asked++, rig.schedules.turnBackSome(tx, after)) })
    await clockwork.tick()
    expect(asked).toBe(1)
    rig.clock.advance(30 * MINUTE)
    await clockwork.tick()
    rig.clock.jump(-5_000)
    rig.clock.advance(10_000)
    await clockwork.tick()
    expect(asked).toBe(1)
    rig.clock.jump(-6_000)
    await clockwork.tick()
    expect(asked).toBe(2)
  })

  it('lets everything else have its turn while thousands are turned back', async () => {
    const create = { name: 'News', agentId: rig.agentId, cron: '0 10 * * *', timezone: 'UTC', task: 'Read.', dailyBudgetUsd: 5 }
    const schedules = rig.write((tx) =>
      Array.from({ length: 2000 }, () =>
        rig.schedules.create(tx, { ...create, catchUpHours: 0, notifyOnSuccess: false, notifyVia: 'auto' }),
      ),
    )
    start()
    rig.clock.jump(2 * 24 * HOUR)
    await clockwork.tick()
    let turns = 0
    let counting = true
    const count = () => {
      turns++
      if (counting) setImmediate(count)
    }
    setImmediate(count)
    rig.clock.jump(-2 * 24 * HOUR)
    await clockwork.tick()
    counting = false
    expect(turns).toBeGreaterThan(7)
    for (const schedule of [schedules[0]!, schedules[999]!, schedules[1999]!]) {
      expect(rig.read(schedule).nextDueAt).toBe(at('2026-11-20T10:00:00Z'))
    }
  })

  it('is not forgotten when the file cannot be written at that moment', async () => {
    const schedule = rig.create({ cron: '0 10 * * *' })
    let isBroken = false
    start({
      ...rig.schedules,
      turnBackSome(tx, after) {
        if (isBroken) throw new AppError('disk_full', 'The disk is full.')
        return rig.schedules.turnBackSome(tx, after)
      },
    })
    rig.clock.jump(DAYS)
    await clockwork.tick()
    rig.clock.jump(-DAYS)
    isBroken = true
    await expect(clockwork.tick()).rejects.toThrow('The disk is full.')
    isBroken = false
    rig.clock.advance(30_000)
    await until(() => rig.read(schedule).nextDueAt === at('2026-11-20T10:00:00Z'))
  })
})
