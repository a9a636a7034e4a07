import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { Clock } from '../../lib/clock.ts'

/**
 * Time that goes on at its own pace whatever the clock is set to, and while the machine sleeps. For limits that have to
 * hold over both; moments of two boots cannot be compared.
 */
export type MachineTime = {
  readonly boot: string
  /** Milliseconds since some point of this boot. Never goes back. */
  elapsed(): number
  /** The machine was turned on a moment ago: its clock may be its own, which the network has not set yet. Absent: nobody knows. */
  isStarting?(): boolean
}

export type Machine = {
  uptimeMs(): number
  /** The same for all processes of one boot; null: this system does not tell, and each process counts for itself. */
  bootId(): string | null
}

/** Includes time asleep, on every system that Node runs on. */
export const thisMachine: Machine = {
  uptimeMs: () => uptime() * 1000,
  bootId() {
    try {
      return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    } catch {
      return null
    }
  },
}

/** By then a machine that has a network has asked it for the time. */
const STARTING_MS = 15 * 60_000

/** A second between wall clock and running time that was not there before: asleep, or the clock was set. */
const NOTICED_MS = 1000

/**
 * To ask the system costs more than the rest of what the time is needed for, so it is asked again only when the wall
 * clock has left the running time behind. Without a machine the clock is all the time there is.
 */
export function createMachineTime(clock: Pick<Clock, 'now' | 'monotonic'>, machine: Machine | null): MachineTime {
  if (machine === null) return { boot: randomUUID(), elapsed: () => clock.monotonic() }
  let drift = clock.now() - clock.monotonic()
  let ahead = machine.uptimeMs() - clock.monotonic()
  const elapsed = () => {
    const running = clock.monotonic()
    const driftNow = clock.now() - running
    if (Math.abs(driftNow - drift) > NOTICED_MS) {
      drift = driftNow
      ahead = Math.max(ahead, machine.uptimeMs() - running)
    }
    return running + ahead
  }
  return { boot: machine.bootId() ?? randomUUID(), elapsed, isStarting: () => elapsed() < STARTING_MS }
}
