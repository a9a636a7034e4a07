import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  closeSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../lib/log.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { BACKUP_FOLDER, backupNameOf } from './backup-files.ts'
import { transact, type Database } from './database.ts'
import { openDatabase } from './open-database.ts'
import { DatabaseRefused } from './database-errors.ts'
import { checkWholeFile } from './integrity.ts'
import { migrate } from './migrate.ts'
import { LATEST_VERSION, MIGRATIONS, type Migration } from './migrations/migrations.ts'
import { digestOf, SCHEMA_DIGEST } from './schema-check.ts'

const clock = createHandClock()
let folder: string
let file: string
let open: Database[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deckhand-db-'))
  file = join(folder, 'data', 'deckhand.db')
  open = []
})
afterEach(() => {
  for (const db of open) db.close()
  rmSync(folder, { recursive: true, force: true })
})

function start(): Database {
  const db = openDatabase({ file, clock })
  open.push(db)
  return db
}

const MADE_EVENTS = 2000
/** Of a closed database with events. Creating it takes longer than most of what is tested with it. */
let made: Map<string, Buffer> | undefined
function writeMade(): void {
  if (made === undefined) {
    const db = start()
    addEvents(db, MADE_EVENTS)
    db.close()
    made = new Map([file, `${file}.used`].map((path) => [path.slice(file.length), readFileSync(path)]))
    return
  }
  mkdirSync(join(folder, 'data'), { mode: 0o700 })
  for (const [suffix, bytes] of made) writeFileSync(file + suffix, bytes, { mode: 0o600 })
}

function refusal(): string {
  try {
    start()
  } catch (error) {
    if (error instanceof DatabaseRefused) return error.code
    throw error
  }
  return 'opened'
}

/** A hash of each file of the folder, without the lock. */
function contents(): Record<string, string> {
  const files = readdirSync(join(folder, 'data')).filter((name) => !name.includes('.lock') && !name.endsWith('-shm'))
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, 'data', name)))
        .digest('hex'),
    ]),
  )
}

function addEvents(db: Database, count: number): void {
  transact(db, (tx) => {
    for (let i = 0; i < count; i++) tx.emit({ type: 'settings.changed', payload: { keys: [`k${i}`] } })
  })
}

describe('a new database', () => {
  test('has the workspace, the demo provider and the newest schema', async () => {
    const db = start()
    expect(db.prepare('SELECT name, is_default, created_at FROM entities').all()).toEqual([
      { name: 'Personal', is_default: 1, created_at: clock.now() },
    ])
    expect(db.prepare('SELECT id FROM providers').all()).toEqual([{ id: 'demo' }])
    expect(db.connection.pragma('user_version', { simple: true })).toBe(LATEST_VERSION)
    expect(db.trouble()).toBeNull()
    expect(await db.findDamage()).toEqual([])
  })

  test('waits for the disk, and only its owner can read it', () => {
    const db = start()
    const settings = ['journal_mode', 'synchronous', 'foreign_keys', 'trusted_schema', 'busy_timeout'].map((name) =>
      db.connection.pragma(name, { simple: true }),
    )
    expect(settings).toEqual(['wal', 2, 1, 0, 0])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(`${file}-wal`).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700)
  })

  test('is created again after an interrupted start', async () => {
    mkdirSync(join(folder, 'data'))
    writeFileSync(`${file}.new`, 'half')
    writeFileSync(`${file}.new-journal`, 'rest')
    expect(await start().findDamage()).toEqual([])
    expect(readdirSync(join(folder, 'data')).filter((name) => name.includes('.new'))).toEqual([])
  })

  test('is refused in a folder that cannot be created', () => {
    writeFileSync(join(folder, 'data'), 'a file where the folder should be')
    expect(refusal()).toBe('data_dir_unusable')
  })
})

test('closing keeps what was written and merges the log into the file', () => {
  writeMade()
  const first = start()
  addEvents(first, 3)
  first.close()
  expect(readdirSync(join(folder, 'data')).toSorted()).toEqual(['deckhand.db', 'deckhand.db.lock', 'deckhand.db.used'])
  expect(start().prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: MADE_EVENTS + 3 })
})

describe('a second runner on the same data', () => {
  beforeEach(writeMade)

  test('is refused in this process and writes nothing', () => {
    addEvents(start(), 1)
    const before = contents()
    expect(refusal()).toBe('database_locked')
    expect(contents()).toEqual(before)
  })

  test('is refused in another process, until the first one has closed', async () => {
    const first = start()
    const other = spawn(process.execPath, ['--input-type=module-typescript', '-e', OPEN_IN_CHILD, file], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const answers = createInterface(other.stdout)[Symbol.asyncIterator]()
    const before = contents()
    expect((await answers.next()).value).toBe('database_locked')
    expect(contents()).toEqual(before)
    first.close()
    other.stdin.end()
    expect((await answers.next()).value).toBe('opened')
  })
})

/** Tries at once, and again when its input ends. */
const OPEN_IN_CHILD = `
  import { once } from 'node:events'
  import { openDatabase } from ${JSON.stringify(new URL('open-database.ts', import.meta.url).href)}
  import { systemClock } from ${JSON.stringify(new URL('../../lib/clock.ts', import.meta.url).href)}
  const attempt = () => {
    try { openDatabase({ file: process.argv.at(-1), clock: systemClock }).close(); console.log('opened') } catch (error) { console.log(error.code) }
  }
  attempt()
  await once(process.stdin.resume(), 'end')
  attempt()
`

describe('a damaged file', () => {
  beforeEach(writeMade)

  const DAMAGE: Record<string, () => void> = {
    empty: () => truncateSync(file, 0),
    'cut off': () => truncateSync(file, Math.floor(statSync(file).size / 2)),
    'not a database': () => writeFileSync(file, 'hello '.repeat(2000)),
    'a database of another program': () => {
      rmSync(file)
      const foreign = new Sqlite(file)
      foreign.exec('CREATE TABLE t (x); PRAGMA user_version = 1')
      foreign.close()
    },
    'overwritten in its middle': () => {
      const bytes = readFileSync(file)
      bytes.fill(0xa5, 4096 * 3, 4096 * 9)
      writeFileSync(file, bytes)
    },
  }

  test.each(Object.keys(DAMAGE))('is refused and left as it is: %s', (kind) => {
    DAMAGE[kind]!()
    const before = contents()
    expect(refusal()).toBe('database_damaged')
    expect(contents()).toEqual(before)
  })

  test('is not created again while its log exists', () => {
    rmSync(file)
    writeFileSync(`${file}-wal`, 'changes')
    expect(refusal()).toBe('database_damaged')
    expect(readdirSync(join(folder, 'data'))).not.toContain('deckhand.db')
  })

  test('is not replaced by an empty one after its removal', () => {
    rmSync(file)
    const before = contents()
    expect(refusal()).toBe('database_damaged')
    expect(contents()).toEqual(before)
    rmSync(`${file}.used`)
    expect(refusal()).toBe('opened')
  })

  test('is not replaced by an empty one when only half of a draft is left', () => {
    renameSync(file, `${file}.new`)
    truncateSync(`${file}.new`, 8192)
    expect(refusal()).toBe('database_damaged')
    expect(statSync(`${file}.new`).size).toBe(8192)
  })

  test('is not created in place of a dangling link, even in a folder that was never used', () => {
    renameSync(file, join(folder, 'elsewhere.db'))
    for (const mark of [true, false]) {
      if (!mark) rmSync(`${file}.used`)
      symlinkSync(join(folder, 'unmounted', 'deckhand.db'), file)
      expect(refusal()).toBe('database_damaged')
      expect(lstatSync(file).isSymbolicLink()).toBe(true)
      rmSync(file)
    }
    symlinkSync(join(folder, 'elsewhere.db'), file)
    expect(refusal()).toBe('opened')
  })

  test('is detected after one more start of an unmarked data folder', () => {
    rmSync(`${file}.used`)
    start().close()
    rmSync(file)
    expect(refusal()).toBe('database_damaged')
  })

  const SCHEMA_CHANGES: Record<string, string> = {
    'without one of its tables': 'DROP TABLE webhook_refusals',
    'without an index that makes something unique': 'DROP INDEX agents_one_slug',
    'without a trigger that protects history': 'DROP TRIGGER agent_jobs_keep_endings',
    'with an unknown trigger': 'CREATE TRIGGER spy AFTER INSERT ON events BEGIN DELETE FROM events WHERE id = NEW.id; END',
    'with another column': 'ALTER TABLE agents ADD COLUMN colour TEXT',
    'with a view': 'CREATE VIEW spy AS SELECT * FROM settings',
    'with a trigger under a name of SQLite': plant('trigger', 'sqlite_spy'),
    'with a trigger whose type is in capitals': plant('TRIGGER', 'spy'),
    'with a condition in quotes, which is a text that is never true':
      "UPDATE sqlite_schema SET sql = replace(sql, 'OLD.finished_at IS NOT NULL', '\"OLD.finished_at IS NOT NULL\"') WHERE name = 'agent_jobs_keep_endings'",
  }
  /** As only a crafted file has it: SQLite creates no such trigger, but runs it. */
  function plant(type: string, name: string): string {
    const sql = `CREATE TRIGGER ${name} AFTER INSERT ON settings BEGIN DELETE FROM settings WHERE key = NEW.key; END`
    return `INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('${type}', '${name}', 'settings', 0, '${sql}')`
  }
  test.each(Object.keys(SCHEMA_CHANGES))('with the right version, %s, is refused and left as it is', (kind) => {
    const other = new Sqlite(file)
    other.unsafeMode(true)
    other.pragma('writable_schema = ON')
    other.exec(SCHEMA_CHANGES[kind]!)
    other.close()
    const before = contents()
    expect(refusal()).toBe('database_damaged')
    expect(contents()).toEqual(before)
  })

  test('does not include a table or an index that a backup program added', () => {
    const other = new Sqlite(file)
    other.exec('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE INDEX mine ON events (type); ANALYZE')
    other.close()
    expect(refusal()).toBe('opened')
  })

  test('is detected in a large file when the first page of a table is zeroed', () => {
    const db = start()
    transact(db, (tx) => {
      for (let i = 0; i < 70; i++) tx.emit({ type: 'settings.changed', payload: { keys: ['x'.repeat(1_000_000)] } })
    })
    const root = db.prepare<{ rootpage: number }>("SELECT rootpage FROM sqlite_schema WHERE name = 'agent_jobs'").get()!.rootpage
    db.close()
    const handle = openSync(file, 'r+')
    writeSync(handle, Buffer.alloc(4096), 0, 4096, (root - 1) * 4096)
    closeSync(handle)
    expect(refusal()).toBe('database_damaged')
  })

  test('is not reported while another process closes the file on a slow disk', async () => {
    start().close()
    // Closing locks the file like this. It takes longer here than SQLite's own timeout.
    const closing = new Worker(
      `const { parentPort } = require('node:worker_threads')
       const connection = new (require(${JSON.stringify(createRequire(import.meta.url).resolve('better-sqlite3'))}))(${JSON.stringify(file)})
       connection.pragma('locking_mode = EXCLUSIVE')
       connection.exec('CREATE TABLE probe (x); DROP TABLE probe')
       parentPort.postMessage('holds it')
       setTimeout(() => connection.close(), 6000)`,
      { eval: true },
    )
    const gone = once(closing, 'exit')
    await once(closing, 'message')
    expect(await start().findDamage()).toEqual([])
    await gone
  })

  test('releases the lock after a refusal', () => {
    const good = readFileSync(file)
    truncateSync(file, 0)
    expect(refusal()).toBe('database_damaged')
    writeFileSync(file, good)
    expect(refusal()).toBe('opened')
  })
})

describe('the check of the whole file', () => {
  test('finds damage in every table and every index', async () => {
    writeMade()
    const db = start()
    const roots = db
      .prepare<{ name: string; table: string; rootpage: number }>(
        'SELECT name, tbl_name AS "table", rootpage FROM sqlite_schema WHERE rootpage > 0 ORDER BY rootpage',
      )
      .all()
    expect(roots.length).toBeGreaterThan(60)
    const whole = readFileSync(file)
    const missed: string[] = []
    // Several tables are damaged at a time. The check may end before the last of them, which is then damaged alone.
    const left = roots.map((root) => ({ ...root, isAlone: false }))
    while (left.length > 0) {
      const damaged = [left.shift()!]
      for (const root of left[0]?.isAlone === true || damaged[0]!.isAlone ? [] : [...left]) {
        if (damaged.length === 10 || damaged.some(({ table }) => table === root.table)) continue
        damaged.push(...left.splice(left.indexOf(root), 1))
      }
      const bytes = Buffer.from(whole)
      for (const { rootpage } of damaged) bytes.fill(0, (rootpage - 1) * 4096, rootpage * 4096)
      writeFileSync(`${file}-copy`, bytes)
      const found = await checkWholeFile(`${file}-copy`, () => {})
      const rest = damaged.filter(({ table }) => !found.some((message) => message.startsWith(`${table}: `)))
      if (damaged.length === 1) missed.push(...rest.map(({ name }) => name))
      else left.unshift(...rest.map((root) => ({ ...root, isAlone: true })))
    }
    expect(missed).toEqual([])
    expect(await db.findDamage()).toEqual([])
    expect(db.trouble()).toBeNull()
  })

  test('finds a row that is missing in an index, and reports the database as damaged from then on', async () => {
    writeMade()
    const db = start()
    const index = db
      .prepare<{ rootpage: number }>("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_entities_1'")
      .get()!.rootpage
    db.connection.exec("INSERT INTO entities VALUES ('e', 'Other', 0, 1)")
    db.connection.pragma('wal_checkpoint(TRUNCATE)')
    const handle = openSync(file, 'r+')
    // The header of an empty leaf page of an index.
    writeSync(handle, Buffer.from([0x0a, 0, 0, 0, 0, 0x10, 0, 0]), 0, 8, (index - 1) * 4096)
    closeSync(handle)
    expect(await db.findDamage()).toContain('entities: row 1 missing from index sqlite_autoindex_entities_1')
    expect(db.trouble()).toBe('damaged')
  })

  test('is rejected when the database closes', async () => {
    writeMade()
    const db = start()
    const checking = db.findDamage()
    db.close()
    await expect(checking).rejects.toThrow('stopped')
  })
})

describe('versions', () => {
  test('the schema digest matches the migrations', () => {
    expect(digestOf()).toBe(SCHEMA_DIGEST)
  })

  test('data of a newer version is refused and left as it is, even if only the log has that version', () => {
    writeMade()
    const newer = new Sqlite(file)
    newer.pragma(`user_version = ${LATEST_VERSION + 1}`)
    // A crash leaves the log like this.
    const log = readFileSync(`${file}-wal`)
    const merged = readFileSync(file)
    newer.close()
    writeFileSync(file, merged)
    writeFileSync(`${file}-wal`, log)
    const before = contents()
    expect(Object.keys(before)).toContain('deckhand.db-wal')
    expect(refusal()).toBe('database_newer')
    expect(contents()).toEqual(before)
  })

  const NEXT = [
    ...MIGRATIONS,
    {
      version: LATEST_VERSION + 1,
      sql: 'CREATE TABLE berths (id INTEGER PRIMARY KEY) STRICT; ALTER TABLE entities ADD COLUMN colour TEXT',
    },
  ]

  test('a migration copies the data first, and the copy opens', () => {
    writeMade()
    const db = start()
    addEvents(db, 5)
    migrate(db.connection, { file, log: silentLog, now: 0 }, NEXT)
    expect(db.connection.pragma('user_version', { simple: true })).toBe(LATEST_VERSION + 1)
    db.close()
    expect(refusal()).toBe('database_newer')
    copyFileSync(join(folder, 'data', BACKUP_FOLDER, backupNameOf(0)), file)
    expect(start().prepare('SELECT count(*) AS n FROM events').get()).toEqual({ n: MADE_EVENTS + 5 })
  })

  test('a failed migration leaves a copy only of what an earlier one has changed', () => {
    writeMade()
    const db = start()
    const copies = () => readdirSync(join(folder, 'data', BACKUP_FOLDER))
    const attempt = (migrations: readonly Migration[], now: number) =>
      expect(() => migrate(db.connection, { file, log: silentLog, now }, migrations)).toThrow(/no such table: nowhere/)
    const broken = (version: number) => ({ version, sql: 'INSERT INTO nowhere VALUES (1)' })
    attempt([broken(LATEST_VERSION + 1)], 0)
    expect(copies()).toEqual([])
    const half = [...NEXT, broken(LATEST_VERSION + 2)]
    for (const day of [1, 2, 3]) attempt(half, day * 86_400_000)
    expect(copies()).toEqual([backupNameOf(86_400_000)])
  })

  test('a failed migration leaves the previous version unchanged', () => {
    writeMade()
    const db = start()
    const schema = db.prepare('SELECT sql FROM sqlite_schema').all()
    const broken = [
      ...MIGRATIONS,
      { version: LATEST_VERSION + 1, sql: 'CREATE TABLE berths (id); DROP TABLE settings; INSERT INTO nowhere VALUES (1)' },
    ]
    expect(() => migrate(db.connection, { file, log: silentLog, now: 0 }, broken)).toThrow(/no such table: nowhere/)
    expect(db.prepare('SELECT sql FROM sqlite_schema').all()).toEqual(schema)
    expect(db.connection.pragma('user_version', { simple: true })).toBe(LATEST_VERSION)
  })

  test('nothing is copied without a migration', () => {
    start().close()
    start().close()
    expect(existsSync(join(folder, 'data', BACKUP_FOLDER))).toBe(false)
  })
})
