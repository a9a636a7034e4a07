import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DeliveryOutcome } from '../../../contract/triggers.ts'
import { createIds } from '../../../kit/ids.ts'
import { migrate } from '../migrate.ts'
import { MIGRATIONS } from './migrations.ts'

let connection: Sqlite.Database
const ids = createIds(() => 0)
beforeEach(() => {
  connection = new Sqlite(':memory:')
  connection.function('new_id', () => ids.next())
  connection.function('now_ms', () => 0)
  migrate(connection, null, MIGRATIONS.slice(0, 12))
  connection
    .prepare(
      `INSERT INTO webhook_triggers (id, entity_id, name, slug, task_template, notify_on_success, notify_via, dedupe, status, created_at)
       SELECT new_id(), id, 'Builds', 'builds', 'Look.', 0, 'auto', 0, 'active', 0 FROM entities`,
    )
    .run()
})
afterEach(() => connection.close())

function insertRefusal(outcome: string): void {
  connection
    .prepare(
      `INSERT INTO webhook_refusals (id, trigger_seq, after_job_seq, outcome, status, times, bytes, received_at)
       SELECT new_id(), seq, 0, ?, 404, 1, 0, 0 FROM webhook_triggers`,
    )
    .run(outcome)
}

test('keeps every refusal and webhook, and takes each outcome there is from now on', () => {
  insertRefusal('paused')
  expect(() => insertRefusal('ping')).toThrow('CHECK')
  migrate(connection, null, MIGRATIONS.slice(0, 13))
  expect(connection.prepare('SELECT outcome FROM webhook_refusals').all()).toEqual([{ outcome: 'paused' }])
  expect(connection.prepare('SELECT require_placeholders FROM webhook_triggers').all()).toEqual([{ require_placeholders: 0 }])
  for (const outcome of DeliveryOutcome.options.filter((outcome) => outcome !== 'accepted' && outcome !== 'duplicate'))
    insertRefusal(outcome)
  expect(() => insertRefusal('lost')).toThrow('CHECK')
  expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
})
