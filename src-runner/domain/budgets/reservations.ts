import type { Database } from '../../platform/db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { readSpendingLimits, type SpendingLimit } from './spending-limits.ts'
import type { BudgetKey } from './extensions.ts'

/**
 * Money that is set aside for model calls under way. It lives in memory on purpose: what a call really cost is in the
 * database with its reply, what is set aside ends with the process as the call does, and between the look at the spendingLimits
 * and the entry here nothing else can run. So two jobs can never both take the last dollar, and nothing is left behind.
 */
export type Reservations = {
  /**
   * Sets the estimate aside, and what was spent and is not recorded yet, in place of what the job had set aside before.
   * Waits while others hold what may still come back; answers the spendingLimit that is in the way when waiting would not help.
   * An estimate of null sets nothing aside, and is refused only when nothing is left. Rejects with the signal's reason.
   */
  reserve(
    jobId: string,
    wanted: { estimateMicros: number | null; unrecordedMicros: number },
    signal: AbortSignal,
  ): Promise<{ over: SpendingLimit | null }>
  /** Gives back what the job has set aside. */
  settle(jobId: string): void
  /** What all jobs together hold now. */
  held(): number
}

type Entry = { micros: number; budgetKeys: readonly BudgetKey[] }

/** `money`: says which day and month it is. */
export function createReservations({
  db,
  money,
  timezone,
}: {
  db: Database
  money: Pick<Clock, 'now'>
  timezone: () => string
}): Reservations {
  const entries = new Map<string, Entry>()
  const waiting = new Set<() => void>()

  function heldByOthers(jobId: string, budgetKey: BudgetKey): number {
    let micros = 0
    for (const [id, entry] of entries) if (id !== jobId && entry.budgetKeys.some((one) => isSame(one, budgetKey))) micros += entry.micros
    return micros
  }

  function settle(jobId: string): void {
    if (!entries.delete(jobId)) return
    for (const look of [...waiting]) look()
  }

  return {
    async reserve(jobId, { estimateMicros, unrecordedMicros }, signal) {
      settle(jobId)
      const micros = (estimateMicros ?? 0) + unrecordedMicros
      for (;;) {
        signal.throwIfAborted()
        const spendingLimits = readSpendingLimits(db, jobId, money.now(), timezone())
        const over = spendingLimits.find((spendingLimit) =>
          estimateMicros === null
            ? spendingLimit.spentMicros >= spendingLimit.limitMicros
            : estimateMicros > 0 && spendingLimit.spentMicros + micros > spendingLimit.limitMicros,
        )
        if (over !== undefined) return { over }
        const tight = spendingLimits.some(
          (spendingLimit) =>
            (estimateMicros ?? 0) > 0 &&
            spendingLimit.spentMicros + heldByOthers(jobId, spendingLimit) + micros > spendingLimit.limitMicros,
        )
        if (!tight) {
          entries.set(jobId, { micros, budgetKeys: spendingLimits.map(({ scope, owner, period }) => ({ scope, owner, period })) })
          return { over: null }
        }
        await untilChanged(waiting, signal)
      }
    },
    settle,
    held: () => [...entries.values()].reduce((sum, entry) => sum + entry.micros, 0),
  }
}

function isSame(a: BudgetKey, b: BudgetKey): boolean {
  return a.scope === b.scope && a.owner === b.owner && a.period === b.period
}

function untilChanged(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      waiting.delete(look)
      signal.removeEventListener('abort', fail)
    }
    const look = () => (done(), resolve())
    const fail = () => (done(), reject(signal.reason as Error))
    waiting.add(look)
    signal.addEventListener('abort', fail, { once: true })
  })
}
