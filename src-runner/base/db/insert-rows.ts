import type { Db } from './database.ts'

/**
 * What it takes to hand SQLite one statement is as much as two rows of a small table. Beyond this many rows in one there is
 * nothing left to gain.
 */
const ROWS_AT_ONCE = 16

/** How rows of one kind are written. Made once for each kind: what is prepared is found by the text of its SQL. */
export type RowInsert = { readonly one: string; readonly many: string }

/** `columns` of `table`, each row with these `values`: a place for every column that differs, and what is the same in all. */
export function rowInsert(table: string, columns: string, values: string): RowInsert {
  const insert = `INSERT INTO ${table} (${columns}) VALUES `
  return {
    one: `${insert}(${values})`,
    many: `${insert}${Array(ROWS_AT_ONCE).fill(`(${values})`).join(', ')}`,
  }
}

/** Writes these rows, all or none. Answers the rowid of the first; those of the others follow it one by one. */
export function insertRows(db: Db, { one, many }: RowInsert, rows: readonly (readonly unknown[])[]): number {
  let lastRowid: number | bigint = 0
  let next = 0
  for (; next + ROWS_AT_ONCE <= rows.length; next += ROWS_AT_ONCE) {
    lastRowid = db.prepare(many).run(rows.slice(next, next + ROWS_AT_ONCE).flat()).lastInsertRowid
  }
  for (; next < rows.length; next++) lastRowid = db.prepare(one).run(rows[next]).lastInsertRowid
  return Number(lastRowid) - rows.length + 1
}
