import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { Log } from '../../lib/log.ts'
import { AppError } from '../../lib/errors.ts'
import { createMessage, quote } from '../../lib/messages.ts'
import { BACKUP_FOLDER, backupNameOf } from './backup-files.ts'
import { freeBytesAt, sizeOf } from './ballast.ts'
import { DatabaseRefused } from './database-errors.ts'
import { syncFile, syncFolder } from './sync-files.ts'
import { MIGRATIONS, type Migration } from './migrations/migrations.ts'

/**
 * Brings the schema to the newest version, each step in one transaction. A file with data (`existing`) is backed up first.
 */
export function migrate(
  connection: Sqlite.Database,
  existing: { file: string; log: Log; now: number } | null,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  const from = versionOf(connection)
  const missing = migrations.filter((migration) => migration.version > from)
  if (missing.length === 0) return
  const copy = existing === null ? null : join(dirname(existing.file), BACKUP_FOLDER, backupNameOf(existing.now))
  if (existing !== null && copy !== null) {
    refuseWithoutRoom(existing.file)
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
    copyDatabase(connection, copy)
    existing.log.info({ from, to: missing.at(-1)!.version, copy }, 'the database was copied and is being migrated')
  }
  try {
    runMigrations(connection, missing)
  } catch (error) {
    // The file is as it was. Otherwise each start would leave another copy of it.
    if (copy !== null && versionOf(connection) === from) rmSync(copy, { force: true })
    throw error
  }
  if (existing !== null) letShrink(connection, existing)
  // Older versions of the app read the version from the file itself before they change anything.
  connection.pragma('wal_checkpoint(TRUNCATE)')
}

function versionOf(connection: Sqlite.Database): number {
  return connection.pragma('user_version', { simple: true }) as number
}

/** The copy and the changes are each at most as large as the file. */
function refuseWithoutRoom(file: string): void {
  const needed = 2 * (sizeOf(file) + sizeOf(`${file}-wal`))
  const free = freeBytesAt(file)
  if (free >= needed) return
  const [neededMb, freeMb] = [Math.ceil(needed / 1e6), Math.floor(free / 1e6)]
  throw new DatabaseRefused('disk_full', createMessage('start_no_room_to_update', { neededMb: String(neededMb), freeMb: String(freeMb) }))
}

/**
 * A file of an early version cannot give deleted rows back to the disk until it is rewritten. That takes seconds, so it is done
 * once, with a migration, which has made a copy. Without room for it the file is left as it is, until the next one.
 */
function letShrink(connection: Sqlite.Database, { file, log }: { file: string; log: Log }): void {
  if (connection.pragma('auto_vacuum', { simple: true }) !== 0 || freeBytesAt(file) < 2 * sizeOf(file)) return
  // Otherwise SQLite would build the new file in memory.
  connection.pragma('temp_store = FILE')
  try {
    connection.pragma('auto_vacuum = INCREMENTAL')
    connection.exec('VACUUM')
    log.info({ file }, 'the database was rewritten, so that it can shrink')
  } catch (error) {
    log.warn({ err: error }, 'the database could not be rewritten, so it cannot shrink')
  } finally {
    connection.pragma('temp_store = MEMORY')
  }
}

/**
 * Foreign keys are checked at the end of each transaction. If they were enforced during it, dropping a table to create it again
 * would delete the rows that point to it (sqlite.org/lang_altertable.html#otheralter).
 */
export function runMigrations(connection: Sqlite.Database, migrations: readonly Migration[]): void {
  connection.pragma('foreign_keys = OFF')
  try {
    for (const { version, sql } of migrations) {
      connection
        .transaction(() => {
          connection.exec(sql)
          const broken = connection.pragma('foreign_key_check') as unknown[]
          if (broken.length > 0) throw new Error(`migration ${version} leaves ${broken.length} rows with broken references`)
          connection.pragma(`user_version = ${version}`)
        })
        .immediate()
    }
  } finally {
    connection.pragma('foreign_keys = ON')
  }
}

/** Only a complete, checked copy gets the name `target`. */
function copyDatabase(connection: Sqlite.Database, target: string): void {
  const draft = `${target}.part`
  rmSync(draft, { force: true })
  try {
    connection.prepare('VACUUM INTO ?').run(draft)
    const copy = new Sqlite(draft, { readonly: true, fileMustExist: true })
    const verdict = copy.pragma('quick_check(1)', { simple: true })
    copy.close()
    if (verdict !== 'ok') throw new AppError('database_unavailable', quote(`The copy of the database is damaged (${String(verdict)}).`))
    syncFile(draft)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  renameSync(draft, target)
  syncFolder(dirname(target))
}
