import { EventEmitter, once } from 'node:events'
import type { Database } from '../../platform/db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { readSpendingLimits, type SpendingLimit } from './spending-limits.ts'
import type { BudgetKey } from './extensions.ts'

export type Reservations = ReturnType<typeof createReservations>

type Entry = { micros: number; limits: readonly BudgetKey[] }

type Deps = { db: Database; money: Pick<Clock, 'now'>; timezone: () => string }

/**
 * Money reserved for model calls under way. It is in memory on purpose: the real cost of a call is recorded with its reply, and
 * a reservation ends with the process as its call does. Nothing else runs between checking the limits and reserving, so two jobs
 * can never both take the last dollar. `money` says which day and month it is.
 */
export function createReservations({ db, money, timezone }: Deps) {
  const entries = new Map<string, Entry>()
  const releases = new EventEmitter().setMaxListeners(0)

  function heldByOthers(jobId: string, limit: BudgetKey): number {
    let micros = 0
    for (const [id, entry] of entries) if (id !== jobId && entry.limits.some((one) => isSame(one, limit))) micros += entry.micros
    return micros
  }

  /** Releases the job's reservation, except for what was spent but not recorded yet. */
  function release(jobId: string, unrecordedMicros = 0): void {
    const entry = entries.get(jobId)
    if (entry === undefined) return
    if (unrecordedMicros > 0) entries.set(jobId, { ...entry, micros: unrecordedMicros })
    else entries.delete(jobId)
    releases.emit('released')
  }

  return {
    /**
     * Replaces the job's reservation by this estimate and by what was spent but not recorded yet. Waits while other jobs hold money
     * that they may give back. Returns the limit that is in the way if waiting would not help. An estimate of null reserves nothing
     * and is refused only when nothing is left. Rejects with the signal's reason.
     */
    async reserve(
      jobId: string,
      { estimateMicros, unrecordedMicros }: { estimateMicros: number | null; unrecordedMicros: number },
      signal: AbortSignal,
    ): Promise<{ over: SpendingLimit | null }> {
      release(jobId, unrecordedMicros)
      const micros = (estimateMicros ?? 0) + unrecordedMicros
      const costsMoney = estimateMicros !== null && estimateMicros > 0
      for (;;) {
        signal.throwIfAborted()
        const limits = readSpendingLimits(db, jobId, money.now(), timezone())
        const over = limits.find(({ spentMicros, limitMicros }) =>
          estimateMicros === null ? spentMicros >= limitMicros : costsMoney && spentMicros + micros > limitMicros,
        )
        if (over !== undefined) return { over }
        const mustWait = costsMoney && limits.some((limit) => limit.spentMicros + heldByOthers(jobId, limit) + micros > limit.limitMicros)
        if (!mustWait) {
          entries.set(jobId, { micros, limits })
          return { over: null }
        }
        // When the signal aborts, the loop throws its reason.
        await once(releases, 'released', { signal }).catch(() => {})
      }
    },
    release,
    /** The sum of all reservations. */
    held: () => [...entries.values()].reduce((sum, entry) => sum + entry.micros, 0),
  }
}

function isSame(a: BudgetKey, b: BudgetKey): boolean {
  return a.scope === b.scope && a.owner === b.owner && a.period === b.period
}
