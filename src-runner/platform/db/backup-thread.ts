import { closeSync, openSync } from 'node:fs'
import { workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { findAccountsDamage, findBackupDamage } from './backup-check.ts'
import { syncFile } from './sync-files.ts'
import { answerWith, pauseWork } from './threads.ts'

/** `source`: null if `target` only has to be checked. */
export type BackupThreadData = { kind: 'database' | 'accounts'; source: string | null; target: string }

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

/** Sessions, invitations and codes: a restore must not bring back what was ended since. */
const SHORT_LIVED = ['session', 'verification', 'invitation', 'guess']

function keepAccountsOnly(file: string): void {
  const connection = new Sqlite(file)
  try {
    const tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[]
    for (const table of SHORT_LIVED.filter((name) => tables.includes(name))) connection.exec(`DELETE FROM "${table}"`)
    // Nothing of the deleted rows stays in free pages.
    connection.exec('VACUUM')
  } finally {
    connection.close()
  }
  syncFile(file)
}

const { kind, source, target } = workerData as BackupThreadData
await answerWith(async () => {
  if (source !== null) {
    await copy(source, target)
    await pauseWork(0)
    if (kind === 'accounts') keepAccountsOnly(target)
  }
  const damage = kind === 'accounts' ? findAccountsDamage(target) : findBackupDamage(target)
  if (damage !== null) throw new Error(damage)
})
