import type { Alarm } from '../adapters/scheduler/alarm.ts'
import type { Clock } from '../lib/clock.ts'

/** An alarm that a hand clock rings. Like the real one it waits by the stopwatch: it does not notice when the clock is set. */
export function createHandAlarm(clock: Clock): Alarm {
  let pending = new AbortController()
  return {
    set(at, ring) {
      pending.abort()
      pending = new AbortController()
      if (at !== null) void clock.sleep(Math.max(0, at - clock.now()), pending.signal).then(ring, () => {})
    },
  }
}
