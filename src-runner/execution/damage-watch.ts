import { commitSoon } from '../platform/db/database.ts'
import type { Services } from '../platform/services.ts'
import { messageOf } from '../lib/errors.ts'
import { firstDueAt, recordRun } from '../domain/settings/periodic-work.ts'

export type DamageWatch = ReturnType<typeof createDamageWatch>

const CHECK_EVERY_MS = 30_000
/** A start checks only a small file completely. */
const SOON_MS = 60_000
const WEEK_MS = 7 * 24 * 3_600_000
/** Even if the app is never idle. */
const LONGEST_DELAY_MS = 3_600_000

/** Checks the whole database once a week, and soon after a start that could not, when the app is idle. */
export function createDamageWatch({ db, hub, clock, log }: Pick<Services, 'db' | 'hub' | 'clock' | 'log'>) {
  const stops: (() => void)[] = []
  let dueAt = Infinity
  let isIdle = false

  function checkIfDue(): void {
    const wasIdle = isIdle
    isIdle = true
    const now = clock.monotonic()
    if (now < dueAt || (!wasIdle && now < dueAt + LONGEST_DELAY_MS)) return
    dueAt = now + WEEK_MS
    void check()
  }

  async function check(): Promise<void> {
    try {
      const found = await db.findDamage()
      log.info({ found }, found.length === 0 ? 'checked the whole database: no damage' : 'the database is damaged')
      if (found.length === 0) await commitSoon(db, (tx) => recordRun(tx, clock, 'damageCheck'))
    } catch (error) {
      dueAt = clock.monotonic() + LONGEST_DELAY_MS
      log.warn({ err: error }, `the database could not be checked this time: ${messageOf(error)}`)
    }
  }

  return {
    start(): void {
      dueAt = db.isWhollyChecked ? firstDueAt(db, clock, 'damageCheck', WEEK_MS) : clock.monotonic() + SOON_MS
      stops.push(
        clock.every(CHECK_EVERY_MS, checkIfDue),
        hub.subscribe(() => void (isIdle = false)),
      )
    },
    stop: () => stops.splice(0).forEach((stop) => stop()),
  }
}
