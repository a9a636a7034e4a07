import Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import { sqliteCodeOf } from './database-errors.ts'

/** "DKHD" in the header of the file. A file of another program is not touched. */
export const APPLICATION_ID = 0x444b4844

/** All tables that have pages. Virtual tables have none: other tables hold their rows. */
export function listTables(connection: Sqlite.Database): string[] {
  return connection.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").pluck().all()
}

/** SQLite's messages from a check, such as `quick_check(3)`. Empty: there is no damage. */
export function damageOf(connection: Sqlite.Database, check: string): string[] {
  const messages = connection.pragma(check) as Record<string, string>[]
  return messages.flatMap(Object.values<string>).filter((message) => message !== 'ok')
}

export function readVersions(connection: Sqlite.Database): { schemaVersion: number; sqliteVersion: string } {
  return {
    schemaVersion: connection.pragma('user_version', { simple: true }) as number,
    sqliteVersion: connection.prepare<[], string>('SELECT sqlite_version()').pluck().get()!,
  }
}

const MAX_MESSAGES = 10
/** Opening the file takes longer than checking a small table, so one connection checks as many as fit into this time. */
const BATCH_MS = 20

/**
 * Checks each table with its indexes over separate connections. Each check is a statement of its own, so that the write-ahead log is
 * held only as long as one table takes. Awaits `rest` after each batch of tables. Throws what is not damage, such as a locked file.
 */
export async function checkWholeFile(file: string, rest: (tookMs: number) => Promise<void> | void): Promise<string[]> {
  let left: string[] = []
  const found = withConnection(file, (connection) =>
    damageIn(() => {
      left = listTables(connection)
      return []
    }),
  )
  while (left.length > 0 && found.length < MAX_MESSAGES) {
    const startedAt = performance.now()
    const took = () => performance.now() - startedAt
    withConnection(file, (connection) => {
      do {
        const name = left.shift()!
        found.push(...damageIn(() => damageOf(connection, `integrity_check("${name}")`)).map((message) => `${name}: ${message}`))
      } while (left.length > 0 && found.length < MAX_MESSAGES && took() < BATCH_MS)
    })
    await rest(took())
  }
  return found
}

function withConnection<T>(file: string, work: (connection: Sqlite.Database) => T): T {
  const connection = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 1000 })
  try {
    return work(connection)
  } finally {
    connection.close()
  }
}

/** Some damage makes the check itself fail. */
function damageIn(check: () => string[]): string[] {
  try {
    return check()
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(sqliteCodeOf(error) ?? '')) throw error
    return [messageOf(error)]
  }
}
