import type { Clock } from '../../lib/clock.ts'
import type { Database } from './database.ts'
import { DatabaseRefused } from './database-errors.ts'

/** A runner ends within five seconds after its host was killed. */
const WAIT_MS = 6_000
const RETRY_MS = 100

/** Opens the database, and waits a few seconds for another runner to end. Throws the error of the last try. */
export async function openWhenFree(open: () => Database, clock: Pick<Clock, 'sleep' | 'monotonic'>): Promise<Database> {
  const until = clock.monotonic() + WAIT_MS
  for (;;) {
    try {
      return open()
    } catch (error) {
      const isLocked = error instanceof DatabaseRefused && error.code === 'database_locked'
      if (!isLocked || clock.monotonic() >= until) throw error
    }
    await clock.sleep(RETRY_MS)
  }
}
