import Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import { sqliteCodeOf } from './database-errors.ts'

/** All tables with pages of their own. A virtual table has none: its rows are in tables beside it. */
export function listTables(connection: Sqlite.Database): string[] {
  const ofFile = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
  return connection
    .prepare<[], { name: string }>(ofFile)
    .all()
    .map((row) => row.name)
}

/** What this check finds, in SQLite's words; empty when all is well. */
export function damageOf(connection: Sqlite.Database, check: string): string[] {
  const lines = connection.pragma(check) as Record<string, string>[]
  return lines.map((line) => Object.values(line)[0] ?? '').filter((line) => line !== 'ok')
}

function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(sqliteCodeOf(error) ?? '')
}

const MOST_LINES = 10

/**
 * Checks one table with its indexes after another, each with a connection of its own, so that the write-ahead log is held
 * for no longer than one table takes. `rest` is waited for after each. Throws what is not damage, like a locked file.
 */
export async function checkWholeFile(file: string, rest: (tookMs: number) => Promise<void> | void): Promise<string[]> {
  const tables = inFile(file, listTables)
  if (tables.damage !== null) return [tables.damage]
  const found: string[] = []
  for (const name of tables.value) {
    const startedAt = performance.now()
    const { value, damage } = inFile(file, (connection) => damageOf(connection, `integrity_check("${name}")`))
    found.push(...(damage === null ? value : [damage]).map((line) => `${name}: ${line}`))
    if (found.length >= MOST_LINES) break
    await rest(performance.now() - startedAt)
  }
  return found
}

type Read<T> = { value: T; damage: null } | { value: null; damage: string }

function inFile<T>(file: string, read: (connection: Sqlite.Database) => T): Read<T> {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 1000 })
  try {
    return { value: read(connection), damage: null }
  } catch (error) {
    if (!isDamage(error)) throw error
    return { value: null, damage: messageOf(error) }
  } finally {
    connection.close()
  }
}
