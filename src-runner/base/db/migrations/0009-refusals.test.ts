import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIds } from '../../../kit/ids.ts'
import { migrate } from '../migrate.ts'
import { MIGRATIONS } from './migrations.ts'

const NOON = Date.parse('2026-11-20T12:00:00Z')

let connection: Sqlite.Database
const ids = createIds(() => NOON)
beforeEach(() => {
  connection = new Sqlite(':memory:')
  connection.pragma('foreign_keys = ON')
  connection.function('new_id', () => ids.next())
  connection.function('now_ms', () => NOON)
  migrate(connection, null, MIGRATIONS.slice(0, 8))
})
afterEach(() => connection.close())

const all = (sql: string, ...values: unknown[]) => connection.prepare<unknown[], Record<string, unknown>>(sql).all(...values)
const run = (sql: string, ...values: unknown[]) => connection.prepare(sql).run(...values)

function addRow(table: string, row: Record<string, unknown>): number {
  const columns = Object.keys(row)
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
  return Number(run(sql, ...Object.values(row)).lastInsertRowid)
}

function addTrigger(slug: string): { id: string; seq: number } {
  const id = ids.next()
  const entityId = all('SELECT id FROM entities')[0]!['id']
  const fields = { task_template: 'x', notify_on_success: 0, notify_via: 'auto', dedupe: 1, status: 'active', created_at: 0 }
  return { id, seq: addRow('webhook_triggers', { id, entity_id: entityId, name: slug, slug, ...fields }) }
}

function addJob(triggerId: string, more: Record<string, unknown> = {}): { id: string; seq: number } {
  const id = ids.next()
  const entityId = all('SELECT id FROM entities')[0]!['id']
  const fields = { channel: 'webhook', status: 'pending', title: 'Job', created_at: NOON, trigger_id: triggerId }
  const seq = addRow('agent_jobs', { id, entity_id: entityId, agent_id: agentId(), ...fields, ...more })
  addRow('job_texts', { job_seq: seq, task: 'Do it', context: JSON.stringify({ deliveryId: id, kind: 'webhook' }) })
  return { id, seq }
}

function agentId(): unknown {
  const known = all('SELECT id FROM agents')[0]
  if (known !== undefined) return known['id']
  run(
    `INSERT INTO agents (id, entity_id, slug, name, instructions, fallbacks, autonomy, folders, max_turns, max_cost_micros, max_working_ms,
       max_tool_calls, is_default, created_at, updated_at)
     SELECT ?, id, 'a', 'Ada', '', '[]', 'ask_first', '[]', 1, 1, 1, 1, 0, 0, 0 FROM entities`,
    ids.next(),
  )
  return all('SELECT id FROM agents')[0]!['id']
}

test('what was taken is kept with its job, and every refusal has its place between the jobs', () => {
  const [orders, other] = [addTrigger('orders'), addTrigger('other')]
  const refused = (trigger: { seq: number }, outcome: string, more: Record<string, unknown> = {}) => {
    const id = ids.next()
    addRow('webhook_deliveries', {
      ...{ trigger_seq: trigger.seq, id, kind: 'webhook', outcome, status: 404, bytes: 0, received_at: NOON },
      ...more,
    })
    return id
  }
  const taken = (trigger: { seq: number }, job: { seq: number }, more: Record<string, unknown> = {}) =>
    addRow('webhook_deliveries', {
      ...{ trigger_seq: trigger.seq, kind: 'webhook', outcome: 'accepted', status: 202, bytes: 2, received_at: NOON },
      ...{ job_seq: job.seq, payload: Buffer.from('{}'), ...more },
    })
  const first = refused(orders, 'wrong_secret', { times: 3 })
  const forgotten = addJob(orders.id)
  const [one, foreign, two] = [addJob(orders.id), addJob(other.id), addJob(orders.id)]
  taken(orders, one, { sender_id: 's1', headers: '{"a":"b"}' })
  taken(other, foreign)
  const between = refused(orders, 'invalid_json', { payload: Buffer.from('{'), headers: '{"c":"d"}', bytes: 1, event_name: 'push' })
  taken(orders, two, { kind: 'replay', replay_of_id: one.id })
  const repeat = refused(orders, 'duplicate', { job_seq: one.seq, status: 202, sender_id: 's1' })
  migrate(connection, null, MIGRATIONS.slice(0, 9))

  expect(
    all(`SELECT seq, CAST(payload AS TEXT) AS payload, headers, before_job_seq AS before, json_extract(context, '$.senderId') AS sender,
      json_extract(context, '$.replayOfId') AS of, json_extract(context, '$.deliveryId') = id AS named
      FROM agent_jobs JOIN job_texts ON job_seq = seq ORDER BY seq`),
  ).toEqual([
    { seq: forgotten.seq, payload: null, headers: null, before: null, sender: null, of: null, named: 1 },
    { seq: one.seq, payload: '{}', headers: '{"a":"b"}', before: null, sender: 's1', of: null, named: 1 },
    { seq: foreign.seq, payload: '{}', headers: null, before: null, sender: null, of: null, named: 1 },
    { seq: two.seq, payload: '{}', headers: null, before: one.seq, sender: null, of: one.id, named: 1 },
  ])
  expect(all('SELECT id, newest_job_seq AS newest FROM webhook_triggers')).toEqual([
    { id: orders.id, newest: two.seq },
    { id: other.id, newest: foreign.seq },
  ])
  expect(
    all(`SELECT id, after_job_seq AS after, outcome, times, sender_id AS sender, event_name AS event, job_seq AS job, bytes,
      CAST(payload AS TEXT) AS payload, headers FROM webhook_refusals ORDER BY after_job_seq, seq`),
  ).toEqual([
    {
      id: first,
      after: 0,
      outcome: 'wrong_secret',
      times: 3,
      sender: null,
      event: null,
      job: null,
      bytes: 0,
      payload: null,
      headers: null,
    },
    {
      ...{ id: between, after: one.seq, outcome: 'invalid_json', times: 1, sender: null, event: 'push', job: null, bytes: 1 },
      ...{ payload: '{', headers: '{"c":"d"}' },
    },
    {
      ...{ id: repeat, after: two.seq, outcome: 'duplicate', times: 1, sender: 's1', event: null, job: one.seq, bytes: 0 },
      ...{ payload: null, headers: null },
    },
  ])
  expect(all("SELECT name FROM sqlite_schema WHERE name LIKE 'webhook_deliveries%'")).toEqual([])
  expect(all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(all('PRAGMA foreign_key_check')).toEqual([])
})
