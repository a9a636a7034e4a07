import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIds } from '../../../kit/ids.ts'
import { migrate } from '../migrate.ts'
import { MIGRATIONS } from './migrations.ts'

const QUARTER = 900_000
const NOON = Date.parse('2026-11-20T12:00:00Z')

let connection: Sqlite.Database
const ids = createIds(() => NOON)
beforeEach(() => {
  connection = new Sqlite(':memory:')
  connection.pragma('foreign_keys = ON')
  connection.function('new_id', () => ids.next())
  connection.function('now_ms', () => NOON)
  migrate(connection, null, MIGRATIONS.slice(0, 6))
})
afterEach(() => connection.close())

const all = (sql: string, ...values: unknown[]) => connection.prepare<unknown[], Record<string, unknown>>(sql).all(...values)
const run = (sql: string, ...values: unknown[]) => connection.prepare(sql).run(...values)
const upgrade = () => migrate(connection, null, MIGRATIONS.slice(0, 7))

function addAgent(): string {
  const id = ids.next()
  run(
    `INSERT INTO agents (id, entity_id, slug, name, instructions, fallbacks, autonomy, folders, max_turns, max_cost_micros, max_working_ms,
       max_tool_calls, is_default, created_at, updated_at)
     SELECT ?, id, 'a', 'Ada', '', '[]', 'ask_first', '[]', 1, 1, 1, 1, 0, 0, 0 FROM entities`,
    id,
  )
  return id
}

function addJob(agentId: string, { at = NOON, context = null as string | null } = {}): string {
  const id = ids.next()
  const { lastInsertRowid } = run(
    `INSERT INTO agent_jobs (id, entity_id, agent_id, channel, status, title, created_at)
     SELECT ?, id, ?, 'webhook', 'pending', 'Job', ? FROM entities`,
    id,
    agentId,
    at,
  )
  run('INSERT INTO job_texts (job_seq, task, context) VALUES (?, ?, ?)', lastInsertRowid, 'Do it', context)
  return id
}

test('the inbox keeps everything, and what was taken has the id of its job wherever it is named', () => {
  const agentId = addAgent()
  run(
    `INSERT INTO webhook_triggers (id, entity_id, agent_id, name, slug, task_template, notify_on_success, notify_via, dedupe, status, created_at)
     SELECT ?, id, ?, 'Orders', 'orders', 'x', 0, 'auto', 1, 'active', 0 FROM entities`,
    ids.next(),
    agentId,
  )
  const [taken, again, refused, repeat] = [ids.next(), ids.next(), ids.next(), ids.next()]
  const job = addJob(agentId, { context: JSON.stringify({ deliveryId: taken, kind: 'webhook' }) })
  const retry = addJob(agentId, { context: JSON.stringify({ deliveryId: taken, kind: 'webhook' }) })
  const replay = addJob(agentId, { context: JSON.stringify({ deliveryId: again, kind: 'replay' }) })
  const gone = ids.next()
  const old = addJob(agentId, { context: JSON.stringify({ deliveryId: gone }) })
  const add = (row: Record<string, unknown>) => {
    const columns = Object.keys(row)
    run(
      `INSERT INTO webhook_deliveries (trigger_seq, bytes, received_at, ${columns.join(', ')}) VALUES (1, 2, ${NOON}, ${columns.map(() => '?').join(', ')})`,
      ...Object.values(row),
    )
  }
  add({ id: taken, kind: 'webhook', outcome: 'accepted', status: 202, job_id: job, payload: Buffer.from('{}'), headers: '{"a":"b"}' })
  add({ id: refused, kind: 'webhook', outcome: 'rate_limited', status: 429, times: 7 })
  add({ id: again, kind: 'replay', outcome: 'accepted', status: 202, job_id: replay, replay_of_id: taken, payload: Buffer.from('{}') })
  add({ id: repeat, kind: 'webhook', outcome: 'duplicate', status: 202, job_id: job, sender_id: 's' })
  upgrade()
  expect(
    all(`SELECT d.id, d.outcome, d.times, job.id AS job, d.replay_of_id AS of, CAST(d.payload AS TEXT) AS payload, d.headers
      FROM webhook_deliveries AS d LEFT JOIN agent_jobs AS job ON job.seq = d.job_seq ORDER BY d.seq`),
  ).toEqual([
    { id: null, outcome: 'accepted', times: 1, job, of: null, payload: '{}', headers: '{"a":"b"}' },
    { id: refused, outcome: 'rate_limited', times: 7, job: null, of: null, payload: null, headers: null },
    { id: null, outcome: 'accepted', times: 1, job: replay, of: job, payload: '{}', headers: null },
    { id: repeat, outcome: 'duplicate', times: 1, job, of: null, payload: null, headers: null },
  ])
  const contexts = all(
    "SELECT job.id, json_extract(context, '$.deliveryId') AS named FROM job_texts JOIN agent_jobs AS job ON seq = job_seq",
  )
  expect(contexts).toEqual([
    { id: job, named: job },
    { id: retry, named: job },
    { id: replay, named: replay },
    { id: old, named: gone },
  ])
})

test('jobs are found by their time as before, also where the clock was set back', () => {
  const agentId = addAgent()
  for (const quarters of [0, 0, 1, 1, 0, 5]) addJob(agentId, { at: NOON + quarters * QUARTER + 1 })
  upgrade()
  expect(all('SELECT first_seq AS seq, (quarter_at - ?) / ? AS quarter FROM job_quarters', NOON, QUARTER)).toEqual([
    { seq: 1, quarter: 0 },
    { seq: 3, quarter: 1 },
    { seq: 5, quarter: 0 },
    { seq: 6, quarter: 5 },
  ])
})

test('keys go on where they were, without the table that remembered them', () => {
  const agentId = addAgent()
  addJob(agentId)
  for (let i = 0; i < 3; i++) run("INSERT INTO events (at, type, payload) VALUES (0, 'settings.changed', '{}')")
  upgrade()
  addJob(agentId)
  expect(all('SELECT seq FROM agent_jobs')).toEqual([{ seq: 1 }, { seq: 2 }])
  expect(run("INSERT INTO events (at, type, payload) VALUES (0, 'settings.changed', '{}')").lastInsertRowid).toBe(4)
  expect(all("SELECT name FROM sqlite_sequence WHERE name IN ('agent_jobs', 'events')")).toEqual([])
  expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
  // And nobody may edit a definition from now on.
  expect(() => connection.exec("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ''")).toThrow('may not be modified')
})

test('a log of events of which nothing was left goes on counting', () => {
  for (let i = 0; i < 3; i++) run("INSERT INTO events (at, type, payload) VALUES (0, 'settings.changed', '{}')")
  run('DELETE FROM events')
  upgrade()
  expect(run("INSERT INTO events (at, type, payload) VALUES (0, 'settings.changed', '{}')").lastInsertRowid).toBe(4)
})
