import type { Db } from './database.ts'

/**
 * What it takes to hand SQLite one statement is as much as two rows of a small table. Beyond this many rows in one there is
 * nothing left to gain.
 */
const ROWS_AT_ONCE = 16

/** A statement for one row of values and the same for many. Made once for each kind: what is prepared is found by its text. */
export type RowStatement = { readonly one: string; readonly many: string }

/** `columns` of `table`, each row with these `values`: a place for every column that differs, and what is the same in all. */
export function rowInsert(table: string, columns: string, values: string): RowStatement {
  return forRows((rows) => `INSERT INTO ${table} (${columns}) VALUES ${rows}`, `(${values})`)
}

/** `columns` of rows that are there. Each row of values begins with its rowid, which is the column `key`. */
export function rowUpdate(table: string, key: string, columns: readonly string[]): RowStatement {
  const sets = columns.map((column, i) => `${column} = given.column${i + 2}`).join(', ')
  const row = `(?${', ?'.repeat(columns.length)})`
  return forRows((rows) => `UPDATE ${table} SET ${sets} FROM (VALUES ${rows}) AS given WHERE ${table}.${key} = given.column1`, row)
}

function forRows(sqlOf: (rows: string) => string, row: string): RowStatement {
  return { one: sqlOf(row), many: sqlOf(Array(ROWS_AT_ONCE).fill(row).join(', ')) }
}

/** Writes these rows in their order. Of those that are inserted, answers the rowid of the first; the others follow it one by one. */
export function writeRows(db: Pick<Db, 'prepare'>, { one, many }: RowStatement, rows: readonly (readonly unknown[])[]): number {
  let lastRowid: number | bigint = 0
  let next = 0
  for (; next + ROWS_AT_ONCE <= rows.length; next += ROWS_AT_ONCE) {
    lastRowid = db.prepare(many).run(rows.slice(next, next + ROWS_AT_ONCE).flat()).lastInsertRowid
  }
  for (; next < rows.length; next++) lastRowid = db.prepare(one).run(rows[next]).lastInsertRowid
  return Number(lastRowid) - rows.length + 1
}
