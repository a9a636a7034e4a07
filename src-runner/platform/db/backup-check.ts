import { rmSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { APPLICATION_ID, damageOf } from './integrity.ts'
import { LATEST_VERSION } from './migrations/migrations.ts'
import { findSchemaDifference } from './schema-check.ts'

/** Reads the whole backup. Returns why it cannot replace the database, or null if it can. */
export function findBackupDamage(file: string): string | null {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true })
  try {
    const version = connection.pragma('user_version', { simple: true }) as number
    if (connection.pragma('application_id', { simple: true }) !== APPLICATION_ID || version < 1) return 'it is not a database of Deckhand'
    if (version > LATEST_VERSION) return `it was made by a newer version of Deckhand (schema ${version}, this one knows ${LATEST_VERSION})`
    return damageOf(connection, 'integrity_check(3)').join('; ') || findSchemaDifference(connection, version)
  } finally {
    connection.close()
    // A read-only connection creates an empty log and may not remove it.
    for (const rest of [`${file}-wal`, `${file}-shm`]) rmSync(rest, { force: true })
  }
}

/** The same for a copy of the accounts, whose tables only the host knows. */
export function findAccountsDamage(file: string): string | null {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true })
  try {
    const damage = damageOf(connection, 'integrity_check(3)').join('; ')
    if (damage !== '') return damage
    return connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'user'").get() === undefined ? 'it holds no accounts' : null
  } finally {
    connection.close()
  }
}
