import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIds } from '../../../kit/ids.ts'
import { migrate } from '../migrate.ts'
import { MIGRATIONS } from './migrations.ts'

let connection: Sqlite.Database
const ids = createIds(() => 0)
beforeEach(() => {
  connection = new Sqlite(':memory:')
  connection.function('new_id', () => ids.next())
  connection.function('now_ms', () => 0)
  migrate(connection, null, MIGRATIONS.slice(0, 9))
  connection
    .prepare(
      `INSERT INTO agents (id, entity_id, slug, name, instructions, fallbacks, autonomy, folders, max_turns, max_cost_micros, max_working_ms,
         max_tool_calls, is_default, created_at, updated_at)
       SELECT new_id(), id, 'a', 'Ada', '', '[]', 'ask_first', '[]', 1, 1, 1, 1, 0, 0, 0 FROM entities`,
    )
    .run()
})
afterEach(() => connection.close())

const CHANNELS = ['chat', 'api', 'webhook', 'schedule', 'telegram', 'discord', 'slack', 'messenger', 'delegation', 'pigeon', 'CHAT', '']
const STATUSES = ['pending', 'running', 'awaiting_approval', 'awaiting_child', 'completed', 'failed', 'cancelled', 'lost', '']

/** What each combination of channel, status, end and request to stop comes to. */
function verdicts(): string[] {
  const insert = connection.prepare(
    `INSERT INTO agent_jobs (id, entity_id, agent_id, channel, status, title, created_at, claim, started_at, boot_id, heartbeat_at, error,
       error_message, finished_at, cancel_requested_at)
     SELECT ?, entity_id, id, ?, ?, 't', 0, 1, 0, ?, ?, ?, ?, ?, ? FROM agents`,
  )
  const verdictOf = (channel: string, status: string, finishedAt: number | null, cancelAt: number | null) => {
    const [boot, heartbeat] = status === 'running' ? ['b', 0] : [null, null]
    const error = status === 'failed' ? 'internal' : null
    try {
      insert.run(ids.next(), channel, status, boot, heartbeat, error, error, finishedAt, cancelAt)
      return 'taken'
    } catch (thrown) {
      return (thrown as { code: string }).code
    }
  }
  return CHANNELS.flatMap((channel) =>
    STATUSES.flatMap((status) =>
      [null, 0].flatMap((finishedAt) =>
        [null, 0].map((cancelAt) => `${channel} ${status} ${finishedAt} ${cancelAt}: ${verdictOf(channel, status, finishedAt, cancelAt)}`),
      ),
    ),
  )
}

test('the table takes and refuses what it took and refused before', () => {
  const before = verdicts()
  expect(before.filter((line) => line.endsWith('taken')).length).toBeGreaterThan(50)
  expect(before.filter((line) => line.endsWith('SQLITE_CONSTRAINT_CHECK')).length).toBeGreaterThan(200)
  migrate(connection, null, MIGRATIONS.slice(0, 10))
  expect(verdicts()).toEqual(before)
  expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
  const { sql } = connection.prepare<[], { sql: string }>("SELECT sql FROM sqlite_schema WHERE name = 'agent_jobs'").get()!
  // Of two values no table is made.
  expect(sql.match(/IN \([^)]*\)/g)).toEqual(['IN (0, 1)', 'IN (0, 1)', "IN ('pending', 'cancelled')"])
})
