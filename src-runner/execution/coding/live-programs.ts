import type { Clock } from '../../lib/clock.ts'
import type { CodingSession } from '../../agent/coding/coding-session.ts'
import type { LiveCoding } from './live-coding.ts'

/** Programs that wait for a person. Each takes memory, and its task can be continued in a new process. */
const MAX_PARKED = 4
const LONGEST_PARKED_MS = 30 * 60_000

export type LivePrograms = ReturnType<typeof createLivePrograms>

/**
 * The programs of jobs. Those whose job waits for an answer are parked, so that the next attempt answers the very request that was asked.
 * In memory only.
 */
export function createLivePrograms({ clock }: { clock: Pick<Clock, 'after'> }) {
  /** The longest parked first. */
  const parked = new Map<string, { live: LiveCoding; stopTimer: () => void }>()
  const attempts = createUnderWay()
  const ends = createUnderWay()

  /** null: there is none. */
  function take(jobId: string): LiveCoding | null {
    const found = parked.get(jobId)
    parked.delete(jobId)
    found?.stopTimer()
    return found?.live ?? null
  }

  function end(jobId: string, session: CodingSession): void {
    ends.add(jobId, session.stop())
  }

  function endParked(jobId: string): void {
    const live = take(jobId)
    if (live !== null) end(jobId, live.session)
  }

  return {
    take,
    /** Ends every process of it, beside whatever follows. */
    end,
    endParked,
    /** Runs an attempt. */
    during<T>(jobId: string, attempt: Promise<T>): Promise<T> {
      attempts.add(jobId, attempt)
      return attempt
    },
    park(jobId: string, live: LiveCoding): void {
      const stopTimer = clock.after(LONGEST_PARKED_MS, () => endParked(jobId))
      parked.set(jobId, { live, stopTimer })
      void live.session.ended.then(() => {
        if (parked.get(jobId)?.live === live) take(jobId)
      })
      for (const oldest of [...parked.keys()].slice(0, Math.max(0, parked.size - MAX_PARKED))) endParked(oldest)
    },
    /** After a job has ended: resolves when no attempt at it runs any more, and no process is left. */
    async endOf(jobId: string): Promise<void> {
      endParked(jobId)
      await attempts.over(jobId)
      await ends.over(jobId)
    },
    /** Before this process ends. */
    async endAll(): Promise<void> {
      for (const jobId of Array.from(parked.keys())) endParked(jobId)
      await Promise.all(ends.jobs().map(ends.over))
    },
  }
}

/** What goes on for each job. */
function createUnderWay() {
  const last = new Map<string, Promise<unknown>>()
  return {
    add(jobId: string, work: Promise<unknown>): void {
      const all = Promise.allSettled([last.get(jobId), work]).then(() => {
        if (last.get(jobId) === all) last.delete(jobId)
      })
      last.set(jobId, all)
    },
    async over(jobId: string): Promise<void> {
      while (last.has(jobId)) await last.get(jobId)
    },
    jobs: () => [...last.keys()],
  }
}
