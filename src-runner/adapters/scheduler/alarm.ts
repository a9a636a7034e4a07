import { scheduleJob, type Job } from 'node-schedule'

/** One call at one moment. */
export type Alarm = {
  /** Calls `ring` at this moment of the wall clock, or at once if it is past. Replaces the moment set before; null: none. */
  set(at: number | null, ring: () => void): void
}

/**
 * A Node timer set for more than 24.8 days fires at once; this one waits in parts. It does not count the time that the machine
 * sleeps, so the caller checks again after that.
 */
export function createSystemAlarm(now: () => number): Alarm {
  let job: Job | null = null
  let soon: NodeJS.Immediate | null = null
  return {
    set(at, ring) {
      job?.cancel()
      job = null
      if (soon !== null) clearImmediate(soon)
      soon = null
      if (at === null) return
      // By the machine's clock, from which `now` may differ.
      if (at > now()) job = scheduleJob(new Date(Date.now() + at - now()), ring)
      // The moment may have passed since the clock was read.
      if (job === null) soon = setImmediate(ring)
    },
  }
}
