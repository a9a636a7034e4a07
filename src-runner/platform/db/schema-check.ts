import { createHash } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { runMigrations } from './migrate.ts'
import { LATEST_VERSION, MIGRATIONS, type Migration } from './migrations/migrations.ts'

/** The digest of the schema after all migrations. It saves running them at each start to compare. `npm run db:generate` writes it. */
export const SCHEMA_DIGEST = '6458d99b1a06243cb3f1d3aaa5aea38076794d0a5f95832f12dfb5bd9d910c91'

/** By version. Tests open many files of earlier versions, and running the migrations takes longer than opening the file. */
const earlierSchemas = new Map<number, Map<string, string>>()

type SchemaRow = { type: string; name: string; sql: string }

/**
 * How the schema differs from what the migrations up to `version` create. null: it does not. Ignores additional tables and
 * indexes, which backup programs create, but nothing else: a trigger changes what our statements do, and SQLite runs it from a
 * crafted file also if its type is `TRIGGER` or its name begins with `sqlite_`.
 */
export function findSchemaDifference(connection: Sqlite.Database, version: number): string | null {
  const found = readSchema(connection)
  if (version === LATEST_VERSION && digestOf(found) === SCHEMA_DIGEST) return null
  const expected = earlierSchemas.get(version) ?? expectedSchema(MIGRATIONS.slice(0, version))
  earlierSchemas.set(version, expected)
  for (const [key, sql] of expected) {
    const there = found.get(key)
    if (there === undefined) return `its ${key} is missing`
    if (there !== sql) return `its ${key} is not the one that Deckhand creates`
  }
  for (const key of found.keys()) {
    if (!expected.has(key) && !/^(table|index) /.test(key)) return `its ${key} is not from Deckhand`
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

/** Without SQLite's own tables. SQLite quotes names differently depending on whether a table was created or renamed. */
function readSchema(connection: Sqlite.Database): Map<string, string> {
  const rows = connection
    .prepare<[], SchemaRow>(
      "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND NOT (type = 'table' AND name LIKE 'sqlite\\_%' ESCAPE '\\')",
    )
    .all()
  return new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, sql.replaceAll(/"(\w+)"/g, '$1').replace(/\s+/g, ' ')]))
}
