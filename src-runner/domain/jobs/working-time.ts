import type { Clock } from '../../lib/clock.ts'

/** How long running jobs have worked since their time was last recorded. Neither setting the clock nor sleep counts as work. */
export function createWorkingTime(clock: Pick<Clock, 'awake'>) {
  const takenAt = new Map<string, number>()
  return {
    begin: (jobId: string) => void takenAt.set(jobId, clock.awake()),
    /** Milliseconds since the last `take` or `begin`. 0: the job does not run here. */
    take(jobId: string): number {
      const last = takenAt.get(jobId)
      if (last === undefined) return 0
      const passed = Math.max(0, Math.floor(clock.awake() - last))
      // The fraction of a millisecond counts next time.
      takenAt.set(jobId, last + passed)
      return passed
    },
    end: (jobId: string) => void takenAt.delete(jobId),
  }
}

export type WorkingTime = ReturnType<typeof createWorkingTime>
