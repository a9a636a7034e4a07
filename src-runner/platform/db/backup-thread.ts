import { closeSync, openSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { messageOf } from '../../lib/errors.ts'
import { findBackupDamage } from './backup-check.ts'
import { syncFile } from './sync-files.ts'

/** `source`: null if `target` only has to be checked. */
export type BackupThreadData = { source: string | null; target: string }
/** Why there is no sound backup. null: there is one. */
export type BackupAnswer = { problem: string | null }

const ALL_PAGES = 2 ** 31 - 1

async function copy(source: string, target: string): Promise<void> {
  // The mode is set before SQLite writes anything, because only the owner may read the file.
  closeSync(openSync(target, 'w', 0o600))
  const connection = new Sqlite(source, { readonly: true, fileMustExist: true, timeout: 10_000 })
  try {
    // In one step, so that a write to the database does not make the copy start again.
    await connection.backup(target, { progress: () => ALL_PAGES })
  } finally {
    connection.close()
  }
  // One file, also when it is read later: without a log beside it.
  const copied = new Sqlite(target)
  copied.pragma('journal_mode = DELETE')
  copied.close()
  syncFile(target)
}

const { source, target } = workerData as BackupThreadData
let problem: string | null
try {
  if (source !== null) await copy(source, target)
  problem = findBackupDamage(target)
} catch (error) {
  problem = messageOf(error)
}
parentPort!.postMessage({ problem } satisfies BackupAnswer)
