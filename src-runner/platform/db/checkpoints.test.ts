import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLog } from '../../lib/log.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { createCheckpoints } from './checkpoints.ts'
import { openDatabase, type Database } from './database.ts'
import { transact } from './transact.ts'
import { readFrames } from './wal-frames.ts'

let folder: string
let file: string
let db: Database
let warnings: string[]
/** What the thread did, a line for each time. */
let works: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-wal-'))
  file = join(folder, 'deckhand.db')
  warnings = []
  works = []
  const log = { ...silentLog, warn: noteIn(() => warnings), debug: noteIn(() => works) }
  db = openDatabase({ file, clock: createHandClock(), log })
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

function noteIn(lines: () => string[]) {
  return (_fields: object, message: string) => void lines().push(message)
}

/** As many commits, of about so many pages each. */
function write(commits: number, pages = 100): void {
  const payload = { keys: ['x'.repeat(3500)] }
  for (let i = 0; i < commits; i++) {
    transact(db, (tx) => {
      for (let page = 0; page < pages; page++) tx.emit({ type: 'settings.changed', payload })
    })
  }
}

test('the log is copied by the thread and begins again, and no commit waits for it', { timeout: 30_000 }, async () => {
  write(64)
  // How far the thread is by now, and whether the log has begun again in the meantime, is a matter of the machine.
  const beginsAgain = () => {
    write(1)
    expect(readFrames(db.connection).all).toBeLessThan(6400)
  }
  await vi.waitFor(beginsAgain, 25_000)
  expect(await db.findDamage()).toEqual([])
  expect(warnings).toEqual([])
})

test('while it is written to again and again the thread keeps up, and the log stays short', { timeout: 60_000 }, async () => {
  let longest = 0
  for (let round = 0; round < 40; round++) {
    write(16, 50)
    longest = Math.max(longest, readFrames(db.connection).all)
    // However busy the machine is; SQLite itself would let it come to twice as many, and then within a commit.
    await vi.waitFor(() => expect(readFrames(db.connection).waiting).toBeLessThan(8000), 20_000)
  }
  expect(db.prepare<{ n: number }>('SELECT count(*) AS n FROM events').get()!.n).toBe(40 * 16 * 50)
  // Of more than 32,000 pages. SQLite helps from 16,384 on, unless the thread is at it just then.
  expect(longest).toBeLessThan(24_000)
  expect(await db.findDamage()).toEqual([])
})

test('while somebody else reads the file the thread rests, and goes on when they are through', async () => {
  write(1)
  const reader = new Sqlite(file, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM events').get()
  write(64)
  await vi.waitFor(() => expect(works.at(-1)).toContain('while somebody else reads it'))
  const before = works.length
  // As many turns as it takes, if it is asked again and again.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(works.length).toBe(before)
  reader.close()
  write(2000, 1)
  const goesOn = () => {
    write(1, 1)
    expect(readFrames(db.connection).waiting).toBeLessThan(3000)
  }
  await vi.waitFor(goesOn, 10_000)
  expect(await db.findDamage()).toEqual([])
  expect(warnings).toEqual([])
})

test('closing in the middle of a copy leaves a whole file and no log', async () => {
  write(64)
  db.close()
  expect(existsSync(`${file}-wal`)).toBe(false)
  db = openDatabase({ file, clock: createHandClock() })
  expect(db.prepare<{ n: number }>('SELECT count(*) AS n FROM events').get()!.n).toBe(6400)
  expect(await db.findDamage()).toEqual([])
})

test('when there can be no thread, SQLite copies the log itself, and it is said once', async () => {
  const checkpoints = createCheckpoints({
    connection: db.connection,
    file,
    log: db.log,
    thread: pathToFileURL(join(folder, 'nowhere.js')),
  })
  write(40)
  for (let i = 0; i < 32; i++) checkpoints.committed()
  await vi.waitFor(() => expect(warnings).toEqual([expect.stringContaining('without a thread of its own')]))
  expect(db.connection.pragma('wal_autocheckpoint', { simple: true })).toBe(3000)
  checkpoints.stop()
})
