import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
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
      const message = `Another Deckhand runner${describeHolder(file)} is using this data folder. Nothing was changed. End it first, or choose another folder with DECKHAND_DATA_DIR.`
      throw new DatabaseRefused('database_locked', message, error)
    }
    throw new DatabaseRefused('data_dir_unusable', `The data folder cannot be used: ${messageOf(error)}`, error)
  }
  const held = lock
  const note = noteOf(file)
  try {
    writeFileSync(note, `${process.pid}\n`, { mode: 0o600 })
  } catch {
    // A full disk: whoever finds the lock held is told so without a number.
  }
  return () => {
    rmSync(note, { force: true })
    held.close()
  }
}

/** Beside the lock, since nobody else may read that file: which process holds it. Only looked at while the lock is held. */
function noteOf(file: string): string {
  return `${file}.pid`
}

function describeHolder(file: string): string {
  try {
    const pid = /^\d+$/.exec(readFileSync(noteOf(file), 'utf8').trim())?.[0]
    return pid === undefined ? '' : ` (process ${pid})`
  } catch {
    return ''
  }
}
