import { SQL as SQL_1 } from './0001-baseline.ts'
import { SQL as SQL_2 } from './0002-add-access-tokens.ts'
import { SQL as SQL_3 } from './0003-add-rooms.ts'
import { SQL as SQL_4 } from './0004-add-notify-lists.ts'
import { SQL as SQL_5 } from './0005-add-retention.ts'
import { SQL as SQL_6 } from './0006-index-lists-by-workspace.ts'
import { SQL as SQL_7 } from './0007-add-credentials.ts'
import { SQL as SQL_8 } from './0008-add-mcp-servers.ts'
import { SQL as SQL_9 } from './0009-add-skills.ts'
import { SQL as SQL_10 } from './0010-add-code-tasks.ts'
import { SQL as SQL_11 } from './0011-keep-results.ts'
import { SQL as SQL_12 } from './0012-save-code-tasks.ts'
import { SQL as SQL_13 } from './0013-import-skills.ts'
import { SQL as SQL_14 } from './0014-ask-model-for-servers.ts'
import { SQL as SQL_15 } from './0015-drop-index-of-jobs-by-workspace.ts'
import { SQL as SQL_16 } from './0016-note-why-jobs-are-postponed.ts'
import { SQL as SQL_17 } from './0017-list-more-refused-deliveries.ts'

/** SQL in the state of the schema before it, run as one transaction. `new_id()` and `now_ms()` may be called. */
export type Migration = { version: number; sql: string }

/** Forward only, numbered without gaps. A migration that was released is never edited: write the next one. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: SQL_1 },
  { version: 2, sql: SQL_2 },
  { version: 3, sql: SQL_3 },
  { version: 4, sql: SQL_4 },
  { version: 5, sql: SQL_5 },
  { version: 6, sql: SQL_6 },
  { version: 7, sql: SQL_7 },
  { version: 8, sql: SQL_8 },
  { version: 9, sql: SQL_9 },
  { version: 10, sql: SQL_10 },
  { version: 11, sql: SQL_11 },
  { version: 12, sql: SQL_12 },
  { version: 13, sql: SQL_13 },
  { version: 14, sql: SQL_14 },
  { version: 15, sql: SQL_15 },
  { version: 16, sql: SQL_16 },
  { version: 17, sql: SQL_17 },
]

export const LATEST_VERSION = MIGRATIONS.length
