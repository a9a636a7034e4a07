import { eq } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { settings } from './settings-table.ts'

/** Periodic work and the key of its last run, which is kept because many people never run the app for as long as its interval. */
const KEYS = { pruning: 'lastPruning', damageCheck: 'lastDamageCheck' }

export type PeriodicWork = keyof typeof KEYS

/** A start is busy. Work that is overdue waits this long. */
export const AFTER_START_MS = 5 * 60_000

/** When the work is due first after a start, in running time: by when it last ran, but never at once. */
export function firstDueAt(db: Db, clock: Pick<Clock, 'now' | 'monotonic'>, work: PeriodicWork, everyMs: number): number {
  const last = db.select({ at: settings.updatedAt }).from(settings).where(eq(settings.key, KEYS[work])).get()
  const sinceMs = last === undefined ? everyMs : clock.now() - last.at
  // A time in the future was recorded while the clock was wrong.
  const leftMs = sinceMs < 0 ? 0 : everyMs - sinceMs
  return clock.monotonic() + Math.max(AFTER_START_MS, leftMs)
}

export function recordRun(tx: Tx, clock: Pick<Clock, 'now'>, work: PeriodicWork): void {
  const row = { value: 'true', updatedAt: clock.now() }
  tx.insert(settings)
    .values({ key: KEYS[work], ...row })
    .onConflictDoUpdate({ target: settings.key, set: row })
    .run()
}
