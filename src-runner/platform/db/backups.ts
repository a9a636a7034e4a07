import { constants, existsSync } from 'node:fs'
import { access, copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { Backup } from '../../contract/backups.ts'
import { messageOf } from '../../lib/errors.ts'
import { accountsOfBackup, findAccounts } from './account-files.ts'
import { BACKUP_FOLDER, backupNameOf, listBackups, ownFolderName, pruneBackups } from './backup-files.ts'
import type { BackupThreadData } from './backup-thread.ts'
import { syncFile, syncFolder } from './sync-files.ts'
import { createThreads } from './threads.ts'

export type Backups = {
  readonly folder: string
  list(): Backup[]
  /** Makes a backup and checks it; callers that come while one is made get that one. Rejects if it is not sound. */
  make(now: number): Promise<Backup>
  /**
   * Copies a backup to another folder, checks the copy, and keeps as many there as here. There it is in a folder of this
   * installation, because several may share the other one. Returns that folder.
   */
  copyTo(shared: string, backup: Backup): Promise<string>
  isCopied(shared: string, backup: Backup): Promise<boolean>
  stop(): void
}

/** Backups of the database in `file`, made in a thread while the database is in use. `createdAt`: when the database was. */
export function createBackups(file: string, createdAt: () => number): Backups {
  const folder = join(dirname(file), BACKUP_FOLDER)
  const threads = createThreads()
  const runThread = (data: BackupThreadData) => threads.run<void>('backup-thread', data)
  let making: Promise<Backup> | null = null

  async function make(now: number): Promise<Backup> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const name = backupNameOf(now)
    // Damaged accounts must not keep the database from being backed up.
    const failed = await copyAccounts(name).catch((error: unknown) => error as Error)
    await finish(folder, name, (draft) => runThread({ kind: 'database', source: file, target: draft }))
    if (failed instanceof Error) throw new Error(`the accounts could not be backed up: ${messageOf(failed)}`, { cause: failed })
    return listBackups(folder).find((backup) => backup.name === name)!
  }

  /** Before the backup itself, so that a backup that is listed has its accounts. */
  async function copyAccounts(name: string): Promise<void> {
    const source = findAccounts(file)
    if (source === null) return
    await finishFile(folder, accountsOfBackup(name), (draft) => runThread({ kind: 'accounts', source, target: draft }))
  }

  async function finish(target: string, name: string, write: (draft: string) => Promise<void>): Promise<void> {
    await finishFile(target, name, write)
    pruneBackups(target, name, createdAt())
  }

  async function copyTo(shared: string, { name }: Backup): Promise<string> {
    const target = join(shared, ownFolderName(folder, hostname()))
    // Not recursive: a folder that is gone, such as an external disk, is not created again.
    await mkdir(target, { mode: 0o700 }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    })
    const copied = (kind: BackupThreadData['kind'], from: string) => async (draft: string) => {
      await copyFile(join(folder, from), draft, constants.COPYFILE_FICLONE)
      syncFile(draft)
      await runThread({ kind, source: null, target: draft })
    }
    const accounts = accountsOfBackup(name)
    if (existsSync(join(folder, accounts))) await finishFile(target, accounts, copied('accounts', accounts))
    await finish(target, name, copied('database', name))
    return target
  }

  function isCopied(shared: string, { name }: Backup): Promise<boolean> {
    return access(join(shared, ownFolderName(folder, hostname()), name)).then(
      () => true,
      () => false,
    )
  }

  return {
    folder,
    list: () => listBackups(folder),
    make: (now) => (making ??= make(now).finally(() => (making = null))),
    copyTo,
    isCopied,
    stop: threads.stop,
  }
}

/** A file with the name of a backup is whole: it is written under another name, which is removed on failure. */
async function finishFile(folder: string, name: string, write: (draft: string) => Promise<void>): Promise<void> {
  const draft = join(folder, `${name}.part`)
  try {
    await write(draft)
    await rename(draft, join(folder, name))
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  syncFolder(folder)
}
