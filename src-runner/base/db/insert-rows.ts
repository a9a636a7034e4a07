import type { Db } from './database.ts'

/**
 * What it takes to hand SQLite one statement is as much as two rows of a small table, so rows go in together. Beyond
 * sixteen in one there is nothing left to gain.
 */
const WIDTHS = [16, 4, 1] as const

/** How rows of one kind are written, by how many there are in one statement. Made once for each kind. */
export type RowInsert = readonly { readonly rows: number; readonly sql: string }[]

/** `columns` of `table`, each row with these `values`: a place for every column that differs, and what is the same in all. */
export function rowInsert(table: string, columns: string, values: string): RowInsert {
  return WIDTHS.map((rows) => ({ rows, sql: `INSERT INTO ${table} (${columns}) VALUES ${Array(rows).fill(`(${values})`).join(', ')}` }))
}

/** Writes these rows, all or none. Answers the rowid of the first; those of the others follow it one by one. */
export function insertRows(db: Db, insert: RowInsert, rows: readonly (readonly unknown[])[]): number {
  let lastRowid: number | bigint = 0
  let next = 0
  for (const { rows: width, sql } of insert) {
    for (; next + width <= rows.length; next += width) {
      lastRowid = db.prepare(sql).run(rows.slice(next, next + width).flat()).lastInsertRowid
    }
  }
  return Number(lastRowid) - rows.length + 1
}
