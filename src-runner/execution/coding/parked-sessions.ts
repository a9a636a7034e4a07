import type { Clock } from '../../lib/clock.ts'
import type { LiveCoding } from './live-coding.ts'

/** Programs that wait for a person. Each takes memory, and its task can be continued in a new process. */
const MOST_PARKED = 4
const LONGEST_PARKED_MS = 30 * 60_000

/** Programs whose job waits for an answer, so that the next attempt answers the very request that was asked. In memory only. */
export function createParkedSessions({ clock }: { clock: Pick<Clock, 'after'> }) {
  /** The longest parked first. */
  const parked = new Map<string, { live: LiveCoding; stopTimer: () => void }>()

  /** null: there is none. */
  function take(jobId: string): LiveCoding | null {
    const found = parked.get(jobId)
    parked.delete(jobId)
    found?.stopTimer()
    return found?.live ?? null
  }

  async function end(jobId: string): Promise<void> {
    await take(jobId)?.session.stop()
  }

  return {
    take,
    /** Resolves when no process of it is left. */
    end,
    park(jobId: string, live: LiveCoding): void {
      const stopTimer = clock.after(LONGEST_PARKED_MS, () => void end(jobId))
      parked.set(jobId, { live, stopTimer })
      void live.session.ended.then(() => {
        if (parked.get(jobId)?.live === live) take(jobId)
      })
      for (const oldest of [...parked.keys()].slice(0, Math.max(0, parked.size - MOST_PARKED))) void end(oldest)
    },
    async endAll(): Promise<void> {
      await Promise.all([...parked.keys()].map(end))
    },
  }
}
