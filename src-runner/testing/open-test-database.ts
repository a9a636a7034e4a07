import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Database } from '../platform/db/database.ts'
import { openDatabase } from '../platform/db/open-database.ts'
import { isMarkedUsed } from '../platform/db/used-marker.ts'

type Options = Parameters<typeof openDatabase>[0]

/** Keyed by the time of creation, which a new database records. */
const templates = new Map<number | 'now', Buffer>()

const REAL_CLOCK_WITHIN_MS = 60_000

/**
 * `openDatabase`, but a new file is a copy of a migrated one, which takes 1 ms instead of 40, and commits do not wait for the
 * disk. A killed process loses nothing by that, only a power cut would. Without `keepsBallast`, no room is reserved for a full
 * disk, because a clock that is moved by hand would write these 16 MB in most tests. Tests of the database use `openDatabase`.
 */
export function openTestDatabase(options: Options): Database {
  const { file } = options
  if (!existsSync(file) && !isMarkedUsed(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, templateFor(options), { mode: 0o600 })
  }
  const db = openDatabase({ keepsBallast: false, ...options })
  db.connection.pragma('synchronous = OFF')
  return db
}

function templateFor({ clock }: Options): Buffer {
  const now = clock.now()
  const key = Math.abs(now - Date.now()) < REAL_CLOCK_WITHIN_MS ? 'now' : now
  let template = templates.get(key)
  if (template === undefined) templates.set(key, (template = migrateNewFile(clock)))
  return template
}

function migrateNewFile(clock: Options['clock']): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-template-'))
  try {
    const file = join(folder, 'deckhand.db')
    openDatabase({ file, clock, keepsBallast: false }).close()
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
