import Sqlite from 'better-sqlite3'

/**
 * Takes the lock that a runner holds while it uses the data folder (see `lock.ts` of the runner's database). Returns how to release
 * it, or null: a runner is there.
 */
export function takeDataLock(file: string): (() => void) | null {
  const lock = new Sqlite(file, { timeout: 0 })
  try {
    lock.pragma('journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true) return null
    throw error
  }
  return () => lock.close()
}
