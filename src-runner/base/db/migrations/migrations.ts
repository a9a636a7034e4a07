import { INITIAL } from './0001-initial.ts'
import { APPROVALS } from './0002-approvals.ts'
import { FILES_AND_MEMORY } from './0003-files-and-memory.ts'
import { WEBHOOKS } from './0004-webhooks.ts'
import { SCHEDULES } from './0005-schedules.ts'
import { CHANNELS } from './0006-channels.ts'
import { LEAN_JOBS } from './0007-lean-jobs.ts'
import { LEAN_LEDGER } from './0008-lean-ledger.ts'
import { REFUSALS } from './0009-refusals.ts'
import { PLAIN_CHECKS } from './0010-plain-checks.ts'
import { BELIEVED_TIMES } from './0011-believed-times.ts'
import { REPLY_PARTS } from './0012-reply-parts.ts'
import { PINGS_AND_PLACEHOLDERS } from './0013-pings-and-placeholders.ts'
import { BOUND_CALLS } from './0014-bound-calls.ts'
import { POSTPONED_JOBS } from './0015-postponed-jobs.ts'
import { CLIENT_TURNS } from './0016-client-turns.ts'

/**
 * SQL in the state of the schema before it, run as one transaction. `new_id()` and `now_ms()` may be called.
 * `editsSchema`: it changes the text of a table's definition in place, which SQLite allows to nobody unless it is told.
 */
export type Migration = { version: number; sql: string; editsSchema?: true }

/** Forward only, one number after another. A migration that was released is never edited: write the next one. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: INITIAL },
  { version: 2, sql: APPROVALS },
  { version: 3, sql: FILES_AND_MEMORY },
  { version: 4, sql: WEBHOOKS },
  { version: 5, sql: SCHEDULES },
  { version: 6, sql: CHANNELS },
  { version: 7, sql: LEAN_JOBS, editsSchema: true },
  { version: 8, sql: LEAN_LEDGER },
  { version: 9, sql: REFUSALS },
  { version: 10, sql: PLAIN_CHECKS, editsSchema: true },
  { version: 11, sql: BELIEVED_TIMES },
  { version: 12, sql: REPLY_PARTS },
  { version: 13, sql: PINGS_AND_PLACEHOLDERS, editsSchema: true },
  { version: 14, sql: BOUND_CALLS },
  { version: 15, sql: POSTPONED_JOBS },
  { version: 16, sql: CLIENT_TURNS },
]

export const LATEST_VERSION = MIGRATIONS.at(-1)!.version
