import Sqlite from 'better-sqlite3'
import type { DatabaseTrouble } from '../../contract/database.ts'
import type { Message } from '../../contract/messages.ts'
import { AppError } from '../../lib/errors.ts'
import { englishText } from '../../lib/messages.ts'

/** Why the database was not opened. The code is what the runner reports to its host (contract/port.ts). */
export type DatabaseRefusal = 'database_damaged' | 'database_newer' | 'database_locked' | 'disk_full' | 'read_only' | 'data_dir_unusable'

/** Thrown only by `openDatabase`, before anything is written. */
export class DatabaseRefused extends Error {
  override readonly name = 'DatabaseRefused'
  readonly code: DatabaseRefusal
  /** For people. */
  readonly why: Message

  constructor(code: DatabaseRefusal, why: Message, cause?: unknown) {
    super(englishText(why), cause === undefined ? undefined : { cause })
    this.code = code
    this.why = why
  }
}

export function sqliteCodeOf(thrown: unknown): string | null {
  return thrown instanceof Sqlite.SqliteError ? thrown.code : null
}

/** The system or the disk does not permit writing: an errno, or SQLite's code for it. */
export function isForbidden(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { code } = thrown as NodeJS.ErrnoException
  return /^(EACCES|EPERM|EROFS|SQLITE_READONLY.*)$/.test(code ?? '') || isForbidden(thrown.cause)
}

/** SQLite reports FULL for ENOSPC, and a writing IOERR for other full disks (quotas, network disks). */
const CANNOT_WRITE = /^SQLITE_(FULL|IOERR_(WRITE|FSYNC|DIR_FSYNC|TRUNCATE|SHMSIZE))$/
const CONCERNS_FILE = /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|CANTOPEN|READONLY|PROTOCOL)/
const CANNOT_USE = /^SQLITE_(IOERR|CORRUPT|NOTADB|BUSY|LOCKED|CANTOPEN|READONLY|PROTOCOL|NOMEM)/

/** Another program has the write lock, so the transaction has not begun. */
export function isLockedOut(error: unknown): boolean {
  return error instanceof AppError && sqliteCodeOf(error.cause)?.startsWith('SQLITE_BUSY') === true
}

/** The trouble of the file that made a statement fail. null: none, or it passes by itself. */
export function troubleOf(thrown: unknown): DatabaseTrouble | null {
  const code = sqliteCodeOf(thrown)
  if (code === null || !CONCERNS_FILE.test(code)) return null
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return 'damaged'
  if (code.startsWith('SQLITE_READONLY')) return 'read_only'
  return CANNOT_WRITE.test(code) ? 'disk_full' : 'unavailable'
}

/**
 * Turns trouble with the file into AppError `disk_full` or `database_unavailable`. Returns any other error unchanged, such as a
 * violated constraint.
 */
export function describeDatabaseTrouble(thrown: unknown): unknown {
  const code = sqliteCodeOf(thrown)
  if (code === null) return thrown
  if (CANNOT_WRITE.test(code)) {
    return new AppError('disk_full', undefined, { cause: thrown })
  }
  if (CANNOT_USE.test(code)) return new AppError('database_unavailable', undefined, { cause: thrown })
  return thrown
}
