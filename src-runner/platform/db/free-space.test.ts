import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { transact, type Database } from './database.ts'
import { openDatabase } from './open-database.ts'
import { giveBackSpace } from './free-space.ts'
import { APPLICATION_ID } from './integrity.ts'
import { runMigrations } from './migrate.ts'
import { MIGRATIONS } from './migrations/migrations.ts'

let folder: string
let db: Database
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-space-'))
  db = openDatabase({ file: join(folder, 'deckhand.db'), clock: systemClock, keepsBallast: false })
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

const MB = 1_000_000
const ROWS = `WITH RECURSIVE row (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < 30)
  INSERT INTO events (at, type, payload) SELECT 0, 'x', hex(randomblob(500000)) FROM row`
const fill = () => transact(db, (tx) => void tx.prepare(ROWS).run())
const empty = () => transact(db, (tx) => void tx.prepare('DELETE FROM events').run())
function sizeOf(): number {
  db.connection.pragma('wal_checkpoint(TRUNCATE)')
  return statSync(db.file).size
}

test('gives free space back to the disk in small steps, and leaves a whole database', () => {
  fill()
  expect(sizeOf()).toBeGreaterThan(29 * MB)
  empty()
  expect(sizeOf()).toBeGreaterThan(29 * MB)
  let steps = 0
  while (giveBackSpace(db)) steps++
  // 16 MB stay for new rows.
  expect(steps).toBeGreaterThan(5)
  expect(sizeOf()).toBeLessThan(18 * MB)
  expect(db.connection.pragma('integrity_check', { simple: true })).toBe('ok')
})

test('leaves a file alone that only reuses its free pages', () => {
  db.connection.pragma('auto_vacuum = NONE')
  db.connection.exec('VACUUM')
  fill()
  empty()
  expect(giveBackSpace(db)).toBe(false)
})

test('shrinks a file of an early version from its next migration on, with its rows and a copy', () => {
  const file = join(folder, 'old', 'deckhand.db')
  mkdirSync(dirname(file))
  const old = new Sqlite(file)
  old.pragma('journal_mode = WAL')
  old.function('new_id', () => randomUUID())
  old.function('now_ms', () => 0)
  old.pragma(`application_id = ${APPLICATION_ID}`)
  runMigrations(old, MIGRATIONS.slice(0, -1))
  old.prepare(ROWS).run()
  old.close()
  db.close()
  db = openDatabase({ file, clock: systemClock, keepsBallast: false })
  expect(db.prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: 30 })
  expect(db.connection.pragma('temp_store', { simple: true })).toBe(2)
  expect(readdirSync(join(folder, 'old', 'backups'))).toHaveLength(1)
  empty()
  while (giveBackSpace(db));
  expect(sizeOf()).toBeLessThan(18 * MB)
  expect(db.connection.pragma('integrity_check', { simple: true })).toBe('ok')
})
