import { accessSync, closeSync, constants, existsSync, lstatSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { Message } from '../../contract/messages.ts'
import type { Replacement } from '../../contract/port.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import { createIds, type Ids } from '../../lib/ids.ts'
import { silentLog, type Log } from '../../lib/log.ts'
import { createMessage } from '../../lib/messages.ts'
import { freeBytesAt, keepBallast, keepRest, releaseBallast, sizeOf } from './ballast.ts'
import { createCheckpoints } from './checkpoints.ts'
import { createCommits } from './commits.ts'
import type { Database } from './database.ts'
import { createCondition } from './database-health.ts'
import { DatabaseRefused, isForbidden, sqliteCodeOf, troubleOf } from './database-errors.ts'
import { isInPlace, placeOf } from './file-place.ts'
import { syncFolder } from './sync-files.ts'
import { APPLICATION_ID, damageOf, listTables } from './integrity.ts'
import { holdLock } from './lock.ts'
import { migrate } from './migrate.ts'
import { LATEST_VERSION } from './migrations/migrations.ts'
import { finishReplacement, replaceDatabase } from './replacement.ts'
import { findSchemaDifference } from './schema-check.ts'
import { createStatements } from './statements.ts'
import { createThreads } from './threads.ts'
import { endsInTornPage } from './torn-page.ts'
import { isMarkedUsed, markUsed, usedMarkOf } from './used-marker.ts'

/** 3.51.3. Earlier versions can lose writes when two connections write and checkpoint at once (sqlite.org/wal.html#walresetbug). */
const LEAST_SQLITE = 3_051_003
/** A file up to this size is checked whole at start (about 0.2 s). Of a larger one only the small tables are checked. */
const FULL_CHECK_BYTES = 64 * 1024 * 1024
const SMALL_TABLES = ['entities', 'agents', 'providers', 'model_prices', 'settings', 'conversations', 'spend_days']
/** The process that used the file before may still be copying its log on a slow disk. */
const WAIT_FOR_FILE_MS = 20_000
/** After a full disk, work resumes only with this much space, because it would stop again at once with less. */
const ROOM_TO_RESUME = 4 * 1024 * 1024
/** A larger write-ahead log is emptied at start and once a minute. */
const LOG_BYTES_AT_REST = 8 * 1024 * 1024
const HOUSEKEEPING_EVERY_MS = 60_000
/** With less space, SQLite cannot create the files that it keeps beside the database. */
const LEAST_ROOM = 256 * 1024
/** The write-ahead log is truncated to this size when it starts again from its beginning. */
const LOG_BYTES_KEPT = 32 * 1024 * 1024
const CACHE_KB = 16 * 1024
/** SQLite lists damage page by page. */
const MAX_REASON = 200

type OpenOptions = {
  file: string
  clock: Clock
  ids?: Ids
  log?: Log
  /** Whether 16 MB are reserved for a full disk, a minute after the start. Default: yes. */
  keepsBallast?: boolean
  /** Replaces the database first, and keeps the present one beside it. */
  replaceWith?: Replacement
}
type Opening = Required<Omit<OpenOptions, 'replaceWith'>> & { releaseLock: () => void }

/**
 * Opens the one database of the runner and locks it until `close`. A new file gets its name only when it is complete, so an
 * empty or half-made file counts as damage.
 *
 * Throws DatabaseRefused before anything is written: another runner holds the data, the file is damaged or was made by a newer
 * version, or its folder cannot be used.
 */
export function openDatabase(options: OpenOptions): Database {
  assertSqliteVersion()
  const { file, clock, log = silentLog, ids = createIds(() => clock.now()), keepsBallast = true } = options
  makeFolder(dirname(file))
  const releaseLock = holdLock(`${file}.lock`)
  const open = () => {
    const createEmpty = (draft: string) => createWhole(draft, { clock, ids })
    if (options.replaceWith === undefined) finishReplacement(file, createEmpty)
    else replaceDatabase(file, options.replaceWith, clock.now(), createEmpty)
    return openLocked({ file, clock, log, ids, keepsBallast, releaseLock })
  }
  try {
    try {
      return open()
    } catch (error) {
      if (!isOutOfRoom(error, file) || !releaseBallast(file)) throw error
      log.warn({ file }, 'the disk is full: the room that was reserved for this is used to start')
      return open()
    }
  } catch (error) {
    releaseLock()
    throw refusalOf(error, file)
  }
}

function openLocked(opening: Opening): Database {
  const { file, log } = opening
  if (!existsSync(file)) createFile(opening)
  const { version, isWhollyChecked } = refuseUnusable(file)
  if (!isMarkedUsed(file)) attemptToMark(file, log)
  const connection = connect(file, opening)
  try {
    if (version < LATEST_VERSION) migrate(connection, { file, log, now: opening.clock.now() })
    if (sizeOf(`${file}-wal`) > LOG_BYTES_AT_REST) attemptToEmptyLog(connection, log)
    return wrap(connection, opening, isWhollyChecked)
  } catch (error) {
    connection.close()
    throw error
  }
}

/** At start nothing else reads the file, and no request waits. */
function attemptToEmptyLog(connection: Sqlite.Database, log: Log): void {
  try {
    connection.pragma('wal_checkpoint(TRUNCATE)')
  } catch (error) {
    log.warn({ err: error }, `the write-ahead log could not be emptied at start: ${messageOf(error)}`)
  }
}

/** SQLite does not always report a full disk: it may fail to open the files that it needs beside the database. */
function isOutOfRoom(error: unknown, file: string): boolean {
  if (error instanceof DatabaseRefused && error.code !== 'data_dir_unusable') return false
  return troubleOf(error) === 'disk_full' || troubleOf((error as Error).cause) === 'disk_full' || freeBytesAt(file) < LEAST_ROOM
}

function refusalOf(error: unknown, file: string): unknown {
  if (!(error instanceof DatabaseRefused && error.cause === undefined) && isOutOfRoom(error, file)) {
    return new DatabaseRefused('disk_full', createMessage('start_disk_full', { folder: dirname(file) }), error)
  }
  if (
    !(error instanceof DatabaseRefused && error.code !== 'data_dir_unusable') &&
    (isForbidden(error) || !mayWrite(dirname(file)) || !mayWrite(file))
  ) {
    return new DatabaseRefused('read_only', createMessage('start_read_only', { folder: dirname(file) }), error)
  }
  if (sqliteCodeOf(error)?.startsWith('SQLITE_BUSY') !== true) return error
  return new DatabaseRefused('database_locked', createMessage('start_database_busy'), error)
}

function assertSqliteVersion(): void {
  const probe = new Sqlite(':memory:')
  const version = probe.prepare('SELECT sqlite_version()').pluck().get() as string
  probe.close()
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (major * 1_000_000 + minor * 1_000 + patch < LEAST_SQLITE) throw new Error(`SQLite ${version} is too old`)
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new DatabaseRefused('data_dir_unusable', createMessage('start_data_folder', { folder, detail: messageOf(error) }), error)
  }
}

/** If the disk is full, a later start marks the folder. */
function attemptToMark(file: string, log: Log): void {
  try {
    markUsed(file)
  } catch (error) {
    log.warn({ err: error }, `the data folder could not be marked as used: ${messageOf(error)}`)
  }
}

/** Refuses a folder that has had a database: its absence is damage, which a new one would hide. */
function createFile({ file, clock, ids }: Opening): void {
  const damaged = (why: Message) => new DatabaseRefused('database_damaged', why)
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) throw damaged(createMessage('start_database_link', { file }))
  if (isMarkedUsed(file)) throw damaged(createMessage('start_database_missing', { file, mark: usedMarkOf(file) }))
  if (sizeOf(`${file}-wal`) > 0) throw damaged(createMessage('start_database_log_alone', { file, log: `${file}-wal` }))
  const draft = `${file}.new`
  try {
    createWhole(draft, { clock, ids })
    renameSync(draft, file)
    syncFolder(dirname(file))
  } catch (error) {
    throw new DatabaseRefused(
      'data_dir_unusable',
      createMessage('start_no_database', { folder: dirname(file), detail: messageOf(error) }),
      error,
    )
  }
}

/** Creates an empty database in a file that is not in use under this name. */
function createWhole(draft: string, deps: Pick<Opening, 'clock' | 'ids'>): void {
  for (const rest of [draft, `${draft}-wal`, `${draft}-shm`, `${draft}-journal`]) rmSync(rest, { force: true })
  // The mode is set before SQLite writes anything, because only the owner may read the file.
  closeSync(openSync(draft, 'w', 0o600))
  const connection = connect(draft, deps)
  connection.pragma(`application_id = ${APPLICATION_ID}`)
  migrate(connection, null)
  connection.close()
}

/** Throws unless the file may be opened for writing. Uses a read-only connection, so that a refusal changes nothing. */
function refuseUnusable(file: string): { version: number; isWhollyChecked: boolean } {
  const damaged = (what: string, cause?: unknown) => {
    const detail = what.replace(/\s+/g, ' ').slice(0, MAX_REASON)
    return new DatabaseRefused('database_damaged', createMessage('start_database_damaged', { file, detail }), cause)
  }
  const hadLog = existsSync(`${file}-wal`)
  let probe: Sqlite.Database | undefined
  try {
    const bytes = sizeOf(file)
    if (bytes === 0) throw damaged('the file is empty')
    probe = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: WAIT_FOR_FILE_MS })
    const version = probe.pragma('user_version', { simple: true }) as number
    if (probe.pragma('application_id', { simple: true }) !== APPLICATION_ID || version < 1)
      throw damaged('it is not a database of Deckhand')
    if (version > LATEST_VERSION) {
      const why = createMessage('start_database_newer', { schema: String(version), known: String(LATEST_VERSION) })
      throw new DatabaseRefused('database_newer', why)
    }
    const isWhollyChecked = bytes <= FULL_CHECK_BYTES
    const found = isWhollyChecked
      ? damageOf(probe, 'quick_check(3)')
      : SMALL_TABLES.flatMap((name) => damageOf(probe!, `quick_check(${name})`))
    if (found.length > 0) throw damaged(found.slice(0, 3).join('; '))
    const pageBytes = probe.pragma('page_size', { simple: true }) as number
    if (endsInTornPage({ file, bytes, pageBytes })) throw damaged('its last page is not whole')
    const difference = findSchemaDifference(probe, version)
    if (difference !== null) throw damaged(difference)
    if (!isWhollyChecked) readFirstRows(probe)
    return { version, isWhollyChecked }
  } catch (error) {
    if (error instanceof DatabaseRefused) throw error
    const code = sqliteCodeOf(error) ?? ''
    if (/^SQLITE_(CORRUPT|NOTADB|ERROR|IOERR_SHORT_READ)/.test(code)) throw damaged(messageOf(error), error)
    throw new DatabaseRefused('data_dir_unusable', createMessage('start_database_unreadable', { file, detail: messageOf(error) }), error)
  } finally {
    probe?.close()
    // A read-only connection creates an empty log and may not remove it.
    if (!hadLog) for (const rest of [`${file}-wal`, `${file}-shm`]) rmSync(rest, { force: true })
  }
}

/** Throws when a table cannot be read at all. The rest of a large file is checked later, in a thread. */
function readFirstRows(connection: Sqlite.Database): void {
  for (const name of listTables(connection)) connection.prepare(`SELECT * FROM "${name}" LIMIT 1`).get()
}

function connect(file: string, { clock, ids }: Pick<Opening, 'clock' | 'ids'>): Sqlite.Database {
  const connection = new Sqlite(file, { timeout: 5000 })
  // Takes effect only in a new file, before anything else is written: deleted rows can then give their space back.
  connection.pragma('auto_vacuum = INCREMENTAL')
  connection.pragma('journal_mode = WAL')
  // better-sqlite3 defaults to NORMAL in WAL mode, where a power cut may undo acknowledged commits.
  connection.pragma('synchronous = FULL')
  connection.pragma('foreign_keys = ON')
  connection.pragma('trusted_schema = OFF')
  connection.pragma('cell_size_check = ON')
  connection.pragma('temp_store = MEMORY')
  connection.pragma(`journal_size_limit = ${LOG_BYTES_KEPT}`)
  connection.pragma(`cache_size = ${-CACHE_KB}`)
  // Migrations are SQL text and need ids and the clock.
  connection.function('new_id', () => ids.next())
  connection.function('now_ms', () => clock.now())
  return connection
}

function wrap(connection: Sqlite.Database, opening: Opening, isWhollyChecked: boolean): Database {
  const { file, clock, log } = opening
  const place = placeOf(file)
  /** Every statement runs through this, which notes each error of the file. */
  const watch = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      condition.failed(error)
      throw error
    }
  }
  const statements = createStatements(connection, watch)
  const { prepare } = statements
  const probe = () => {
    if (condition.trouble() === 'disk_full') {
      checkpoints.emptyLog()
      if (freeBytesAt(file) < ROOM_TO_RESUME) throw new Error('there is still no room on the disk')
    }
    const version = connection.pragma('user_version', { simple: true }) as number
    commits.runNow(() => void connection.pragma(`user_version = ${version}`))
  }
  const condition = createCondition({ clock, log, probe })
  const checkpoints = createCheckpoints({ connection, file, place, log })
  const damageChecks = createThreads()
  condition.onChange((trouble) => {
    if (trouble === 'disk_full' && releaseBallast(file)) log.warn({}, 'the room that was reserved for a full disk was released')
    if (trouble === 'disk_full' || trouble === null) checkpoints.emptyLog()
  })
  let isKeepingBallast = false
  const stopHousekeeping = clock.every(HOUSEKEEPING_EVERY_MS, () => {
    if (sizeOf(`${file}-wal`) > LOG_BYTES_AT_REST) checkpoints.emptyLog()
    if (!opening.keepsBallast || isKeepingBallast || condition.trouble() !== null) return
    isKeepingBallast = true
    void keepBallast(file, log).finally(() => (isKeepingBallast = false))
  })
  const onCommitted = () => {
    checkpoints.committed()
    condition.committed()
  }
  const requireFile = () => {
    if (isInPlace(file, place)) return
    condition.misplaced()
    throw new AppError('database_unavailable')
  }
  const commits = createCommits({ connection, statements, clock, log, requireFile, onCommitted, onLockedOut: condition.lockedOut })
  // From here on SQLite does not wait for locks, because that would block the event loop.
  connection.pragma('busy_timeout = 0')
  return {
    file,
    clock,
    log,
    connection,
    commits,
    statements,
    condition,
    isWhollyChecked,
    prepare,
    select: statements.select,
    selectDistinct: statements.selectDistinct,
    onEvents: commits.onEvents,
    trouble() {
      try {
        prepare('SELECT 1 FROM entities LIMIT 1').get()
      } catch {
        return condition.trouble() ?? 'unavailable'
      }
      if (condition.trouble() === null && !isInPlace(file, place)) return 'unavailable'
      return condition.trouble() ?? (mayWrite(file) ? null : 'read_only')
    },
    async findDamage() {
      const found = await damageChecks.run<string[]>('damage-thread', { file })
      if (found.length > 0) condition.foundDamage(found)
      return found
    },
    close() {
      if (!connection.open) return
      commits.flush()
      stopHousekeeping()
      condition.stop()
      damageChecks.stop()
      checkpoints.stop()
      statements.clear()
      connection.close()
      keepRest(file, log)
      opening.releaseLock()
    },
  }
}

/** Whether writing is permitted, by the mode of the file and by how the disk is mounted. */
function mayWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK)
    return true
  } catch (error) {
    return !/^(EACCES|EPERM|EROFS)$/.test((error as NodeJS.ErrnoException).code ?? '')
  }
}
