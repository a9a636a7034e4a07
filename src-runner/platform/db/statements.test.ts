import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { pinQueryPlan } from './statements.ts'

describe('pinQueryPlan', () => {
  it.each([
    ['SELECT a FROM t WHERE b = ? AND c >= ? LIMIT ? OFFSET ?', 'SELECT a FROM t WHERE b = +? AND c >= +? LIMIT +? OFFSET +?'],
    ['SELECT a FROM t WHERE b BETWEEN ? AND ?', 'SELECT a FROM t WHERE b BETWEEN +? AND +?'],
    ['SELECT a FROM t WHERE b IS ? AND c IS NOT NULL', 'SELECT a FROM t WHERE b IS +? AND c IS NOT NULL'],
    ['INSERT INTO t (a, b) VALUES (?, ?)', 'INSERT INTO t (a, b) VALUES (?, ?)'],
    ['SELECT rowid FROM search WHERE search MATCH ?', 'SELECT rowid FROM search WHERE search MATCH ?'],
  ])('%s', (sql, expected) => expect(pinQueryPlan(sql)).toBe(expected))

  it('keeps rows and indexes the same for every type of value', () => {
    const connection = new Sqlite(':memory:')
    connection.exec(
      'CREATE TABLE t (seq INTEGER PRIMARY KEY, a TEXT, b ANY) STRICT; CREATE INDEX t_by_a ON t (a); CREATE INDEX t_by_b ON t (b)',
    )
    const values = [1, 1.5, 'x', '', '7', Buffer.from('x'), null, 2n ** 62n]
    for (const value of values) connection.prepare('INSERT INTO t (a, b) VALUES (?, ?)').run(value === null ? null : String(value), value)
    for (const sql of [
      'SELECT seq FROM t WHERE b = ?',
      'SELECT seq FROM t WHERE b IS ?',
      'SELECT seq FROM t WHERE b >= ? ORDER BY b, seq',
    ]) {
      for (const value of values) {
        expect(connection.prepare(pinQueryPlan(sql)).all(value)).toEqual(connection.prepare(sql).all(value))
        expect(planOf(connection, pinQueryPlan(sql), value)).toEqual(planOf(connection, sql, value))
      }
    }
    expect(connection.prepare(pinQueryPlan('SELECT seq FROM t WHERE a = ?')).all('1.5')).toEqual([{ seq: 2 }])
    expect(connection.prepare(pinQueryPlan('SELECT seq FROM t WHERE seq = ?')).all('3')).toEqual([{ seq: 3 }])
    connection.close()
  })
})

function planOf(connection: Sqlite.Database, sql: string, value: unknown): unknown[] {
  return connection
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(value)
    .map(({ detail }) => detail)
}
