import type { Clock } from './clock.ts'

/** The zone changes when people travel. Asking is slow, so the answer is kept for a while. */
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
