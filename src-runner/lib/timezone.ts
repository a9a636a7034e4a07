import type { Clock } from './clock.ts'

/** The zone changes when people travel. Reading it is slow, so it is cached. */
const FRESH_MS = 60_000

/** The machine's time zone as an IANA name, at most a minute old. */
export function createMachineTimezone(clock: Pick<Clock, 'monotonic'>): () => string {
  let known = ''
  let readAgainAt = -Infinity
  return () => {
    if (clock.monotonic() >= readAgainAt) {
      known = Intl.DateTimeFormat().resolvedOptions().timeZone
      readAgainAt = clock.monotonic() + FRESH_MS
    }
    return known
  }
}
