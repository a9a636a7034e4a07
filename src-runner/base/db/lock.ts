import Sqlite from 'better-sqlite3'
import { messageOf } from '../../kit/errors.ts'
import { DatabaseRefused, sqliteCodeOf } from './database-errors.ts'

/**
 * Holds `file` for this process until the answered function is called or the process ends, however it ends. The
 * lock is the operating system's, taken by an open exclusive transaction on an empty SQLite file: it cannot go
 * stale, and a laptop that slept still has it. Nobody else may open this file: closing any handle to it would
 * give a POSIX lock away.
 */
export function holdLock(file: string): () => void {
  let lock: Sqlite.Database | undefined
  try {
    lock = new Sqlite(file, { timeout: 0 })
    // A journal on disk would need room, which a full disk does not have.
    lock.pragma('journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    if (sqliteCodeOf(error)?.startsWith('SQLITE_BUSY')) {
      throw new DatabaseRefused('database_locked', 'Another Deckhand runner is using this data folder. Nothing was changed.', error)
    }
    throw new DatabaseRefused('data_dir_unusable', `The data folder cannot be used: ${messageOf(error)}`, error)
  }
  const held = lock
  return () => held.close()
}
