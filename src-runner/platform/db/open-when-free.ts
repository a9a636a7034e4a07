import type { Clock } from '../../lib/clock.ts'
import type { Database } from './database.ts'
import { DatabaseRefused } from './database-errors.ts'

/** A runner whose host was killed ends within five seconds. */
const WAIT_MS = 6_000
const LOOK_EVERY_MS = 100

/** Opens the database, and waits a few seconds for another runner that is about to end. Throws what the last try threw. */
export async function openWhenFree(open: () => Database, clock: Pick<Clock, 'sleep' | 'monotonic'>): Promise<Database> {
  const until = clock.monotonic() + WAIT_MS
  for (;;) {
    try {
      return open()
    } catch (error) {
      const isHeld = error instanceof DatabaseRefused && error.code === 'database_locked'
      if (!isHeld || clock.monotonic() >= until) throw error
    }
    await clock.sleep(LOOK_EVERY_MS)
  }
}
