import { integer, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { count, flag, moment, oneOf, checks } from './column-types.ts'

export const trustedClock = sqliteTable(
  'trusted_clock',
  {
    // What it is used for: deleting by age, or dating spend.
    line: oneOf('line', ['age', 'money']).primaryKey(),
    at: moment('at').notNull(),
    // How far the clock is ahead of the trusted time.
    aheadMs: integer('ahead_ms').notNull(),
    stoodMs: count('stood_ms').notNull(),
    // The jump happened while the machine was off for an unknown time.
    wasOff: flag('was_off').notNull(),
    // The monotonic time at that moment, and the boot it counts from.
    elapsedMs: integer('elapsed_ms').notNull(),
    boot: text('boot').notNull(),
  },
  (t) => [...checks(t)],
)
