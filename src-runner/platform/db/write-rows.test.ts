import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rowInsert, rowUpdate, writeRows } from './write-rows.ts'

let connection: Sqlite.Database
beforeEach(() => {
  connection = new Sqlite(':memory:')
  connection.exec(
    "CREATE TABLE things (seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER, kind TEXT NOT NULL) STRICT; INSERT INTO things VALUES (41, 'first', 0, 'old')",
  )
})
afterEach(() => connection.close())

const THINGS = rowInsert('things', 'name, size, kind', "?, ?, 'new'")
const insert = (rows: readonly (readonly unknown[])[]) => writeRows({ prepare: (sql) => connection.prepare(sql) }, THINGS, rows)
const rowsOf = (count: number) => Array.from({ length: count }, (_, i) => [`thing ${i}`, i === 3 ? null : i])

test.each([1, 2, 15, 16, 17, 31, 32, 100])('inserts %i rows in order, with keys without gaps', (count) => {
  expect(insert(rowsOf(count))).toBe(42)
  expect(connection.prepare('SELECT seq, name, size, kind FROM things WHERE seq > 41 ORDER BY seq').raw().all()).toEqual(
    rowsOf(count).map(([name, size], i) => [42 + i, name, size, 'new']),
  )
})

test('refuses a row that violates a constraint, at any position', () => {
  for (const at of [0, 15, 16]) {
    const rows = rowsOf(17)
    rows[at] = ['first', 1]
    expect(() => connection.transaction(() => insert(rows))()).toThrow('UNIQUE')
    expect(connection.prepare('SELECT count(*) FROM things').pluck().get()).toBe(1)
  }
})

test.each([1, 15, 16, 17, 100])('changes only the %i given rows, each to its own values', (count) => {
  insert(rowsOf(count + 1))
  const changes = Array.from({ length: count }, (_, i) => [42 + i, `changed ${i}`, i === 3 ? null : -1 - i])
  writeRows({ prepare: (sql) => connection.prepare(sql) }, rowUpdate('things', 'seq', ['name', 'size']), changes.toReversed())
  expect(connection.prepare('SELECT * FROM things ORDER BY seq').raw().all()).toEqual([
    [41, 'first', 0, 'old'],
    ...changes.map((values) => [...values, 'new']),
    [42 + count, `thing ${count}`, count === 3 ? null : count, 'new'],
  ])
})
