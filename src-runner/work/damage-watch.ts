import type { Database } from '../base/db/database.ts'
import type { EventHub } from '../base/events/event-hub.ts'
import type { Clock } from '../kit/clock.ts'
import { messageOf } from '../kit/errors.ts'
import type { Log } from '../kit/log.ts'

export type DamageWatch = { start(): void; stop(): void }

const LOOK_EVERY_MS = 30_000
/** A start checks a small file as a whole. A large one is checked soon after it. */
const SOON_MS = 60_000
const WEEK_MS = 7 * 24 * 3_600_000
/** If it is never quiet, the check is made beside the work. */
const LONGEST_PUT_OFF_MS = 3_600_000

/** Checks the whole database after a start that could not, and once a week, when nothing has happened for a while. */
export function createDamageWatch({ db, hub, clock, log }: { db: Database; hub: EventHub; clock: Clock; log: Log }): DamageWatch {
  const stops: (() => void)[] = []
  let dueAt = clock.monotonic() + (db.isWhollyChecked ? WEEK_MS : SOON_MS)
  let isQuiet = false

  function look(): void {
    const wasQuiet = isQuiet
    isQuiet = true
    const now = clock.monotonic()
    if (now < dueAt || (!wasQuiet && now < dueAt + LONGEST_PUT_OFF_MS)) return
    dueAt = now + WEEK_MS
    db.findDamage().then(
      (found) => log.info({ found }, found.length === 0 ? 'the whole database was checked and is sound' : 'the database is damaged'),
      (error: unknown) => {
        dueAt = clock.monotonic() + LONGEST_PUT_OFF_MS
        log.warn({ err: error }, `the database could not be checked this time: ${messageOf(error)}`)
      },
    )
  }

  return {
    start: () =>
      void stops.push(
        clock.every(LOOK_EVERY_MS, look),
        hub.subscribe(() => void (isQuiet = false)),
      ),
    stop: () => stops.splice(0).forEach((stop) => stop()),
  }
}
