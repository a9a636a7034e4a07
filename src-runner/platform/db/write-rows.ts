import { Column, getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from './database.ts'

/** Running a statement costs as much as two rows of a small table, so more rows in one statement would gain nothing. */
const ROWS_AT_ONCE = 16

/** A statement for one row and the same for many. Made once for each kind of row: prepared statements are found by their text. */
export type RowStatement<Row> = {
  readonly one: string
  readonly many: string
  /** The values to bind for `count` rows. */
  valuesOf(rows: readonly Row[], from: number, count: number): unknown[]
}
export type RowOf<Statement> = Statement extends RowStatement<infer Row> ? Row : never

type Key<Table extends SQLiteTable> = keyof Table['$inferInsert'] & string
type Row<Table extends SQLiteTable, Keys extends Key<Table>> = Pick<Table['$inferInsert'], Keys>

/** Inserts these columns. A row may leave out those that may be NULL. */
export function rowInsert<Table extends SQLiteTable, Keys extends Key<Table>>(
  table: Table,
  keys: readonly Keys[],
): RowStatement<Row<Table, Keys>> {
  const names = columnsOf(table, keys).map(({ name }) => name)
  return statementFor(table, keys, (rows) => `INSERT INTO ${getTableName(table)} (${names.join(', ')}) VALUES ${rows}`)
}

/** Sets these columns in the rows with that `key`, which is the rowid. */
export function rowUpdate<Table extends SQLiteTable, KeyName extends Key<Table>, Keys extends Key<Table>>(
  table: Table,
  key: KeyName,
  keys: readonly Keys[],
): RowStatement<Row<Table, KeyName | Keys>> {
  const name = getTableName(table)
  const sets = columnsOf(table, keys).map((column, i) => `${column.name} = given.column${i + 2}`)
  const isGiven = `${name}.${columnsOf(table, [key])[0]!.name} = given.column1`
  return statementFor<Table, KeyName | Keys>(
    table,
    [key, ...keys],
    (rows) => `UPDATE ${name} SET ${sets.join(', ')} FROM (VALUES ${rows}) AS given WHERE ${isGiven}`,
  )
}

function columnsOf(table: SQLiteTable, keys: readonly string[]): Column[] {
  const columns: Record<string, Column> = getTableColumns(table)
  return keys.map((key) => columns[key]!)
}

function statementFor<Table extends SQLiteTable, Keys extends Key<Table>>(
  table: Table,
  keys: readonly Keys[],
  sqlOf: (rows: string) => string,
): RowStatement<Row<Table, Keys>> {
  const row = `(${keys.map(() => '?').join(', ')})`
  // Most columns store a value as it is.
  const encoders = columnsOf(table, keys).map((column) => (column.mapToDriverValue === Column.prototype.mapToDriverValue ? null : column))
  return {
    one: sqlOf(row),
    many: sqlOf(Array(ROWS_AT_ONCE).fill(row).join(', ')),
    valuesOf(rows, from, count) {
      const values: unknown[] = Array(count * keys.length)
      let next = 0
      for (let at = from; at < from + count; at++) {
        const given = rows[at]!
        for (let i = 0; i < keys.length; i++) {
          const value: unknown = given[keys[i]!]
          const encoder = encoders[i]!
          values[next++] = value == null ? null : encoder === null ? value : encoder.mapToDriverValue(value)
        }
      }
      return values
    },
  }
}

/** Writes these rows in their order. Returns the rowid of the first one inserted; the others follow one by one. */
export function writeRows<Row>(db: Pick<Db, 'prepare'>, { one, many, valuesOf }: RowStatement<Row>, rows: readonly Row[]): number {
  let lastRowid: number | bigint = 0
  let next = 0
  for (; next + ROWS_AT_ONCE <= rows.length; next += ROWS_AT_ONCE) {
    lastRowid = db.prepare(many).run(valuesOf(rows, next, ROWS_AT_ONCE)).lastInsertRowid
  }
  for (; next < rows.length; next++) lastRowid = db.prepare(one).run(valuesOf(rows, next, 1)).lastInsertRowid
  return Number(lastRowid) - rows.length + 1
}
