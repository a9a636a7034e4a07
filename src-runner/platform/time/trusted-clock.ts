import type { Clock } from '../../lib/clock.ts'
import type { Database, Tx } from '../db/database.ts'
import { readClockState, writeClockState, type ClockName, type ClockState } from '../db/trusted-clock-table.ts'
import type { MachineTime } from './machine-time.ts'

/**
 * The wall clock may be wrong by years, so it is trusted only as far as the machine's running time confirms it:
 *
 * - Time that the machine ran, awake or asleep, is trusted at once, with a drift of up to a minute.
 * - A jump, forward or back, is trusted after 24 hours of running time. Until then the trusted time continues without it.
 * - A clock that is set back to the trusted time is trusted at once.
 * - While the machine was off, any time may have passed: up to a day is trusted at once, and for money up to a month.
 */
export type TrustedClock = {
  /** The day and month of a budget. After up to a month off, a new day counts at once; setting the clock opens none. */
  readonly money: Now
  /** For what is deleted by its age: the earlier of the wall clock and the trusted one. */
  readonly age: Now
  /** For deadlines given to a person. `adjust` returns how far to move them. */
  readonly deadlines: Now
  /**
   * To be called often. Returns by how many milliseconds the clock was set since the last call. The caller moves deadlines by
   * this in the same transaction, so that the time left stays the same. Takes effect after the commit.
   */
  adjust(tx: Tx): number
}

type Now = Pick<Clock, 'now'>

/** A smaller difference between wall clock and running time is drift, or a clock that is being slewed. */
const DRIFT_MS = 60_000
const DAY_MS = 86_400_000
const TRUSTED_AFTER_MS = DAY_MS
/** Two systems on one machine may keep its clock in different zones, so each start corrects it by some hours. */
const MAX_SET_AT_START_MS = DAY_MS
/**
 * The longest time off of a machine in use. A longer absence looks like a clock that is months or years ahead, and a start with
 * a wrong clock may hide no more.
 */
const LONGEST_OFF_MS = 31 * DAY_MS
/** After a crash the running time of the same boot explains what passed since. After a reboot these minutes count as time off. */
const WRITTEN_EVERY_MS = 900_000

export type Reading = { wall: number; elapsedMs: number; boot: string; isStarting: boolean }

/** After a longer time off, the clock is not trusted at the start. */
const MAX_OFF_MS: Record<ClockName, number> = { age: DAY_MS, money: LONGEST_OFF_MS }
const NAMES = ['age', 'money'] as const

/** The state after another reading, and by how much the clock was set in between. */
export function advance(
  state: ClockState,
  { wall, elapsedMs, boot, isStarting }: Reading,
  mostOffMs: number,
): { state: ClockState; setMs: number } {
  // A restarted container has the boot id of its machine and a separate running time.
  const isSameBoot = boot === state.boot && elapsedMs >= state.elapsedMs
  const at = state.at + (isSameBoot ? elapsedMs - state.elapsedMs : 0)
  const mostUnexplained = isSameBoot && !isStarting ? DRIFT_MS : Math.max(mostOffMs, DRIFT_MS)
  const unexplained = wall - at - state.aheadMs
  const aheadMs = wall - at
  // Not time off on top of a clock that is behind, because that would lead past the clock.
  const isBack = state.aheadMs < 0 && aheadMs >= -DRIFT_MS
  if (!isBack && unexplained >= (isStarting ? -MAX_SET_AT_START_MS : -DRIFT_MS) && unexplained <= mostUnexplained) {
    const stoodMs = state.stoodMs + at - state.at
    const isTrusted = state.aheadMs === 0 || stoodMs >= TRUSTED_AFTER_MS
    if (isTrusted) return { state: trusted({ wall, elapsedMs, boot }), setMs: 0 }
    return { state: { ...state, at: wall - state.aheadMs, stoodMs, elapsedMs, boot }, setMs: 0 }
  }
  const wasOff = isSameBoot ? state.wasOff : true
  const mostLate = wasOff ? mostOffMs : DRIFT_MS
  if (state.aheadMs !== 0 && aheadMs >= -DRIFT_MS && aheadMs <= mostLate) {
    return { state: trusted({ wall, elapsedMs, boot }), setMs: -state.aheadMs }
  }
  // Where sleep is not counted as running time, each night looks like a jump and must not restart the 24 hours.
  const stoodMs = state.aheadMs === 0 || Math.abs(unexplained) > DAY_MS ? 0 : state.stoodMs
  return { state: { at, aheadMs, stoodMs, wasOff, elapsedMs, boot }, setMs: unexplained }
}

function trusted({ wall, elapsedMs, boot }: Pick<Reading, 'wall' | 'elapsedMs' | 'boot'>): ClockState {
  return { at: wall, aheadMs: 0, stoodMs: 0, wasOff: false, elapsedMs, boot }
}

export function createTrustedClock({ db, clock, time }: { db: Database; clock: Now; time: MachineTime }): TrustedClock {
  const read = (): Reading => ({
    wall: clock.now(),
    elapsedMs: Math.floor(time.elapsed()),
    boot: time.boot,
    isStarting: time.isStarting?.() ?? false,
  })
  let states = { age: readClockState(db, 'age'), money: readClockState(db, 'money') }
  let writtenAt = -Infinity
  const advanced = (name: ClockName, reading: Reading) => advance(states[name], reading, MAX_OFF_MS[name])

  return {
    money: { now: () => advanced('money', read()).state.at },
    age: {
      now() {
        const reading = read()
        return Math.min(reading.wall, advanced('age', reading).state.at)
      },
    },
    deadlines: {
      now() {
        const reading = read()
        return reading.wall - advanced('age', reading).setMs
      },
    },
    adjust(tx) {
      const reading = read()
      const [age, money] = [advanced('age', reading), advanced('money', reading)]
      const next = { age: age.state, money: money.state }
      const hasChanged = NAMES.some((name) => next[name].aheadMs !== states[name].aheadMs || next[name].boot !== states[name].boot)
      const isWritten = hasChanged || reading.elapsedMs - writtenAt >= WRITTEN_EVERY_MS
      if (isWritten) for (const name of NAMES) writeClockState(tx, name, next[name])
      tx.afterCommit(() => {
        states = next
        if (isWritten) writtenAt = reading.elapsedMs
      })
      return age.setMs
    },
  }
}
