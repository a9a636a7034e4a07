import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIds } from '../../../kit/ids.ts'
import { migrate } from '../migrate.ts'
import { MIGRATIONS } from './migrations.ts'

const NOON = Date.parse('2026-11-20T12:00:00Z')

let connection: Sqlite.Database
beforeEach(() => {
  const ids = createIds(() => NOON)
  connection = new Sqlite(':memory:')
  connection.function('new_id', () => ids.next())
  connection.function('now_ms', () => NOON)
  migrate(connection, null, MIGRATIONS.slice(0, 10))
})
afterEach(() => connection.close())

const lines = () => connection.prepare('SELECT line, at, ahead_ms FROM believed_times ORDER BY line').all()

test('a folder in which nothing has happened begins with what the clock shows', () => {
  migrate(connection, null, MIGRATIONS.slice(0, 11))
  expect(lines()).toEqual(['age', 'money'].map((line) => ({ line, at: NOON, ahead_ms: 0 })))
})

test('a folder of before begins with the last thing that happened in it', () => {
  const insert = connection.prepare("INSERT INTO events (at, type, payload) VALUES (?, 'settings.changed', '{}')")
  for (const hoursAgo of [900, 500, 700]) insert.run(NOON - hoursAgo * 3_600_000)
  migrate(connection, null, MIGRATIONS.slice(0, 11))
  expect(lines()).toEqual(['age', 'money'].map((line) => ({ line, at: NOON - 700 * 3_600_000, ahead_ms: 0 })))
})
