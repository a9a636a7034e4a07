import type { Alarm } from '../adapters/scheduler/alarm.ts'
import type { Clock } from '../lib/clock.ts'

/** An alarm for a hand clock. Like the real one, it counts running time and does not notice clock changes. */
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
