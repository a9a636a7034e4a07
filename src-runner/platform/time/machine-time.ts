import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { Clock } from '../../lib/clock.ts'

/** The machine's running time, sleep included. Setting the clock does not change it. Times of two boots cannot be compared. */
export type MachineTime = {
  readonly boot: string
  /** Milliseconds since some point of this boot. Never goes back. */
  elapsed(): number
  /** Whether the machine has just started, so the network may not have set its clock yet. Absent: unknown. */
  isStarting?(): boolean
}

export type Machine = {
  uptimeMs(): number
  /** The same for all processes of one boot; null: unknown, so each process counts as a boot. */
  bootId(): string | null
}

/** `uptime` includes sleep on every system that Node supports. */
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

/** A machine with a network has set its clock by then. */
const STARTING_MS = 15 * 60_000

/** A larger change between wall clock and running time means sleep or a set clock. */
const NOTICED_MS = 1000

/** Reading the uptime is slow, so it is read again only after sleep or when the clock was set. `machine` null: uses the clock alone. */
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
