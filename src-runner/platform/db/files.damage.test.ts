import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
  closeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createHandClock } from '../../testing/hand-clock.ts'
import { mountSmallDisk } from '../../testing/small-disk.ts'
import { APPLICATION_ID, listTables } from './integrity.ts'
import { createBackups } from './backups.ts'
import { transact } from './database.ts'
import { openDatabase } from './open-database.ts'
import { DatabaseRefused } from './database-errors.ts'
import { runMigrations } from './migrate.ts'
import { LATEST_VERSION, MIGRATIONS } from './migrations/migrations.ts'

/** `npm run test:long`: 240 files and 1,000 cuts. */
const FILES = Number(process.env['DAMAGED_FILES'] ?? 11)
const CUTS = Number(process.env['CUTS'] ?? 20)
/** A start takes a hundred times as long as a look at the file. */
const STARTS = 3
/** Each of them is a start. */
const FIRST_CUTS = CUTS < 100 ? STARTS : CUTS
const FULL_DISKS = Math.ceil(CUTS / 20)
const probe = mountSmallDisk(1)
const canMount = probe !== null
probe?.remove()
const clock = createHandClock()

/** The same damage in each run, spread over the file. */
function placeOf(round: number, bytes: number): number {
  const hash = createHash('sha256').update(`place ${round}`).digest()
  return hash.readUInt32BE() % bytes
}

function writeAt(file: string, at: number, bytes: Buffer): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, bytes, 0, bytes.length, at)
  closeSync(handle)
}

const DAMAGES: Record<string, (file: string, round: number) => void> = {
  'a byte of a page': (file, round) => flip(file, placeOf(round, statSync(file).size)),
  'the head of a page': (file, round) => writeAt(file, placeOf(round, statSync(file).size / 4096) * 4096, Buffer.alloc(16, 0xff)),
  'a whole page': (file, round) => writeAt(file, placeOf(round, statSync(file).size / 4096) * 4096, Buffer.alloc(4096, 0x5a)),
  'the end': (file, round) => truncateSync(file, placeOf(round, statSync(file).size)),
  'the log': (file) => rmSync(`${file}-wal`),
  'a byte of the log': (file, round) => flip(`${file}-wal`, placeOf(round, statSync(`${file}-wal`).size)),
  'the end of the log': (file, round) => truncateSync(`${file}-wal`, placeOf(round, statSync(`${file}-wal`).size)),
  everything: (file) => truncateSync(file, 0),
  'the file': (file) => rmSync(file),
  'everything and the log': (file) => (truncateSync(file, 0), rmSync(`${file}-wal`)),
  'the file and the log': (file) => (rmSync(file), rmSync(`${file}-wal`)),
}

/**
 * What a start may not see: a byte of a value, and commits that were in the log only. SQLite has no checksum of a page, and takes
 * the log up to its first frame that is not whole. Every other damage is found in each file.
 */
const UNSEEN = new Set(['a byte of a page', 'the log', 'a byte of the log', 'the end of the log'])

function flip(file: string, at: number): void {
  const bytes = readFileSync(file)
  writeAt(file, at, Buffer.from([bytes[at]! ^ 0xff]))
}

/** null: it opened. Anything else that is thrown is a fault. */
function refusalOf(open: () => void): DatabaseRefused | null {
  try {
    open()
    return null
  } catch (error) {
    if (error instanceof DatabaseRefused) return error
    throw error
  }
}

const digestOf = (file: string) => (existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : null)
const eventsIn = (db: ReturnType<typeof openDatabase>) =>
  db.prepare<{ id: number; payload: string }>('SELECT id, payload FROM events ORDER BY id').all()

describe(`${FILES} damaged databases`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-damaged-'))
  /** A process that was killed: some commits are in the log only. With a sound backup of the first 200. */
  const killed = join(folder, 'killed')
  let written: ReturnType<typeof eventsIn>
  beforeAll(async () => {
    const file = join(folder, 'living', 'deckhand.db')
    const db = openDatabase({ file, clock, keepsBallast: false })
    const write = (text: string) => transact(db, (tx) => tx.emit({ type: 'settings.changed', payload: { keys: [text as 'concurrency'] } }))
    for (let n = 0; n < 200; n++) write('x'.repeat(n * 7))
    const backups = createBackups(file, clock.now)
    await backups.make(clock.now())
    backups.stop()
    db.connection.pragma('wal_checkpoint(TRUNCATE)')
    for (let n = 0; n < 50; n++) write('y'.repeat(n * 11))
    written = eventsIn(db)
    expect(written).toHaveLength(250)
    cpSync(join(folder, 'living'), killed, { recursive: true, filter: (path) => !/\.lock|-shm|\.pid$/.test(path) })
    db.close()
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('are none when a page was being copied from the log as the power failed', () => {
    const scene = join(folder, 'copying')
    cpSync(killed, scene, { recursive: true })
    const file = join(scene, 'deckhand.db')
    appendFileSync(file, Buffer.alloc(100, 0x5a))
    const db = openDatabase({ file, clock, keepsBallast: false })
    expect(eventsIn(db)).toEqual(written)
    db.close()
  })

  const names = Object.keys(DAMAGES)
  // Round 102 cuts the last page in two.
  const rounds = [...new Set([...Array.from({ length: FILES }, (_, round) => round), 102])]
  it.each(rounds.map((round) => [names[round % names.length]!, round] as const))(
    'are kept and restored, after losing %s (%i)',
    (name, round) => {
      const scene = join(folder, `scene-${round}`)
      cpSync(killed, scene, { recursive: true })
      const file = join(scene, 'deckhand.db')
      DAMAGES[name]!(file, round)
      const before = digestOf(file)
      const refused = refusalOf(() => {
        const db = openDatabase({ file, clock, keepsBallast: false })
        const left = eventsIn(db)
        db.close()
        // No row is made up: a row of a later commit is missing only with all that follow.
        if (name === 'a byte of a page') expect(left.map(({ id }) => id)).toEqual(written.map(({ id }) => id))
        else expect(left).toEqual(written.slice(0, left.length))
        expect(left.length).toBeGreaterThanOrEqual(200)
      })
      if (refused === null) expect(UNSEEN).toContain(name)
      else {
        expect(refused.code).toBe('database_damaged')
        expect(digestOf(file)).toBe(before)
      }
      const present = digestOf(file)
      const restored = openDatabase({ file, clock, keepsBallast: false, replaceWith: { backup: null } })
      expect(eventsIn(restored)).toEqual(written.slice(0, 200))
      restored.close()
      const aside = readdirSync(scene).find((one) => /\.replaced-\d+T\d+Z$/.test(one))
      expect(aside === undefined ? null : digestOf(join(scene, aside))).toBe(present)
      rmSync(scene, { recursive: true })
    },
  )
})

/** The first and the last cut are at the ends. */
function cutOf(round: number, log: Buffer): number {
  return round === 0 ? 0 : round === 1 ? log.length : placeOf(round, log.length)
}

/** Rows of version 1 in tables that later versions create again, and in those that these point to. */
function addRows(connection: Sqlite.Database): void {
  const entity = connection.prepare('SELECT id FROM entities').pluck().get()
  const add = (table: string, row: Record<string, unknown>) => {
    const names = Object.keys(row)
    connection.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map((name) => `@${name}`).join()})`).run(row)
  }
  for (let n = 0; n < 40; n++) {
    const [agent_id, job_id, text] = [`agent-${n}`, `job-${n}`, 'x'.repeat(n * 50)]
    const limits = { fallbacks: '[]', autonomy: 'ask_first', folders: '[]', max_turns: 1, max_cost_micros: 1, max_working_ms: 1 }
    const named = { id: agent_id, entity_id: entity, slug: `a${n}`, name: `Agent ${n}`, instructions: text, created_at: n, updated_at: n }
    add('agents', { ...named, ...limits, max_tool_calls: 1, is_default: 0 })
    add('conversations', { id: `conversation-${n}`, entity_id: entity, agent_id, title: text, created_at: n, updated_at: n })
    const ofAgent = { entity_id: entity, agent_id, created_at: n }
    add('agent_jobs', {
      ...ofAgent,
      seq: n + 1,
      id: job_id,
      channel: 'api',
      status: 'pending',
      title: text,
      conversation_id: `conversation-${n}`,
    })
    add('messages', { id: `message-${n}`, conversation_id: `conversation-${n}`, job_id, role: 'user', created_at: n, text })
    const asked = {
      kind: 'tool',
      status: 'pending',
      call_id: `call-${n}`,
      tool: 'write_file',
      args: '{}',
      hash: 'a'.repeat(64),
      reason: text,
    }
    add('approvals', { id: `approval-${n}`, job_seq: n + 1, ...asked, taints: '{}', may_remember: '[]', created_at: n, expires_at: n })
    const toSend = { kind: 'reply', state: 'pending', agent_id, chat_id: 'chat', job_id, text, buttons: '[]', files: '[]' }
    add('outbox', { id: `out-${n}`, key: `key-${n}`, ...toSend, created_at: n, next_try_at: n, give_up_at: n })
    add('events', { id: n + 1, at: n, type: 'settings.changed', payload: JSON.stringify({ keys: [text] }) })
  }
}

describe('a migration that is interrupted', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-cuts-'))
  const made = new Map<number, ReturnType<typeof migrateInLog>>()
  const later = MIGRATIONS.slice(1).map(({ version }) => version)
  const isOf = (version: number) => MIGRATIONS.filter((migration) => migration.version === version)
  const countIds = () => {
    let ids = 0
    return { next: () => `id-${++ids}` }
  }
  const open = (file: string) => openDatabase({ file, clock, ids: countIds(), keepsBallast: false })
  /** All rows of all tables. */
  const rowsIn = (connection: Sqlite.Database) =>
    Object.fromEntries(listTables(connection).map((table) => [table, connection.prepare(`SELECT * FROM "${table}"`).all()]))
  type Rows = ReturnType<typeof rowsIn>
  afterAll(() => rmSync(folder, { recursive: true }))

  /** The next start brings it to the newest version, with the rows of a start that nothing interrupted. */
  function startedRows(file: string): Rows {
    const db = open(file)
    expect(db.connection.pragma('user_version', { simple: true })).toBe(LATEST_VERSION)
    const rows = rowsIn(db.connection)
    db.close()
    return rows
  }

  /** As `openDatabase` creates a file. */
  function createAt(file: string): Sqlite.Database {
    const connection = new Sqlite(file)
    connection.pragma('auto_vacuum = INCREMENTAL')
    connection.pragma('journal_mode = WAL')
    connection.pragma('wal_autocheckpoint = 0')
    giveFunctions(connection)
    connection.pragma(`application_id = ${APPLICATION_ID}`)
    return connection
  }

  function giveFunctions(connection: Sqlite.Database): void {
    const ids = countIds()
    connection.function('new_id', () => ids.next())
    connection.function('now_ms', () => 0)
  }

  /** A database of the version before, whose migration is in its log and nowhere else. With the rows before and after it. */
  function migrateInLog(version: number) {
    const file = join(folder, `before-${version}.db`)
    const earlier = version === 2 ? null : before(version - 1)
    if (earlier !== null) {
      cpSync(earlier.file, file)
      writeFileSync(`${file}-wal`, earlier.log)
    }
    const connection = createAt(file)
    if (earlier === null) {
      runMigrations(connection, isOf(1))
      addRows(connection)
    }
    connection.pragma('wal_checkpoint(TRUNCATE)')
    const firstVersion = `${file}.first`
    if (earlier === null) cpSync(file, firstVersion)
    const rows = { before: rowsIn(connection), after: {} as Rows }
    // Many pages, so that a cut can be anywhere in between.
    runMigrations(connection, isOf(version))
    rows.after = rowsIn(connection)
    const kept = `${file}.kept`
    cpSync(file, kept)
    const log = readFileSync(`${file}-wal`)
    connection.close()
    cpSync(kept, file)
    writeFileSync(`${file}-wal`, log)
    const started: { before: Rows; after: Rows } = { before: earlier?.started.after ?? startedRows(firstVersion), after: startedRows(file) }
    return { file: kept, log, rows, started }
  }

  function before(version: number) {
    const known = made.get(version) ?? migrateInLog(version)
    made.set(version, known)
    return known
  }

  it(`by ${FIRST_CUTS} cuts of the first version leaves a file that is not in use, and the next start creates it`, () => {
    const whole = startedRows(join(folder, 'first.db'))
    expect(whole['entities']).toHaveLength(1)
    const connection = createAt(join(folder, 'before-1.db'))
    runMigrations(connection, isOf(1))
    const [file, log] = ['', '-wal'].map((rest) => readFileSync(join(folder, `before-1.db${rest}`)))
    connection.close()
    for (let round = 0; round < FIRST_CUTS; round++) {
      const scene = join(folder, `cut-1-${round}`)
      mkdirSync(scene)
      const draft = join(scene, 'deckhand.db.new')
      writeFileSync(draft, file!)
      writeFileSync(`${draft}-wal`, log!.subarray(0, cutOf(round, log!)))
      expect(startedRows(join(scene, 'deckhand.db'))).toEqual(whole)
      expect(readdirSync(scene).filter((name) => name.includes('.new'))).toEqual([])
      rmSync(scene, { recursive: true })
    }
  })

  it.each(later)(`by ${CUTS} cuts leaves version %i undone or done, with all rows`, (version) => {
    const { file, log, rows, started } = before(version)
    const stateOf = (left: number) => (left === version ? 'after' : 'before')
    expect(log.length).toBeGreaterThan(4096)
    /** The versions of the files that are left, by their bytes: what holds for one of them holds for all that are like it. */
    const found = new Map<string | null, number>()
    for (let round = 0; round < CUTS; round++) {
      const scene = join(folder, `cut-${version}-${round}`)
      const cut = join(scene, 'deckhand.db')
      cpSync(file, cut)
      writeFileSync(`${cut}-wal`, log.subarray(0, cutOf(round, log)))
      // What the first two cuts leave, at the ends, has been started with to know what each start must lead to.
      const direct = round >= 2 && round < STARTS ? `${scene}-started` : null
      if (direct !== null) cpSync(scene, direct, { recursive: true })
      const left = new Sqlite(cut)
      left.pragma('synchronous = OFF')
      const leftVersion = left.pragma('user_version', { simple: true }) as number
      // The last to close a file copies what is whole in its log, and deletes the log.
      left.close()
      if (direct !== null) expect(startedRows(join(direct, 'deckhand.db'))).toEqual(started[stateOf(leftVersion)])
      expect(existsSync(`${cut}-wal`)).toBe(false)
      const digest = digestOf(cut)
      if (!found.has(digest)) {
        found.set(digest, leftVersion)
        const again = new Sqlite(cut)
        expect(rowsIn(again)).toEqual(rows[stateOf(leftVersion)])
        expect(again.pragma('integrity_check(1)', { simple: true })).toBe('ok')
        again.close()
        expect(startedRows(cut)).toEqual(started[stateOf(leftVersion)])
      }
      expect(found.get(digest)).toBe(leftVersion)
      rmSync(scene, { recursive: true })
    }
    expect([...found.values()].toSorted((a, b) => a - b)).toEqual([version - 1, version])
  })

  describe.skipIf(!canMount)(
    `${FULL_DISKS} times by a full disk${canMount ? '' : ' (skipped: this account may not mount a small disk)'}`,
    () => {
      it.each(later)('leaves version %i undone, and is done when there is room', (version) => {
        const { file, log, rows, started } = before(version)
        const disk = mountSmallDisk(8)!
        onTestFinished(() => disk.remove())
        const filler = join(disk.folder, 'filler')
        const full = join(disk.folder, 'deckhand.db')
        for (let round = 0; round < FULL_DISKS; round++) {
          cpSync(file, full)
          const connection = new Sqlite(full)
          giveFunctions(connection)
          expect(rowsIn(connection)).toEqual(rows.before)
          disk.fill()
          // What the log needs, but for its last pages; and from round to round less.
          const room = Math.max(0, log.length - 16_384 - (round === 0 ? 0 : placeOf(round, log.length)))
          truncateSync(filler, statSync(filler).size - room)
          expect(() => runMigrations(connection, isOf(version))).toThrow(/full|disk I\/O error/)
          expect(connection.pragma('user_version', { simple: true })).toBe(version - 1)
          expect(rowsIn(connection)).toEqual(rows.before)
          connection.close()
          disk.free()
          expect(startedRows(full)).toEqual(started.before)
          for (const name of readdirSync(disk.folder)) rmSync(join(disk.folder, name), { recursive: true })
        }
      })
    },
  )
})
