import { scheduleJob, type Job } from 'node-schedule'

/** One call at one moment. */
export type Alarm = {
  /** Calls `ring` at this moment of the wall clock, at once when it is past, and forgets what was set before. null: only forgets. */
  set(at: number | null, ring: () => void): void
}

/**
 * A timer of Node fires at once when it is set for more than 24.8 days; this one waits in stretches. It does not count
 * the time that the machine sleeps: whoever sets it looks again after that.
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
      // By the machine's clock, which `now` may stand beside.
      if (at > now()) job = scheduleJob(new Date(Date.now() + at - now()), ring)
      // The moment may have passed between the two looks at the clock.
      if (job === null) soon = setImmediate(ring)
    },
  }
}
