import type { Database } from './database.ts'

/** Fewer free pages (16 MB) stay in the file, because new rows will use them soon. */
const WORTH_IT = 4096
/** Moving 1 MB takes a few milliseconds. */
const PAGES_AT_ONCE = 256

/**
 * Gives some of the file's free pages back to the disk. Returns whether there are more. A file that an early version made only
 * reuses its free pages, until the next migration rewrites it.
 */
export function giveBackSpace(db: Database): boolean {
  const { connection } = db
  if ((connection.pragma('auto_vacuum', { simple: true }) as number) === 0) return false
  if ((connection.pragma('freelist_count', { simple: true }) as number) < WORTH_IT) return false
  db.commits.runNow(() => void connection.pragma(`incremental_vacuum(${PAGES_AT_ONCE})`))
  return true
}
