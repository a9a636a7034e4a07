import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
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
import { APPLICATION_ID } from './integrity.ts'
import { createBackups } from './backups.ts'
import { transact } from './database.ts'
import { openDatabase } from './open-database.ts'
import { DatabaseRefused } from './database-errors.ts'
import { runMigrations } from './migrate.ts'
import { LATEST_VERSION, MIGRATIONS } from './migrations/migrations.ts'

/** `npm run test:long`: 240 files and 1,000 cuts. */
const FILES = Number(process.env['DAMAGED_FILES'] ?? 18)
const CUTS = Number(process.env['CUTS'] ?? 24)
/** A start takes a hundred times as long as a look at the file. */
const STARTS = 4
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
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file)
  writeAt(file, at, Buffer.from([bytes[at]! ^ 0xff]))
}

const digestOf = (file: string) => (existsSync(file) ? createHash('sha256').update(readFileSync(file)).digest('hex') : null)
const eventsIn = (db: ReturnType<typeof openDatabase>) => db.prepare<{ n: number }>('SELECT count(*) AS n FROM events').get()!.n

describe(`${FILES} damaged databases`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-damaged-'))
  /** A process that was killed: some commits are in the log only. With a sound backup of the first 200. */
  const killed = join(folder, 'killed')
  beforeAll(async () => {
    const file = join(folder, 'living', 'deckhand.db')
    const db = openDatabase({ file, clock, keepsBallast: false })
    const write = (text: string) => transact(db, (tx) => tx.emit({ type: 'settings.changed', payload: { keys: [text as 'concurrency'] } }))
    for (let n = 0; n < 200; n++) write('x'.repeat(n * 7))
    const backups = createBackups(file)
    await backups.make(clock.now())
    backups.stop()
    db.connection.pragma('wal_checkpoint(TRUNCATE)')
    for (let n = 0; n < 50; n++) write('y'.repeat(n * 11))
    cpSync(join(folder, 'living'), killed, { recursive: true, filter: (path) => !/\.lock|-shm|\.pid$/.test(path) })
    db.close()
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const names = Object.keys(DAMAGES)
  it.each(Array.from({ length: FILES }, (_, round) => [names[round % names.length]!, round] as const))(
    'are kept and restored, after losing %s (%i)',
    (name, round) => {
      const scene = join(folder, `scene-${round}`)
      cpSync(killed, scene, { recursive: true })
      const file = join(scene, 'deckhand.db')
      DAMAGES[name]!(file, round)
      const before = digestOf(file)
      try {
        // Damage to a value, or to commits that no checksum vouches for any more, cannot be seen.
        openDatabase({ file, clock, keepsBallast: false }).close()
      } catch (error) {
        expect(error).toBeInstanceOf(DatabaseRefused)
        expect((error as DatabaseRefused).code).toBe('database_damaged')
        expect(digestOf(file)).toBe(before)
      }
      const present = digestOf(file)
      const restored = openDatabase({ file, clock, keepsBallast: false, replaceWith: { backup: null } })
      expect(eventsIn(restored)).toBe(200)
      restored.close()
      const aside = readdirSync(scene).find((one) => /\.replaced-\d+T\d+Z$/.test(one))
      expect(aside === undefined ? null : digestOf(join(scene, aside))).toBe(present)
      rmSync(scene, { recursive: true })
    },
  )
})

describe('a migration that is interrupted', () => {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-cuts-'))
  const made = new Map<number, ReturnType<typeof migrateInLog>>()
  const later = MIGRATIONS.slice(1).map(({ version }) => version)
  const isOf = (version: number) => MIGRATIONS.filter((migration) => migration.version === version)
  const agentsIn = (connection: Pick<Sqlite.Database, 'prepare'>) =>
    connection.prepare('SELECT id, name, instructions FROM agents ORDER BY id').all()
  afterAll(() => rmSync(folder, { recursive: true }))

  /** The next start brings it to the newest version, with all rows. */
  function expectWhole(file: string, rows: unknown[]): void {
    const db = openDatabase({ file, clock, keepsBallast: false })
    expect(db.connection.pragma('user_version', { simple: true })).toBe(LATEST_VERSION)
    expect(agentsIn(db.connection)).toEqual(rows)
    db.close()
  }

  /** A database of the version before, whose migration is in its log and nowhere else. */
  function migrateInLog(version: number): { file: string; log: Buffer; rows: unknown[] } {
    const file = join(folder, `before-${version}.db`)
    const connection = new Sqlite(file)
    connection.pragma('auto_vacuum = INCREMENTAL')
    connection.pragma('journal_mode = WAL')
    connection.pragma('wal_autocheckpoint = 0')
    let ids = 0
    connection.function('new_id', () => `id-${++ids}`)
    connection.function('now_ms', () => 0)
    connection.pragma(`application_id = ${APPLICATION_ID}`)
    runMigrations(
      connection,
      MIGRATIONS.filter((migration) => migration.version < version),
    )
    const entity = connection.prepare('SELECT id FROM entities').pluck().get()
    const agent = connection.prepare(
      `INSERT INTO agents (id, entity_id, slug, name, instructions, fallbacks, autonomy, folders, max_turns, max_cost_micros, max_working_ms,
         max_tool_calls, is_default, created_at, updated_at) VALUES (?, ?, ?, ?, ?, '[]', 'ask_first', '[]', 1, 1, 1, 1, 0, 0, 0)`,
    )
    for (let n = 0; n < 40; n++) agent.run(`agent-${n}`, entity, `a${n}`, `Agent ${n}`, 'x'.repeat(n * 50))
    connection.pragma('wal_checkpoint(TRUNCATE)')
    const rows = agentsIn(connection)
    // Many pages, so that a cut can be anywhere in between.
    runMigrations(connection, isOf(version))
    const kept = `${file}.kept`
    cpSync(file, kept)
    const log = readFileSync(`${file}-wal`)
    connection.close()
    return { file: kept, log, rows }
  }

  function before(version: number) {
    const known = made.get(version) ?? migrateInLog(version)
    made.set(version, known)
    return known
  }

  it.each(later)(`by ${CUTS} cuts leaves version %i undone or done, with all rows`, (version) => {
    const { file, log, rows } = before(version)
    expect(log.length).toBeGreaterThan(4096)
    /** The versions of the files that are left, by their bytes: what holds for one of them holds for all that are like it. */
    const found = new Map<string | null, number>()
    for (let round = 0; round < CUTS; round++) {
      const scene = join(folder, `cut-${version}-${round}`)
      const cut = join(scene, 'deckhand.db')
      cpSync(file, cut)
      // The first and the last cut are at the ends.
      const at = round === 0 ? 0 : round === 1 ? log.length : placeOf(round, log.length)
      writeFileSync(`${cut}-wal`, log.subarray(0, at))
      if (round < STARTS) {
        cpSync(scene, `${scene}-started`, { recursive: true })
        expectWhole(join(`${scene}-started`, 'deckhand.db'), rows)
      }
      const left = new Sqlite(cut)
      left.pragma('synchronous = OFF')
      const leftVersion = left.pragma('user_version', { simple: true }) as number
      // The last to close a file copies what is whole in its log, and deletes the log.
      left.close()
      expect(existsSync(`${cut}-wal`)).toBe(false)
      const digest = digestOf(cut)
      if (!found.has(digest)) {
        found.set(digest, leftVersion)
        const again = new Sqlite(cut)
        expect(agentsIn(again)).toEqual(rows)
        expect(again.pragma('integrity_check(1)', { simple: true })).toBe('ok')
        again.close()
        expectWhole(cut, rows)
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
        const { file, log, rows } = before(version)
        const disk = mountSmallDisk(8)!
        onTestFinished(() => disk.remove())
        const filler = join(disk.folder, 'filler')
        const full = join(disk.folder, 'deckhand.db')
        for (let round = 0; round < FULL_DISKS; round++) {
          cpSync(file, full)
          const connection = new Sqlite(full)
          let ids = 0
          connection.function('new_id', () => `id-${++ids}`)
          connection.function('now_ms', () => 0)
          expect(agentsIn(connection)).toEqual(rows)
          disk.fill()
          // What the log needs, but for its last pages; and from round to round less.
          const room = Math.max(0, log.length - 16_384 - (round === 0 ? 0 : placeOf(round, log.length)))
          truncateSync(filler, statSync(filler).size - room)
          expect(() => runMigrations(connection, isOf(version))).toThrow(/full|disk I\/O error/)
          expect(connection.pragma('user_version', { simple: true })).toBe(version - 1)
          expect(agentsIn(connection)).toEqual(rows)
          connection.close()
          disk.free()
          expectWhole(full, rows)
          for (const name of readdirSync(disk.folder)) rmSync(join(disk.folder, name), { recursive: true })
        }
      })
    },
  )
})
