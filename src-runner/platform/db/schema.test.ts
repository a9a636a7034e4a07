import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Sqlite from 'better-sqlite3'
import { is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from 'drizzle-kit/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finishMigration } from '../../../build/finish-migration.ts'
import { runMigrations } from './migrate.ts'
import { MIGRATIONS } from './migrations/migrations.ts'

const ROOT = join(import.meta.dirname, '../../..')
const EMPTY = { version: '6', dialect: 'sqlite', id: '', prevId: '', tables: {}, views: {}, enums: {}, _meta: { tables: {}, columns: {} } }

type Snapshot = Awaited<ReturnType<typeof generateSQLiteDrizzleJson>>

let migrated: Sqlite.Database
let declared: Sqlite.Database
let snapshot: Snapshot
let tables: string[]

beforeAll(async () => {
  migrated = openEmpty()
  runMigrations(migrated, MIGRATIONS)
  const files = globSync('src-runner/{domain/*,platform/db}/*-table.ts', { cwd: ROOT })
  const modules = await Promise.all(files.map(async (file) => (await import(pathToFileURL(join(ROOT, file)).href)) as object))
  const exported = modules.flatMap((module) => Object.entries(module)).filter(([, value]) => is(value, SQLiteTable))
  snapshot = await generateSQLiteDrizzleJson(Object.fromEntries(exported))
  declared = openEmpty()
  declared.exec(finishMigration((await generateSQLiteMigration(EMPTY, snapshot)).join('\n'), declared))
  tables = Object.keys(snapshot.tables)
})
afterAll(() => {
  migrated.close()
  declared.close()
})

function openEmpty(): Sqlite.Database {
  const connection = new Sqlite(':memory:')
  connection.function('new_id', () => 'id')
  connection.function('now_ms', () => 0)
  return connection
}

const rowsOf = (connection: Sqlite.Database, sql: string, ...values: unknown[]) =>
  connection.prepare<unknown[], Record<string, unknown>>(sql).all(...values)

/** What SQLite knows of a table, independent of the order of its columns. */
function describeTable(connection: Sqlite.Database, table: string): unknown {
  const { sql } = rowsOf(connection, 'SELECT sql FROM sqlite_schema WHERE name = ?', table)[0] as { sql: string }
  const indexes = rowsOf(connection, 'SELECT name, "unique", origin, partial FROM pragma_index_list(?) ORDER BY name', table)
  return {
    columns: rowsOf(
      connection,
      'SELECT name, lower(type) AS type, "notnull", dflt_value, pk FROM pragma_table_info(?) ORDER BY name',
      table,
    ),
    caseless: [...sql.matchAll(/(\w+) text COLLATE NOCASE/gi)].map(([, column]) => column),
    counts: /AUTOINCREMENT/i.test(sql),
    foreignKeys: rowsOf(
      connection,
      'SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(?) ORDER BY "from", "table"',
      table,
    ),
    checks: conditionsOf(sql).toSorted(),
    indexes: indexes.map((index) => ({
      ...index,
      columns: rowsOf(connection, 'SELECT name, "desc", coll FROM pragma_index_xinfo(?) WHERE key = 1', index['name']),
      sql: rowsOf(connection, 'SELECT sql FROM sqlite_schema WHERE name = ? AND sql IS NOT NULL', index['name']).map(({ sql: text }) =>
        plain(String(text)),
      ),
    })),
  }
}

function conditionsOf(sql: string): string[] {
  return [...sql.matchAll(/CHECK\s*\(/gi)].map(({ index, 0: opening }) => {
    const start = index + opening.length
    let depth = 1
    let end = start
    for (; depth > 0; end++) depth += sql[end] === '(' ? 1 : sql[end] === ')' ? -1 : 0
    return plain(sql.slice(start, end - 1))
  })
}

const plain = (sql: string) => sql.replace(/[`"]/g, '').replace(/\s+/g, ' ').replace(/ ?, ?/g, ', ').trim()

describe('a migrated database', () => {
  test('has exactly the declared tables', () => {
    const found = rowsOf(
      migrated,
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    expect(found.map(({ name }) => String(name)).toSorted()).toEqual(tables.toSorted())
  })

  test('has their columns, defaults, keys, checks and indexes', () => {
    for (const table of tables) expect(describeTable(migrated, table), table).toEqual(describeTable(declared, table))
  })

  test('has only STRICT tables', () => {
    const loose = rowsOf(migrated, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0")
    expect(loose.filter(({ name }) => tables.includes(String(name)))).toEqual([])
  })

  test('has the parts that drizzle cannot declare', () => {
    expect(
      rowsOf(migrated, 'SELECT name FROM pragma_table_list WHERE wr = 1 AND strict = 1 ORDER BY name').map(({ name }) => name),
    ).toEqual([
      'channel_conversations',
      'channel_messages',
      'channel_people',
      'client_turns',
      'model_prices',
      'reply_parts',
      'settings',
      'spend_agent_buckets',
      'spend_days',
      'spend_of_deleted',
      'trusted_clock',
      'webhook_sender_ids',
    ])
    const others = rowsOf(migrated, "SELECT sql FROM sqlite_schema WHERE type = 'trigger' OR sql LIKE 'CREATE VIRTUAL%' ORDER BY name")
    expect(others.map(({ sql }) => plain(String(sql)))).toMatchInlineSnapshot(`
      [
        "CREATE TRIGGER agent_jobs_keep_claims BEFORE UPDATE OF claim ON agent_jobs WHEN NEW.claim < OLD.claim BEGIN SELECT RAISE(ABORT, 'a claim is never given back'); END",
        "CREATE TRIGGER agent_jobs_keep_endings BEFORE UPDATE OF status, claim, attempt, steps, turns, cost_micros, error, error_message, result_preview, finished_at, started_at ON agent_jobs WHEN OLD.finished_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'a finished job never changes'); END",
        "CREATE TRIGGER approvals_keep_answers BEFORE UPDATE ON approvals WHEN OLD.status <> 'pending' BEGIN SELECT RAISE(ABORT, 'an answered approval never changes'); END",
        "CREATE TRIGGER approvals_keep_questions BEFORE UPDATE OF job_seq, entity_id, kind, call_id, tool, args, hash, facts, question, budget, always_rule, may_remember ON approvals BEGIN SELECT RAISE(ABORT, 'what is asked never changes'); END",
        "CREATE VIRTUAL TABLE job_search USING fts5 ( title, task, result, content = '', contentless_delete = 1, tokenize = unicode61 remove_diacritics 2 )",
        "CREATE VIRTUAL TABLE memory_search USING fts5 ( text, content = '', contentless_delete = 1, tokenize = unicode61 remove_diacritics 2 )",
        "CREATE TRIGGER occurrences_keep_decisions BEFORE UPDATE OF schedule_seq, due_at, origin, state, decided_at, job_seq ON occurrences WHEN OLD.state <> 'due' BEGIN SELECT RAISE(ABORT, 'a decided occurrence never changes'); END",
      ]
    `)
  })
})

test('the newest drizzle-kit snapshot matches the declared tables', () => {
  const folder = join(ROOT, 'build/drizzle/meta')
  const newest = globSync('*_snapshot.json', { cwd: folder }).toSorted().at(-1)!
  const { tables: kept } = JSON.parse(readFileSync(join(folder, newest), 'utf8')) as Snapshot
  expect(kept).toEqual(snapshot.tables)
})

test('a table that is created again for a new column keeps its rows, references, triggers and strictness', async () => {
  const connection = openEmpty()
  runMigrations(connection, MIGRATIONS)
  connection.exec(`
    INSERT INTO agents (id, entity_id, slug, name, instructions, fallbacks, autonomy, folders, max_turns, max_cost_micros,
      max_working_ms, max_tool_calls, is_default, created_at, updated_at) VALUES ('a', 'id', 'a', 'Ada', '', '[]', 'ask_first', '[]', 1, 1, 1, 1, 0, 0, 0);
    INSERT INTO agent_jobs (seq, id, entity_id, agent_id, channel, status, title, created_at) VALUES (7, 'j', 'id', 'a', 'chat', 'pending', 'T', 1);
    INSERT INTO job_texts (job_seq, task) VALUES (7, 'Do it');
  `)
  const next = structuredClone(snapshot)
  const jobs = next.tables['agent_jobs']!
  jobs.columns['starred'] = { name: 'starred', type: 'integer', primaryKey: false, notNull: true, autoincrement: false, default: false }
  jobs.checkConstraints['starred IN (0, 1)'] = { name: 'starred IN (0, 1)', value: 'starred IN (0, 1)' }
  const generated = (await generateSQLiteMigration(snapshot, next)).join('\n')
  runMigrations(connection, [{ version: 2, sql: finishMigration(generated, connection) }])
  expect(rowsOf(connection, 'SELECT j.id, j.starred, t.task FROM agent_jobs AS j JOIN job_texts AS t ON t.job_seq = j.seq')).toEqual([
    { id: 'j', starred: 0, task: 'Do it' },
  ])
  const triggersOf = (db: Sqlite.Database) => rowsOf(db, "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name")
  expect(triggersOf(connection)).toEqual(triggersOf(migrated))
  expect(rowsOf(connection, "SELECT strict FROM pragma_table_list WHERE name = 'agent_jobs'")).toEqual([{ strict: 1 }])
  expect(() => connection.exec('UPDATE agent_jobs SET starred = 2')).toThrow('starred IN (0, 1)')
  expect(() => connection.exec('DELETE FROM agents')).toThrow('FOREIGN KEY')
  connection.close()
})

test('approvals and messages learn their workspace, and keep everything else', () => {
  const connection = openEmpty()
  runMigrations(connection, MIGRATIONS.slice(0, 5))
  connection.exec(`
    INSERT INTO entities (id, name, is_default, created_at) VALUES ('other', 'Other', 0, 0);
    INSERT INTO agents (id, entity_id, slug, name, instructions, fallbacks, autonomy, folders, max_turns, max_cost_micros,
      max_working_ms, max_tool_calls, is_default, created_at, updated_at) VALUES ('a', 'other', 'a', 'Ada', '', '[]', 'ask_first', '[]', 1, 1, 1, 1, 0, 0, 0);
    INSERT INTO agent_jobs (seq, id, entity_id, agent_id, channel, status, title, created_at) VALUES (7, 'j', 'other', 'a', 'chat', 'pending', 'T', 1);
    INSERT INTO approvals (seq, id, job_seq, kind, status, call_id, tool, args, hash, reason, taints, may_remember, created_at, expires_at, answered_at)
      VALUES (3, 'p', 7, 'tool', 'rejected', 'c', 't', '{}', '${'0'.repeat(64)}', 'why', '{}', '[]', 1, 2, 2);
    INSERT INTO outbox (seq, id, key, kind, state, agent_id, job_id, approval_id, text, buttons, files, problem, created_at, give_up_at)
      VALUES (5, 'm', 'k', 'reply', 'not_sent', 'a', 'j', 'p', 'Hello', '[]', '[]', '', 1, 2);
  `)
  const rows = (table: string) => rowsOf(connection, `SELECT * FROM ${table}`)
  const before = [rows('approvals'), rows('outbox')]
  runMigrations(connection, MIGRATIONS.slice(5))
  expect([rows('approvals'), rows('outbox')]).toEqual(before.map(([row]) => [{ ...row, entity_id: 'other' }]))
  expect(connection.pragma('foreign_key_check')).toEqual([])
  expect(() => connection.exec("UPDATE approvals SET entity_id = 'id'")).toThrow('never changes')
  connection.close()
})
