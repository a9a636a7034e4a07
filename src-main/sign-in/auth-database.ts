import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { drizzle, type BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import * as tables from './auth-tables.ts'

export type AuthDatabase = {
  db: BetterSQLite3Database<typeof tables>
  /** Where the damaged file is that was found instead of a database; null: there was none. */
  damagedFile: string | null
  close(): void
}

/** A newer Deckhand has written the file. It is left alone. */
export class NewerAuthDatabaseError extends Error {
  override readonly name = 'NewerAuthDatabaseError'
}

/** Each entry once, in order. `user_version` counts them. Never change one that was released: add another. */
const MIGRATIONS = [
  `
  CREATE TABLE user (
    id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, username TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CONSTRAINT user_role CHECK (role IN ('owner', 'member')),
    email TEXT NOT NULL UNIQUE, emailVerified INTEGER NOT NULL DEFAULT 0, image TEXT,
    createdAt INTEGER NOT NULL, updatedAt INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE session (
    id TEXT PRIMARY KEY NOT NULL, token TEXT NOT NULL UNIQUE, userId TEXT NOT NULL REFERENCES user(id) ON DELETE CASCADE,
    expiresAt INTEGER NOT NULL, createdAt INTEGER NOT NULL, updatedAt INTEGER NOT NULL, ipAddress TEXT, userAgent TEXT
  ) STRICT;
  CREATE INDEX session_user ON session (userId);
  CREATE TABLE account (
    id TEXT PRIMARY KEY NOT NULL, accountId TEXT NOT NULL, providerId TEXT NOT NULL,
    userId TEXT NOT NULL REFERENCES user(id) ON DELETE CASCADE,
    accessToken TEXT, refreshToken TEXT, idToken TEXT, accessTokenExpiresAt INTEGER, refreshTokenExpiresAt INTEGER, scope TEXT,
    password TEXT, createdAt INTEGER NOT NULL, updatedAt INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX account_user ON account (userId);
  CREATE TABLE verification (
    id TEXT PRIMARY KEY NOT NULL, identifier TEXT NOT NULL, value TEXT NOT NULL,
    expiresAt INTEGER NOT NULL, createdAt INTEGER NOT NULL, updatedAt INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE invitation (
    id TEXT PRIMARY KEY NOT NULL, tokenDigest TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CONSTRAINT invitation_role CHECK (role IN ('owner', 'member')),
    invitedBy TEXT REFERENCES user(id) ON DELETE CASCADE, createdAt INTEGER NOT NULL, expiresAt INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE guess (attemptId TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE INDEX guess_key ON guess (key);
  `,
  'ALTER TABLE user ADD COLUMN tokensSince INTEGER',
]

/**
 * Opens the database of accounts, readable by its owner only, and creates it if there is none. A damaged file is renamed, with
 * everything that belongs to it, and an empty database takes its place. Throws a NewerAuthDatabaseError, or SQLite's own error.
 */
export function openAuthDatabase(file: string, now: () => number): AuthDatabase {
  const damagedFile = existsSync(file) && isDamaged(file) ? setAside(file, now(), 'damaged') : null
  takeRestored(file, now())
  // SQLite creates files as the umask has it, and the files beside the database get the database's mode.
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const sqlite = new Sqlite(file)
  try {
    sqlite.pragma('journal_mode = WAL')
    sqlite.pragma('synchronous = FULL')
    sqlite.pragma('foreign_keys = ON')
    sqlite.pragma('trusted_schema = OFF')
    sqlite.pragma('secure_delete = ON')
    migrate(sqlite)
  } catch (error) {
    sqlite.close()
    throw error
  }
  return { db: drizzle(sqlite, { schema: tables }), damagedFile, close: () => sqlite.close() }
}

function migrate(sqlite: Sqlite.Database): void {
  const version = () => sqlite.pragma('user_version', { simple: true }) as number
  if (version() > MIGRATIONS.length) {
    throw new NewerAuthDatabaseError('A newer version of Deckhand has written the accounts (auth.db). Install that version again.')
  }
  for (let next = version(); next < MIGRATIONS.length; next++) {
    sqlite.transaction(() => {
      sqlite.exec(MIGRATIONS[next]!)
      sqlite.pragma(`user_version = ${next + 1}`)
    })()
  }
}

/** Only what SQLite itself calls damage. A locked file or a full disk is another trouble, and passes. */
function isDamaged(file: string): boolean {
  let sqlite: Sqlite.Database | null = null
  try {
    sqlite = new Sqlite(file)
    return sqlite.pragma('quick_check(1)', { simple: true }) !== 'ok'
  } catch (error) {
    return error instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
  } finally {
    sqlite?.close()
  }
}

/**
 * After a restore there is a file beside this one, with the accounts of the backup or empty. They are taken only if there are no
 * accounts here: otherwise former passwords, roles and people would come back. Every step may be repeated after a crash.
 */
function takeRestored(file: string, at: number): void {
  const restored = `${file}.restored`
  if (!existsSync(restored)) return
  if (statSync(restored).size > 0 && !hasAccounts(file) && !isDamaged(restored) && readFrom(restored, hasOurSchema)) {
    if (existsSync(file)) setAside(file, at, 'replaced')
    return renameSync(restored, file)
  }
  if (existsSync(file)) endSessions(file)
  rmSync(restored)
}

function hasAccounts(file: string): boolean {
  return (
    existsSync(file) && readFrom(file, (sqlite) => hasTable(sqlite, 'user') && sqlite.prepare('SELECT 1 FROM user').get() !== undefined)
  )
}

/** A backup may come from anywhere, and triggers in it would run with every sign-in. */
function hasOurSchema(sqlite: Sqlite.Database): boolean {
  const version = sqlite.pragma('user_version', { simple: true }) as number
  if (version < 1 || version > MIGRATIONS.length) return false
  const ours = new Sqlite(':memory:')
  for (const sql of MIGRATIONS.slice(0, version)) ours.exec(sql)
  const schemaOf = (database: Sqlite.Database) =>
    JSON.stringify(database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all())
  const isOurs = schemaOf(sqlite) === schemaOf(ours)
  ours.close()
  return isOurs
}

/** Also invitations: some may have been withdrawn since the backup, and the runner's data no longer matches them. */
function endSessions(file: string): void {
  readFrom(file, (sqlite) => {
    for (const table of ['session', 'verification', 'invitation']) if (hasTable(sqlite, table)) sqlite.exec(`DELETE FROM ${table}`)
  })
}

const hasTable = (sqlite: Sqlite.Database, name: string) =>
  sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined

function readFrom<T>(file: string, read: (sqlite: Sqlite.Database) => T): T {
  const sqlite = new Sqlite(file)
  try {
    return read(sqlite)
  } finally {
    sqlite.close()
  }
}

function setAside(file: string, at: number, why: 'damaged' | 'replaced'): string {
  const aside = `${file}.${why}-${at}`
  for (const part of ['-wal', '-shm', '']) if (existsSync(file + part)) renameSync(file + part, aside + part)
  return aside
}
