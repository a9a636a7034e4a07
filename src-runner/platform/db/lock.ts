import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { DatabaseRefused, sqliteCodeOf } from './database-errors.ts'

/**
 * Locks `file` until the returned function is called or this process ends. An open exclusive transaction on an empty SQLite
 * file takes a lock of the operating system, which cannot go stale and survives sleep. This process must not open the file
 * again, because closing any handle to it would release a POSIX lock.
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
      throw new DatabaseRefused('database_locked', createMessage('start_other_runner', { process: readHolder(file) }), error)
    }
    const why = createMessage('start_data_folder', { folder: dirname(file), detail: messageOf(error) })
    throw new DatabaseRefused('data_dir_unusable', why, error)
  }
  const held = lock
  try {
    writeFileSync(pidFileOf(file), `${process.pid}\n`, { mode: 0o600 })
  } catch {
    // On a full disk the refusal of another runner names no process.
  }
  return () => {
    rmSync(pidFileOf(file), { force: true })
    held.close()
  }
}

const pidFileOf = (file: string) => `${file}.pid`

/** The id of the process, or `none`. */
function readHolder(file: string): string {
  try {
    const pid = readFileSync(pidFileOf(file), 'utf8').trim()
    return /^\d+$/.test(pid) ? pid : 'none'
  } catch {
    return 'none'
  }
}
