import { eq, getTableColumns } from 'drizzle-orm'
import { integer, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { count, flag, moment, oneOf, checks } from './column-types.ts'
import type { Db, Tx } from './database.ts'

export const trustedClock = sqliteTable(
  'trusted_clock',
  {
    // What the clock is used for: deleting by age, or dating spend.
    name: oneOf('name', ['age', 'money']).primaryKey(),
    // The trusted time at the last reading.
    at: moment('at').notNull(),
    // How far the wall clock was ahead of it. Negative: behind.
    aheadMs: integer('ahead_ms').notNull(),
    // Running time since the jump.
    stoodMs: count('stood_ms').notNull(),
    // The jump was at a start of the machine, which may have been off for some time.
    wasOff: flag('was_off').notNull(),
    // The machine's running time at the last reading. Comparable within one boot only.
    elapsedMs: integer('elapsed_ms').notNull(),
    boot: text('boot').notNull(),
  },
  (t) => [...checks(t)],
)

export type ClockName = (typeof trustedClock.$inferSelect)['name']
/** Whole milliseconds. */
export type ClockState = Omit<typeof trustedClock.$inferSelect, 'name'>

const { name: clockName, ...STATE } = getTableColumns(trustedClock)

export function readClockState(db: Db, name: ClockName): ClockState {
  return db.select(STATE).from(trustedClock).where(eq(clockName, name)).get()!
}

export function writeClockState(tx: Tx, name: ClockName, state: ClockState): void {
  tx.update(trustedClock).set(state).where(eq(clockName, name)).run()
}
