import type { Clock } from './clock.ts'

/** People travel, and their machine's zone with them; asking costs more than most of what a job does, so not each time. */
const FRESH_MS = 60_000

/** The machine's time zone as an IANA name, at most a minute old. */
export function createMachineTimezone(clock: Pick<Clock, 'monotonic'>): () => string {
  let known = ''
  let askAgainAt = -Infinity
  return () => {
    if (clock.monotonic() >= askAgainAt) {
      known = Intl.DateTimeFormat().resolvedOptions().timeZone
      askAgainAt = clock.monotonic() + FRESH_MS
    }
    return known
  }
}
