import type { Clock } from '../../lib/clock.ts'

/**
 * How long running jobs have worked since it was last written down. Measured on the monotonic clock, so that a
 * clock that is set and a machine that sleeps are not counted as work.
 */
export type WorkingTime = {
  begin(jobId: string): void
  /** Milliseconds since the last `take` or `begin`; 0 for a job that is not at work here. */
  take(jobId: string): number
  end(jobId: string): void
}

export function createWorkingTime(clock: Clock): WorkingTime {
  const taints = new Map<string, number>()
  return {
    begin: (jobId) => void taints.set(jobId, clock.monotonic()),
    take(jobId) {
      const mark = taints.get(jobId)
      if (mark === undefined) return 0
      const passed = Math.max(0, Math.floor(clock.monotonic() - mark))
      // Whole milliseconds are taken; the fraction stays for the next time.
      taints.set(jobId, mark + passed)
      return passed
    },
    end: (jobId) => void taints.delete(jobId),
  }
}
