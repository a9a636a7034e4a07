import Sqlite from 'better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { flag } from './column-types.ts'
import { rowInsert, rowUpdate, writeRows } from './write-rows.ts'

let connection: Sqlite.Database
beforeEach(() => {
  connection = new Sqlite(':memory:')
  connection.exec(
    "CREATE TABLE things (seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, piece_size INTEGER, is_new INTEGER NOT NULL, kind TEXT DEFAULT 'kept') STRICT; INSERT INTO things VALUES (41, 'first', 0, 0, 'old')",
  )
})
afterEach(() => connection.close())

const things = sqliteTable('things', {
  seq: integer('seq').primaryKey(),
  name: text('name').notNull(),
  size: integer('piece_size'),
  isNew: flag('is_new').notNull(),
})
const THINGS = rowInsert(things, ['name', 'size', 'isNew'])
const db = { prepare: (sql: string) => connection.prepare<unknown[], never>(sql) }
const insert = (rows: readonly { name: string; size?: number; isNew: boolean }[]) => writeRows(db, THINGS, rows)
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `thing ${i}`, ...(i === 3 ? {} : { size: i }), isNew: i % 2 === 0 }))

test.each([1, 2, 15, 16, 17, 31, 32, 100])('inserts %i rows in their order, with consecutive keys', (count) => {
  expect(insert(rowsOf(count))).toBe(42)
  expect(connection.prepare('SELECT seq, name, piece_size, is_new, kind FROM things WHERE seq > 41 ORDER BY seq').raw().all()).toEqual(
    rowsOf(count).map(({ name, size = null, isNew }, i) => [42 + i, name, size, Number(isNew), 'kept']),
  )
})

test('rejects a row that breaks a constraint, wherever it is in the list', () => {
  for (const at of [0, 15, 16]) {
    const rows = rowsOf(17).with(at, { name: 'first', size: 1, isNew: true })
    expect(() => connection.transaction(() => insert(rows))()).toThrow('UNIQUE')
    expect(connection.prepare('SELECT count(*) FROM things').pluck().get()).toBe(1)
  }
})

test.each([1, 15, 16, 17, 100])('updates %i rows, each with its own values, and no others', (count) => {
  insert(rowsOf(count + 1))
  const changes = Array.from({ length: count }, (_, i) => ({ seq: 42 + i, name: `changed ${i}`, size: i === 3 ? null : -1 - i }))
  writeRows(db, rowUpdate(things, 'seq', ['name', 'size']), changes.toReversed())
  expect(connection.prepare('SELECT seq, name, piece_size, kind FROM things ORDER BY seq').raw().all()).toEqual([
    [41, 'first', 0, 'old'],
    ...changes.map(({ seq, name, size }) => [seq, name, size, 'kept']),
    [42 + count, `thing ${count}`, count === 3 ? null : count, 'kept'],
  ])
})
