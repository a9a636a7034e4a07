import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLog } from '../../lib/log.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { createCheckpoints } from './checkpoints.ts'
import { transact, type Database } from './database.ts'
import { placeOf } from './file-place.ts'
import { openDatabase } from './open-database.ts'
import { createThreadState, threadFile } from './threads.ts'
import { readFrames, type CheckpointThreadData } from './wal-frames.ts'

let folder: string
let file: string
let db: Database
let warnings: string[]
/** What the thread reported. */
let reports: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-wal-'))
  file = join(folder, 'deckhand.db')
  warnings = []
  reports = []
  const log = { ...silentLog, warn: collectIn(() => warnings), debug: collectIn(() => reports) }
  db = openDatabase({ file, clock: createHandClock(), log })
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

function collectIn(lines: () => string[]) {
  return (_fields: object, message: string) => void lines().push(message)
}

/** Makes this many commits of about this many pages each. */
function write(commits: number, pages = 100): void {
  const payload = { keys: ['x'.repeat(3500)] }
  for (let i = 0; i < commits; i++) {
    transact(db, (tx) => {
      for (let page = 0; page < pages; page++) tx.emit({ type: 'settings.changed', payload })
    })
  }
}

test('the thread copies the log, which then starts again from its beginning', async () => {
  write(64)
  // When the thread is done depends on the machine.
  const startsAgain = () => {
    write(1)
    expect(readFrames(db.connection).all).toBeLessThan(6400)
  }
  await vi.waitFor(startsAgain, 60_000)
  expect(await db.findDamage()).toEqual([])
  expect(warnings).toEqual([])
})

test('the thread keeps up with constant writes, and the log stays short', async () => {
  let longest = 0
  let written = 0
  const waiting = () => readFrames(db.connection).waiting
  for (let round = 0; round < 40; round++) {
    write(16, 50)
    written += 16 * 50
    longest = Math.max(longest, readFrames(db.connection).all)
    // SQLite itself would let the log grow to twice as many pages, and copy them within a commit.
    // A copy that could not begin is tried again 32 commits later.
    const isShort = () => {
      if (waiting() < 8000) return true
      write(32, 1)
      written += 32
      return false
    }
    await expect.poll(isShort).toBe(true)
  }
  expect(db.prepare<{ n: number }>('SELECT count(*) AS n FROM events').get()!.n).toBe(written)
  // More than 32,000 pages were written. SQLite copies from 16,384 on, unless the thread is copying.
  expect(longest).toBeLessThan(24_000)
  expect(await db.findDamage()).toEqual([])
})

test('the thread copies the rest once another program no longer reads the file', async () => {
  write(1)
  const reader = new Sqlite(file, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM events').get()
  write(64)
  await expect.poll(() => reports.at(-1)).toContain('was copied outside the event loop')
  expect(readFrames(db.connection).waiting).toBeGreaterThan(3000)
  reader.close()
  const continues = () => {
    write(32, 1)
    expect(readFrames(db.connection).waiting).toBeLessThan(3000)
  }
  await vi.waitFor(continues, 60_000)
  expect(await db.findDamage()).toEqual([])
  expect(warnings).toEqual([])
})

test('the log is not copied into a file that was put in the place of the database', async () => {
  write(20)
  const place = placeOf(file)
  const other = new Sqlite(join(folder, 'other.db'))
  other.exec('CREATE TABLE notes (text)')
  other.close()
  renameSync(join(folder, 'other.db'), file)
  const bytes = readFileSync(file)
  const state = createThreadState()
  const thread = new Worker(threadFile('checkpoint-thread'), { workerData: { file, place, state } satisfies CheckpointThreadData })
  thread.postMessage(null)
  expect(await once(thread, 'message')).toEqual([{ problem: 'another file is in its place' }])
  await thread.terminate()
  expect(readFileSync(file).equals(bytes)).toBe(true)
  expect(() => write(1)).toThrow(expect.objectContaining({ code: 'database_unavailable' }))
  expect(db.trouble()).toBe('unavailable')
})

test('closing during a copy leaves a sound file and no log', async () => {
  write(64)
  db.close()
  expect(existsSync(`${file}-wal`)).toBe(false)
  db = openDatabase({ file, clock: createHandClock() })
  expect(db.prepare<{ n: number }>('SELECT count(*) AS n FROM events').get()!.n).toBe(6400)
  expect(await db.findDamage()).toEqual([])
})

test('SQLite copies the log itself when the thread cannot start, which is logged once', async () => {
  const checkpoints = createCheckpoints({
    connection: db.connection,
    file,
    place: placeOf(file),
    log: db.log,
    thread: pathToFileURL(join(folder, 'missing.js')),
  })
  write(40)
  for (let i = 0; i < 32; i++) checkpoints.committed()
  await expect.poll(() => warnings).toEqual([expect.stringContaining('without a thread of its own')])
  expect(db.connection.pragma('wal_autocheckpoint', { simple: true })).toBe(3000)
  checkpoints.stop()
})
