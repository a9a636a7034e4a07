import type { Db } from './database.ts'

/** Running one statement costs as much as inserting two rows of a small table. More rows than this in one statement gain nothing. */
const ROWS_AT_ONCE = 16

/** The same statement for one row of values and for many. Create it once, because the text identifies the prepared statement. */
export type RowStatement = { readonly one: string; readonly many: string }

/** `values`: `?` for each column that differs between rows, and SQL for the others. */
export function rowInsert(table: string, columns: string, values: string): RowStatement {
  return forRows((rows) => `INSERT INTO ${table} (${columns}) VALUES ${rows}`, `(${values})`)
}

/** Changes `columns` of existing rows. Each row of values begins with its rowid, which is the column `key`. */
export function rowUpdate(table: string, key: string, columns: readonly string[]): RowStatement {
  const sets = columns.map((column, i) => `${column} = given.column${i + 2}`).join(', ')
  const row = `(?${', ?'.repeat(columns.length)})`
  return forRows((rows) => `UPDATE ${table} SET ${sets} FROM (VALUES ${rows}) AS given WHERE ${table}.${key} = given.column1`, row)
}

function forRows(sqlOf: (rows: string) => string, row: string): RowStatement {
  return { one: sqlOf(row), many: sqlOf(Array(ROWS_AT_ONCE).fill(row).join(', ')) }
}

/** Writes the rows in order. Returns the rowid of the first inserted row; the others follow without gaps. */
export function writeRows(db: Pick<Db, 'prepare'>, { one, many }: RowStatement, rows: readonly (readonly unknown[])[]): number {
  let lastRowid: number | bigint = 0
  let next = 0
  for (; next + ROWS_AT_ONCE <= rows.length; next += ROWS_AT_ONCE) {
    lastRowid = db.prepare(many).run(rows.slice(next, next + ROWS_AT_ONCE).flat()).lastInsertRowid
  }
  for (; next < rows.length; next++) lastRowid = db.prepare(one).run(rows[next]).lastInsertRowid
  return Number(lastRowid) - rows.length + 1
}
