import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { z } from 'zod'
import { BackupName } from '../../contract/backups.ts'
import type { Replacement } from '../../contract/port.ts'
import { messageOf } from '../../lib/errors.ts'
import { createMessage, writeMessage } from '../../lib/messages.ts'
import { accountsOfBackup, restoredAccountsBeside } from './account-files.ts'
import { BACKUP_FOLDER, listBackups, stampOf } from './backup-files.ts'
import { findBackupDamage } from './backup-check.ts'
import { DatabaseRefused } from './database-errors.ts'
import { syncFile, syncFolder, writeDurably } from './sync-files.ts'

/**
 * `backup`: null for an empty database. `at` is in the names of the files that keep the present data. `isReady`: the new
 * database is whole and only has to change places with the present one.
 */
const Request = z.object({ backup: BackupName.nullable(), at: z.number(), isReady: z.boolean().default(false) })
type Request = z.output<typeof Request>

const requestOf = (file: string) => `${file}.replace.json`

/**
 * Replaces the database that `file` had, which stays beside it as `<file>.replaced-<time>`. Nothing is changed if the backup
 * is not sound: throws DatabaseRefused. A crash at any moment is continued at the next start by `finishReplacement`.
 * `createEmpty` makes an empty database under the name it gets.
 */
export function replaceDatabase(file: string, replacement: Replacement, now: number, createEmpty: (draft: string) => void): void {
  const backup = replacement === 'empty' ? null : soundBackup(backupsOf(file), replacement.backup)
  const request = { backup, at: now, isReady: false }
  writeRequest(file, request)
  carryOut(file, request, createEmpty)
}

/**
 * Continues what a crash interrupted. Every step may be repeated. Throws DatabaseRefused once if the backup was deleted or
 * damaged meanwhile: the next start uses the present data.
 */
export function finishReplacement(file: string, createEmpty: (draft: string) => void): void {
  if (!existsSync(requestOf(file))) return
  const request = readRequest(file)
  if (!request.isReady && request.backup !== null) {
    const damage = damageOfBackup(backupsOf(file), request.backup)
    if (damage !== null) {
      forgetRequest(file)
      throw new DatabaseRefused('database_damaged', createMessage('start_backup_not_restored', { name: request.backup, detail: damage }))
    }
  }
  carryOut(file, request, createEmpty)
}

/** Whether data that was replaced lies beside the database. Until a person deletes it, what only that data refers to is kept. */
export function hasReplacedData(file: string): boolean {
  return readdirSync(dirname(file)).some((name) => name.startsWith(`${basename(file)}.replaced-`))
}

function carryOut(file: string, request: Request, createEmpty: (draft: string) => void): void {
  const draft = `${file}.new`
  if (!request.isReady) {
    if (request.backup === null) createEmpty(draft)
    else {
      copyPaused(join(backupsOf(file), request.backup), draft, request.at)
      offerAccounts(file, join(backupsOf(file), request.backup))
    }
    syncFolder(dirname(file))
    writeRequest(file, { ...request, isReady: true })
  }
  // Without the draft, the new database has its place already.
  if (existsSync(draft)) {
    for (const suffix of ['-wal', '-shm', '']) keepAside(`${file}${suffix}`, `${file}.replaced-${stampOf(request.at)}${suffix}`)
    syncFolder(dirname(file))
    renameSync(draft, file)
    syncFolder(dirname(file))
  }
  forgetRequest(file)
}

const backupsOf = (file: string) => join(dirname(file), BACKUP_FOLDER)

function writeRequest(file: string, request: Request): void {
  writeDurably(requestOf(file), JSON.stringify(request))
}

function forgetRequest(file: string): void {
  rmSync(requestOf(file))
  syncFolder(dirname(file))
}

function readRequest(file: string): Request {
  try {
    return Request.parse(JSON.parse(readFileSync(requestOf(file), 'utf8')))
  } catch (error) {
    const why = createMessage('start_request_unreadable', { file: requestOf(file), detail: messageOf(error) })
    throw new DatabaseRefused('data_dir_unusable', why, error)
  }
}

function keepAside(from: string, to: string): void {
  if (existsSync(from) && !existsSync(to)) renameSync(from, to)
}

/** The newest sound backup, or the one that was asked for. */
function soundBackup(folder: string, wanted: string | null): string {
  const names = wanted === null ? listBackups(folder).map(({ name }) => name) : [wanted]
  const problems: string[] = []
  for (const name of names) {
    const damage = damageOfBackup(folder, name)
    if (damage === null) return name
    problems.push(`${name}: ${damage}`)
  }
  const none = problems.length === 0
  const why = none ? createMessage('start_no_backup', { folder }) : createMessage('start_no_sound_backup', { detail: problems.join('; ') })
  throw new DatabaseRefused('database_damaged', why)
}

function damageOfBackup(folder: string, name: string): string | null {
  return existsSync(join(folder, name)) ? attemptToCheck(join(folder, name)) : 'it is gone'
}

function attemptToCheck(file: string): string | null {
  try {
    return findBackupDamage(file)
  } catch (error) {
    return messageOf(error)
  }
}

/** For the host, see account-files.ts. May be repeated. */
function offerAccounts(file: string, backup: string): void {
  const [kept, offered] = [accountsOfBackup(backup), restoredAccountsBeside(file)]
  const draft = `${offered}.part`
  if (existsSync(kept)) copyFileSync(kept, draft)
  else writeFileSync(draft, '')
  chmodSync(draft, 0o600)
  syncFile(draft)
  renameSync(draft, offered)
  syncFolder(dirname(file))
}

/**
 * Access tokens are revoked in it, because some may have been revoked since. Agents are paused: jobs and schedules of that time
 * would otherwise run again before a person has seen them. Messages that waited are not sent: most of them were sent since. Channels
 * begin at the present, because most messages since were handled.
 */
function copyPaused(backup: string, draft: string, at: number): void {
  for (const rest of [draft, `${draft}-wal`, `${draft}-shm`, `${draft}-journal`]) rmSync(rest, { force: true })
  copyFileSync(backup, draft)
  const connection = new Sqlite(draft)
  try {
    connection.pragma('journal_mode = DELETE')
    connection
      .prepare(
        `INSERT INTO settings (key, value, updated_at) VALUES ('pauseAll', 'true', ?) ON CONFLICT (key) DO UPDATE SET value = 'true'`,
      )
      .run(at)
    const hasTokens = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'api_tokens'").get() !== undefined
    if (hasTokens) connection.prepare('UPDATE api_tokens SET revoked_at = ? WHERE revoked_at IS NULL').run(at)
    connection
      .prepare("UPDATE outbox SET state = 'undeliverable', problem = ?, next_try_at = NULL, failed_at = ? WHERE state = 'pending'")
      .run(writeMessage(createMessage('sent_before_restore')), at)
    connection.prepare('UPDATE channels SET position = NULL').run()
  } finally {
    connection.close()
  }
  syncFile(draft)
}
