import { createHash } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { runMigrations } from './migrate.ts'
import { LATEST_VERSION, MIGRATIONS, type Migration } from './migrations/migrations.ts'

/** The digest of the schema after all migrations. It saves running them at each start to compare. `npm run db:generate` writes it. */
export const SCHEMA_DIGEST = '2d3e1231f0fbf97cf80e1518507770494ad289c026654ffd75086aea2f08d696'

type SchemaRow = { type: 'table' | 'index' | 'trigger' | 'view'; name: string; sql: string }

/**
 * How the schema differs from what the migrations up to `version` create. null: it does not. Ignores additional tables and
 * indexes, which backup programs create, but not triggers, which change what our statements do.
 */
export function findSchemaDifference(connection: Sqlite.Database, version: number): string | null {
  const found = readSchema(connection)
  if (version === LATEST_VERSION && digestOf(found) === SCHEMA_DIGEST) return null
  const expected = expectedSchema(MIGRATIONS.slice(0, version))
  for (const [key, sql] of expected) {
    const there = found.get(key)
    if (there === undefined) return `its ${key} is missing`
    if (there !== sql) return `its ${key} is not the one that Deckhand creates`
  }
  for (const key of found.keys()) {
    if (key.startsWith('trigger ') && !expected.has(key)) return `its ${key} is not from Deckhand`
  }
  return null
}

export function digestOf(schema: ReadonlyMap<string, string> = expectedSchema(MIGRATIONS)): string {
  return createHash('sha256')
    .update(JSON.stringify([...schema].toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex')
}

export function expectedSchema(migrations: readonly Migration[]): Map<string, string> {
  const connection = new Sqlite(':memory:')
  try {
    connection.function('new_id', () => 'id')
    connection.function('now_ms', () => 0)
    runMigrations(connection, migrations)
    return readSchema(connection)
  } finally {
    connection.close()
  }
}

/** SQLite quotes names differently depending on whether a table was created or renamed. */
function readSchema(connection: Sqlite.Database): Map<string, string> {
  const rows = connection
    .prepare<[], SchemaRow>("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    .all()
  return new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, sql.replaceAll('"', '').replace(/\s+/g, ' ')]))
}
