import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Replacement } from '../../contract/port.ts'
import { builtChild } from '../../testing/built-children.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { backupNameOf, listBackups, stampOf } from './backup-files.ts'
import { createBackups, type Backups } from './backups.ts'
import { transact, type Database } from './database.ts'
import { openDatabase } from './open-database.ts'
import { DatabaseRefused } from './database-errors.ts'

const KILLED_AT_STEP = builtChild('restore-child')
const HOUR_MS = 3_600_000
const clock = createHandClock()
let folder: string
let file: string
let backups: Backups
let open: Database[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-backup-'))
  file = join(folder, 'deckhand.db')
  backups = createBackups(file, clock.now)
  open = []
})
afterEach(() => {
  backups.stop()
  for (const db of open) db.close()
  rmSync(folder, { recursive: true, force: true })
})

function start(replaceWith?: Replacement): Database {
  const db = openDatabase({ file, clock, keepsBallast: false, replaceWith })
  open.push(db)
  return db
}

const write = (db: Database, text: string) =>
  transact(db, (tx) => tx.emit({ type: 'settings.changed', payload: { keys: [text as 'concurrency'] } }))
const eventsIn = (db: Database) => db.prepare<{ n: number }>('SELECT count(*) AS n FROM events').get()!.n
const isPaused = (db: Database) =>
  db.prepare<{ value: string }>("SELECT value FROM settings WHERE key = 'pauseAll'").get()?.value === 'true'
const kept = () => readdirSync(folder).filter((name) => name.includes('.replaced-'))

/** A database with one event in its only backup, and a second one since. */
async function startWithBackup(): Promise<string> {
  const db = start()
  write(db, 'before')
  const { name } = await backups.make(clock.now())
  write(db, 'after')
  db.close()
  return name
}

function refusalOf(replaceWith?: Replacement): DatabaseRefused {
  try {
    start(replaceWith)
  } catch (error) {
    if (error instanceof DatabaseRefused) return error
    throw error
  }
  throw new Error('the database was opened')
}

describe('making a backup', () => {
  it('holds everything that was committed, while the database is in use', async () => {
    const db = start()
    for (let i = 0; i < 50; i++) write(db, `${i}`)
    const making = backups.make(clock.now())
    write(db, 'meanwhile')
    const { name, bytes } = await making
    const copy = new Sqlite(join(backups.folder, name), { readonly: true })
    const { n } = copy.prepare('SELECT count(*) AS n FROM events').get() as { n: number }
    copy.close()
    expect(n).toBeGreaterThanOrEqual(50)
    expect(bytes).toBeGreaterThan(10_000)
    expect(statSync(join(backups.folder, name)).mode & 0o077).toBe(0)
    expect(readdirSync(backups.folder)).toEqual([name])
  })

  it('gives two callers at once the same backup', async () => {
    start()
    const [one, other] = await Promise.all([backups.make(clock.now()), backups.make(clock.now() + 5000)])
    expect(one).toEqual(other)
  })

  it('keeps the newest seven, and other files in the folder', async () => {
    start()
    mkdirSync(backups.folder)
    writeFileSync(join(backups.folder, 'notes.txt'), 'mine')
    for (let day = 0; day < 9; day++) await backups.make(clock.now() + day * 24 * HOUR_MS)
    expect(backups.list().map(({ at }) => at)).toEqual([8, 7, 6, 5, 4, 3, 2].map((day) => clock.now() + day * 24 * HOUR_MS))
    expect(readFileSync(join(backups.folder, 'notes.txt'), 'utf8')).toBe('mine')
  })

  it('keeps the last one of the data that was there before the database, also where it is copied to', async () => {
    start()
    const elsewhere = join(folder, 'disk')
    mkdirSync(elsewhere)
    await backups.copyTo(elsewhere, await backups.make(clock.now()))
    const copies = join(elsewhere, readdirSync(elsewhere)[0]!)
    const names = [-3, -2, -1, 1, 2, 3, 4, 5, 6, 7].map((day) => backupNameOf(clock.now() + day * 24 * HOUR_MS))
    for (const at of [backups.folder, copies]) for (const name of names) writeFileSync(join(at, name), '')
    await backups.copyTo(elsewhere, await backups.make(clock.now() + 8 * 24 * HOUR_MS))
    for (const at of [backups.folder, copies])
      expect(listBackups(at).map((backup) => backup.at)).toEqual([8, 7, 6, 5, 4, 3, 2, -1].map((day) => clock.now() + day * 24 * HOUR_MS))
  })

  it('keeps the one that was just made while the clock is behind', async () => {
    start()
    for (let day = 0; day < 7; day++) await backups.make(clock.now() + day * 24 * HOUR_MS)
    const longAgo = await backups.make(0)
    expect(backups.list()).toHaveLength(7)
    expect(backups.list().at(-1)).toEqual(longAgo)
  })

  it('removes what a crash left of earlier ones, and nothing that is being made', async () => {
    start()
    mkdirSync(backups.folder)
    const [left, present] = [backupNameOf(clock.now() - 48 * HOUR_MS), backupNameOf(clock.now() - HOUR_MS)]
    const drafts = [`${left}.part`, `${left}.part-journal`, `${left}.accounts.part`, `${present}.part`]
    for (const draft of drafts) writeFileSync(join(backups.folder, draft), 'half')
    const { name } = await backups.make(clock.now())
    expect(readdirSync(backups.folder).toSorted()).toEqual([`${present}.part`, name].toSorted())
  })

  it('is refused of a damaged database, and leaves nothing', async () => {
    const db = start()
    for (let i = 0; i < 200; i++) write(db, 'x'.repeat(200))
    db.close()
    const bytes = readFileSync(file)
    bytes.fill(0xff, 3 * 4096, 12 * 4096)
    writeFileSync(file, bytes)
    await expect(backups.make(clock.now())).rejects.toThrow()
    expect(readdirSync(backups.folder)).toEqual([])
  })

  it('is copied to a folder of the person, and checked there', async () => {
    start()
    const backup = await backups.make(clock.now())
    const elsewhere = join(folder, 'disk')
    mkdirSync(elsewhere)
    await backups.copyTo(elsewhere, backup)
    const [own] = readdirSync(elsewhere)
    expect(own).toMatch(/^deckhand-.+-[0-9a-f]{8}$/)
    expect(listBackups(join(elsewhere, own!))).toEqual([backup])
    await expect(backups.copyTo(join(folder, 'gone'), backup)).rejects.toThrow('ENOENT')
  })

  it('shares a folder with another installation without removing its backups', async () => {
    const shared = join(folder, 'shared')
    mkdirSync(shared)
    const foreign = join(folder, 'other', 'deckhand.db')
    mkdirSync(join(folder, 'other'))
    const other = createBackups(foreign, clock.now)
    const otherDb = openDatabase({ file: foreign, clock, keepsBallast: false })
    open.push(otherDb)
    start()
    await other.copyTo(shared, await other.make(clock.now()))
    other.stop()
    const newest = await backups.make(clock.now() + 24 * HOUR_MS)
    await backups.copyTo(shared, newest)
    const own = readdirSync(shared).find((name) => listBackups(join(shared, name))[0]!.name === newest.name)!
    for (let hour = 1; hour <= 8; hour++) writeFileSync(join(shared, own, backupNameOf(clock.now() + hour * HOUR_MS)), '')
    await backups.copyTo(shared, newest)
    const counts = readdirSync(shared).map((name) => listBackups(join(shared, name)).length)
    expect(counts.toSorted((a, b) => a - b)).toEqual([1, 7])
  })
})

describe('replacing the database', () => {
  it('restores a backup, pauses all agents, and keeps the present data', async () => {
    const name = await startWithBackup()
    const db = start({ backup: name })
    expect(eventsIn(db)).toBe(1)
    expect(isPaused(db)).toBe(true)
    const aside = kept().find((one) => !/-(wal|shm)$/.test(one))!
    const old = new Sqlite(join(folder, aside), { readonly: true })
    expect(old.prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: 2 })
    old.close()
  })

  it('sends no message again that waited when the backup was made', async () => {
    const db = start()
    db.connection.pragma('foreign_keys = OFF')
    transact(db, (tx) => {
      const columns = 'id, key, kind, state, agent_id, entity_id, chat_id, text, buttons, files, created_at, next_try_at, give_up_at'
      const values = "'m', 'k', 'reply', 'pending', 'a', 'e', 'c', 'Hello', '[]', '[]', 0, 0, 1"
      tx.prepare(`INSERT INTO outbox (${columns}) VALUES (${values})`).run()
    })
    const { name } = await backups.make(clock.now())
    db.close()
    const message = start({ backup: name }).prepare<object>('SELECT state, next_try_at, failed_at, problem FROM outbox').get()
    const problem = JSON.stringify({ code: 'sent_before_restore', params: {} })
    expect(message).toEqual({ state: 'undeliverable', next_try_at: null, failed_at: clock.now(), problem })
  })

  it('takes the newest sound backup if none is named', async () => {
    await startWithBackup()
    truncateSync(join(backups.folder, (await backups.make(clock.now() + HOUR_MS)).name), 8192)
    expect(eventsIn(start({ backup: null }))).toBe(1)
  })

  it('restores over a database that is damaged, gone or cut short', async () => {
    const name = await startWithBackup()
    for (const damage of [() => truncateSync(file, 100), () => rmSync(file), () => writeFileSync(file, '')]) {
      damage()
      expect(refusalOf().code).toBe('database_damaged')
      const db = start({ backup: name })
      expect(eventsIn(db)).toBe(1)
      db.close()
      clock.advance(1000)
    }
  })

  it('starts with an empty database beside the damaged one', async () => {
    start().close()
    truncateSync(file, 5000)
    const db = start('empty')
    expect(eventsIn(db)).toBe(0)
    expect(kept()).toHaveLength(1)
  })

  it('changes nothing if the backup is damaged or gone', async () => {
    const name = await startWithBackup()
    truncateSync(join(backups.folder, name), 5000)
    const before = readFileSync(file)
    expect(refusalOf({ backup: name }).message).toContain(name)
    expect(refusalOf({ backup: backupNameOf(0) }).message).toContain('gone')
    expect(readFileSync(file)).toEqual(before)
    expect(kept()).toEqual([])
    expect(eventsIn(start())).toBe(2)
  })

  it('is finished at the next start, wherever the process was killed', { timeout: 120_000 }, async () => {
    const name = await startWithBackup()
    const present = readFileSync(file)
    const aside = `${file}.replaced-${stampOf(0)}`
    const outcomes = new Set<string>()
    for (let step = 1, isOver = false; !isOver; step++) {
      const scene = `${folder}-step-${step}`
      const sceneFile = join(scene, 'deckhand.db')
      cpSync(folder, scene, { recursive: true })
      const child = spawnSync(process.execPath, [KILLED_AT_STEP, sceneFile, name, `${step}`], { encoding: 'utf8' })
      isOver = child.signal !== 'SIGKILL'
      expect([step, child.stderr]).toEqual([step, ''])
      const db = openDatabase({ file: sceneFile, clock, keepsBallast: false })
      const events = eventsIn(db)
      const paused = isPaused(db)
      db.close()
      // Either nothing happened yet, or everything did.
      const wasReplaced = existsSync(join(scene, basename(aside)))
      expect([step, events, paused]).toEqual([step, wasReplaced ? 1 : 2, wasReplaced])
      if (wasReplaced) expect(readFileSync(join(scene, basename(aside)))).toEqual(present)
      expect(readdirSync(scene).filter((one) => /replace\.json$|\.new/.test(one))).toEqual([])
      outcomes.add(wasReplaced ? 'replaced' : 'untouched')
      if (isOver) expect(step).toBeGreaterThan(10)
      rmSync(scene, { recursive: true })
    }
    expect([...outcomes]).toEqual(['untouched', 'replaced'])
  })

  it('is given up once if the backup is gone when it is continued, and the next start uses the present data', async () => {
    const name = await startWithBackup()
    for (const lose of [() => truncateSync(join(backups.folder, name), 5000), () => rmSync(join(backups.folder, name))]) {
      writeFileSync(`${file}.replace.json`, JSON.stringify({ backup: name, at: clock.now() }))
      lose()
      expect(refusalOf().message).toContain(`The backup ${name} was not restored`)
      const db = start()
      expect(eventsIn(db)).toBe(2)
      db.close()
    }
  })

  it('is refused if what was asked for cannot be read', () => {
    start().close()
    writeFileSync(`${file}.replace.json`, '{"backup":"../../etc/passwd","at":1}')
    expect(refusalOf().code).toBe('data_dir_unusable')
    rmSync(`${file}.replace.json`)
    expect(eventsIn(start())).toBe(0)
  })
})

it.skipIf(process.getuid?.() === 0)('says so when the folder cannot be written', async () => {
  start()
  mkdirSync(backups.folder)
  chmodSync(backups.folder, 0o500)
  await expect(backups.make(clock.now())).rejects.toThrow()
  chmodSync(backups.folder, 0o700)
})

describe('the accounts of sign-in', () => {
  const addAccounts = (names: string[]) => {
    const auth = new Sqlite(join(folder, 'auth.db'))
    auth.exec('CREATE TABLE IF NOT EXISTS user (name TEXT); CREATE TABLE IF NOT EXISTS session (token TEXT)')
    for (const name of names) auth.prepare('INSERT INTO user VALUES (?)').run(name)
    auth.prepare('INSERT INTO session VALUES (?)').run('token-of-a-session-0123456789')
    auth.close()
  }
  const namesIn = (path: string) => {
    const auth = new Sqlite(path, { readonly: true })
    const names = auth.prepare('SELECT name FROM user').pluck().all()
    expect(auth.prepare('SELECT count(*) FROM session').pluck().get()).toBe(0)
    auth.close()
    return names
  }

  it('are in a backup and in its copy, without sessions, and go with it', async () => {
    start()
    addAccounts(['Ada'])
    const elsewhere = join(folder, 'disk')
    mkdirSync(elsewhere)
    const at = clock.now()
    const first = await backups.make(at)
    await backups.copyTo(elsewhere, first)
    const accounts = `${first.name}.accounts`
    const copy = join(elsewhere, readdirSync(elsewhere)[0]!, accounts)
    for (const path of [join(backups.folder, accounts), copy]) {
      expect(namesIn(path)).toEqual(['Ada'])
      expect(readFileSync(path).includes('token-of-a-session')).toBe(false)
      if (process.platform !== 'win32') expect(statSync(path).mode & 0o077).toBe(0)
    }
    expect(listBackups(backups.folder).map(({ name }) => name)).toEqual([first.name])
    for (let i = 1; i <= 7; i++) await backups.make(at + i * HOUR_MS)
    expect(existsSync(join(backups.folder, accounts))).toBe(false)
    expect(readdirSync(backups.folder).filter((name) => name.endsWith('.accounts'))).toHaveLength(7)
  })

  it('that are damaged do not keep the database from being backed up', async () => {
    start()
    writeFileSync(join(folder, 'auth.db'), 'x'.repeat(5000))
    await expect(backups.make(clock.now())).rejects.toThrow('the accounts could not be backed up')
    expect(listBackups(backups.folder)).toHaveLength(1)
  })

  it('are offered to the host by a restore, which itself leaves auth.db alone and revokes all access tokens', async () => {
    const db = start()
    addAccounts(['Ada'])
    transact(db, (tx) => {
      const values = "randomblob(32), 'dkh_', 'Script', (SELECT id FROM entities), 1"
      tx.prepare(`INSERT INTO api_tokens (id, digest, hint, name, entity_id, created_at) VALUES (new_id(), ${values})`).run()
    })
    const { name } = await backups.make(clock.now())
    db.close()
    addAccounts(['Ben'])
    const before = readFileSync(join(folder, 'auth.db'))
    const restored = start({ backup: name })
    expect(namesIn(join(folder, 'auth.db.restored'))).toEqual(['Ada'])
    expect(readFileSync(join(folder, 'auth.db')).equals(before)).toBe(true)
    expect(restored.prepare('SELECT revoked_at IS NOT NULL AS isRevoked FROM api_tokens').all()).toEqual([{ isRevoked: 1 }])
  })
})
