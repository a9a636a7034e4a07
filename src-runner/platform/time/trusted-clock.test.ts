import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createHandClock } from '../../testing/hand-clock.ts'
import { openDomainRig, type DomainRig } from '../../testing/domain-rig.ts'
import { transact } from '../db/database.ts'
import type { ClockState } from '../db/trusted-clock-table.ts'
import { createTrustedClock, advance, type TrustedClock } from './trusted-clock.ts'
import { createMachineTime } from './machine-time.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY
const START = Date.parse('2026-11-20T09:30:00Z')

let rig: DomainRig
let times: TrustedClock
let asleepMs: number
/** null: the system does not say, as on macOS and Windows. */
let boot: string | null
afterEach(() => rig.close())

/** Starts a runner on a machine that counts sleep as running time. */
function begin(): void {
  const machine = { uptimeMs: () => rig.clock.monotonic() + asleepMs, bootId: () => boot }
  times = createTrustedClock({ db: rig.db, clock: rig.clock, time: createMachineTime(rig.clock, machine) })
}
function open(): void {
  rig = openDomainRig(createHandClock(START))
  asleepMs = HOUR
  boot = 'first'
  begin()
  look()
}
const look = () => transact(rig.db, (tx) => times.adjust(tx))
/** In steps of an hour, because smaller steps change nothing but take longer. */
function run(ms: number): void {
  for (let left = ms; left > 0; left -= HOUR) {
    rig.clock.advance(Math.min(left, HOUR))
    expect(look()).toBe(0)
  }
}
function sleep(ms: number): void {
  asleepMs += ms
  rig.clock.jump(ms)
}
/** The machine is off for `ms`, or its clock is set meanwhile. */
function turnOff(ms: number): void {
  rig.clock.jump(ms)
  boot = `boot ${rig.ids.next()}`
  rig.reboot()
  begin()
}
/** How far each is behind the clock; negative: ahead of it. */
const lag = () => ({
  money: rig.clock.now() - times.money.now(),
  age: rig.clock.now() - times.age.now(),
  deadlines: rig.clock.now() - times.deadlines.now(),
})
const NONE = { money: 0, age: 0, deadlines: 0 }

describe('the trusted time', () => {
  it('follows the clock while the machine runs, sleeps, is slewed, and is off overnight', () => {
    open()
    run(3 * DAY)
    sleep(21 * DAY)
    expect(lag()).toEqual(NONE)
    expect(look()).toBe(0)
    rig.clock.jump(20_000)
    expect(lag()).toEqual(NONE)
    expect(look()).toBe(0)
    turnOff(15 * HOUR)
    expect(lag()).toEqual(NONE)
    expect(look()).toBe(0)
  })

  it('follows a clock that was set only after 24 hours of running time', () => {
    open()
    rig.clock.jump(2 * YEAR)
    // Before the next call of `adjust`.
    expect(lag()).toEqual({ money: 2 * YEAR, age: 2 * YEAR, deadlines: 2 * YEAR })
    expect(look()).toBe(2 * YEAR)
    // Deadlines were moved.
    expect(lag()).toEqual({ money: 2 * YEAR, age: 2 * YEAR, deadlines: 0 })
    run(DAY - HOUR)
    expect(lag()).toEqual({ money: 2 * YEAR, age: 2 * YEAR, deadlines: 0 })
    run(HOUR)
    expect(lag()).toEqual(NONE)
  })

  it('follows the clock at once when it is set right again', () => {
    open()
    rig.clock.jump(2 * YEAR)
    look()
    run(HOUR)
    rig.clock.jump(-2 * YEAR)
    expect(look()).toBe(-2 * YEAR)
    expect(lag()).toEqual(NONE)
  })

  it('continues when the clock is set back, and makes nothing expire', () => {
    open()
    rig.clock.jump(-YEAR)
    expect(look()).toBe(-YEAR)
    run(HOUR)
    expect(lag()).toEqual({ money: -YEAR, age: 0, deadlines: 0 })
    run(DAY)
    expect(lag()).toEqual(NONE)
  })

  it('opens a new budget day after three weeks off, and trusts the date for deletions a day later', () => {
    open()
    turnOff(21 * DAY)
    expect(lag()).toEqual({ money: 0, age: 21 * DAY, deadlines: 21 * DAY })
    expect(look()).toBe(21 * DAY)
    run(DAY)
    expect(lag()).toEqual(NONE)
  })

  it.each(['another boot', null])('is not moved by a clock that is years ahead after a start (boot: %s)', (bootId) => {
    open()
    run(HOUR)
    for (const ms of [YEAR, -YEAR, 2 * YEAR, -2 * YEAR]) {
      rig.clock.jump(ms)
      boot = bootId
      rig.reboot()
      begin()
      expect(times.money.now()).toBe(START + HOUR)
      look()
    }
    expect(lag()).toEqual(NONE)
    rig.clock.jump(YEAR)
    rig.reboot()
    begin()
    look()
    run(DAY - HOUR)
    expect(times.money.now()).toBe(START + DAY)
    run(HOUR)
    expect(lag()).toEqual(NONE)
  })

  it('is moved once by a clock that is weeks ahead at every other start', () => {
    open()
    for (let i = 0; i < 3; i++) {
      turnOff(30 * DAY)
      look()
      turnOff(-30 * DAY)
      look()
    }
    expect(times.money.now()).toBe(START + 30 * DAY)
  })

  it('opens a new budget day after two months off when it has run for a day', () => {
    open()
    turnOff(61 * DAY)
    expect(lag().money).toBe(61 * DAY)
    look()
    run(DAY)
    expect(lag()).toEqual(NONE)
  })

  it('trusts a set clock in the end on a machine that runs for an hour a day', () => {
    open()
    turnOff(21 * DAY)
    look()
    for (let day = 0; day < 23; day++) {
      run(HOUR)
      turnOff(23 * HOUR)
      expect(look()).toBe(0)
    }
    expect(lag().age).toBe(21 * DAY)
    run(HOUR)
    expect(lag()).toEqual(NONE)
  })

  it('trusts the clock in the end where sleep does not count as running time', () => {
    open()
    for (let night = 0; night < 4; night++) {
      run(6 * HOUR)
      rig.clock.jump(18 * HOUR)
      look()
    }
    run(6 * HOUR)
    expect(lag()).toEqual(NONE)
  })

  it('survives a start in 2010 with the right time a minute later', () => {
    open()
    run(HOUR)
    turnOff(Date.parse('2010-01-01T00:00:00Z') - rig.clock.now())
    const back = look()
    expect(lag()).toMatchObject({ age: 0, deadlines: 0 })
    expect(START + HOUR - times.money.now()).toBe(0)
    rig.clock.advance(MINUTE)
    rig.clock.jump(START + 15 * HOUR - rig.clock.now())
    // Deadlines are back where they were.
    expect(look()).toBe(-back)
    expect(lag()).toEqual(NONE)
  })

  it('accepts a correction by hours only in the first minutes of a machine', () => {
    open()
    run(HOUR)
    asleepMs = -rig.clock.monotonic()
    turnOff(8 * HOUR + 2 * HOUR)
    expect(look()).toBe(0)
    rig.clock.advance(MINUTE)
    rig.clock.jump(-2 * HOUR)
    expect(lag()).toEqual(NONE)
    expect(look()).toBe(0)
    rig.clock.advance(20 * MINUTE)
    look()
    rig.clock.jump(-2 * HOUR)
    expect(look()).toBe(-2 * HOUR)
    expect(lag().money).toBe(-2 * HOUR)
  })

  it('remembers a jump after a restart of the app and after a crash', () => {
    open()
    rig.clock.jump(2 * YEAR)
    look()
    run(2 * HOUR)
    rig.reboot()
    begin()
    expect(lag()).toEqual({ money: 2 * YEAR, age: 2 * YEAR, deadlines: 0 })
    run(DAY)
    expect(lag()).toEqual(NONE)
  })

  it('notices a clock that was set while only the app was not running', () => {
    open()
    rig.clock.jump(2 * YEAR)
    rig.reboot()
    begin()
    expect(lag()).toEqual({ money: 2 * YEAR, age: 2 * YEAR, deadlines: 2 * YEAR })
  })

  it('does not trust the date of an event that was recorded just before a crash', () => {
    open()
    run(3 * HOUR)
    rig.clock.jump(YEAR)
    transact(rig.db, (tx) => tx.emit({ type: 'settings.changed', payload: { keys: [] } }))
    rig.reboot()
    begin()
    expect(lag()).toEqual({ money: YEAR, age: YEAR, deadlines: YEAR })
    expect(look()).toBe(YEAR)
    expect(lag().deadlines).toBe(0)
  })

  it('counts the minutes before a crash and a reboot as time off', () => {
    open()
    run(3 * HOUR)
    rig.clock.advance(14 * MINUTE)
    turnOff(HOUR)
    expect(lag()).toEqual(NONE)
  })

  it('writes nothing without a change', () => {
    open()
    const before = rig.db.connection.prepare('SELECT total_changes()').pluck().get()
    for (let i = 0; i < 20; i++) {
      rig.clock.advance(30_000)
      look()
    }
    expect(rig.db.connection.prepare('SELECT total_changes()').pluck().get()).toBe(before)
  })

  it('never advances by more than the running time while the clock is set back and forth within a day', () => {
    rig = openDomainRig(createHandClock(START))
    const jump = fc.oneof(
      fc.integer({ min: -3 * YEAR, max: 3 * YEAR }),
      fc.integer({ min: -2 * DAY, max: 2 * DAY }),
      fc.constantFrom(DAY, -DAY, HOUR, -HOUR),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(jump, fc.integer({ min: 0, max: HOUR })), { maxLength: 20 }), (steps) => {
        let state: ClockState = { at: START, aheadMs: 0, stoodMs: 0, wasOff: false, elapsedMs: 0, boot: 'b' }
        let [wall, elapsedMs, moved] = [START, 0, 0]
        for (const [setMs, runMs] of steps) {
          wall += setMs + runMs
          elapsedMs += runMs
          const next = advance(state, { wall, elapsedMs, boot: 'b', isStarting: false }, DAY)
          state = next.state
          moved += next.setMs
          // A deadline keeps its remaining time.
          expect(Math.abs(START + DAY + moved - wall - (DAY - elapsedMs))).toBeLessThanOrEqual(MINUTE * steps.length)
          expect(Math.abs(state.at - START - elapsedMs)).toBeLessThanOrEqual(MINUTE * steps.length)
        }
      }),
    )
  })
})
