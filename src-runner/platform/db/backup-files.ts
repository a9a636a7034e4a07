import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BackupName, type Backup } from '../../contract/backups.ts'
import { accountsOfBackup } from './account-files.ts'
import { writeDurably } from './sync-files.ts'

const BACKUPS_KEPT = 7
/** Nobody waits this long for a backup, so what is unfinished then was left by a crash. */
const UNFINISHED_MS = 24 * 3_600_000

/** The backups of a database are in a folder beside it. */
export const BACKUP_FOLDER = 'backups'

/** `deckhand-20261123T023000Z.db` */
export function backupNameOf(at: number): string {
  return `deckhand-${stampOf(at)}.db`
}

/** `20261123T023000Z`: a time for names of files, in UTC. */
export function stampOf(at: number): string {
  return new Date(at).toISOString().replace(/[-:]|\.\d+/g, '')
}

/** Lists the backups in a folder, the newest first. Other files are ignored, and a missing folder has none. */
export function listBackups(folder: string): Backup[] {
  const backups = namesIn(folder).flatMap((name): Backup[] => {
    const bytes = statSync(join(folder, name), { throwIfNoEntry: false })?.size
    return bytes === undefined ? [] : [{ name, at: timeOf(name), bytes }]
  })
  return backups.sort((a, b) => b.at - a.at)
}

const accountNamesIn = (folder: string) =>
  readdirSync(folder).filter((name) => name.endsWith(accountsOfBackup('')) && isBackupName(name.slice(0, -accountsOfBackup('').length)))

/** Of backups and their accounts, with what SQLite keeps beside them. */
const draftNamesIn = (folder: string) =>
  readdirSync(folder).filter((name) => isBackupName(/^(.*\.db)(?:\.accounts)?\.part(?:-[a-z]+)?$/.exec(name)?.[1] ?? ''))

const isBackupName = (name: string) => BackupName.safeParse(name).success

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isBackupName)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function timeOf(name: string): number {
  return Date.parse(name.replace(/^\D*(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6Z'))
}

/**
 * Removes the oldest backups, but not `made`: while the clock is behind, the one that was just made looks like the oldest. The last one
 * from before the database was created stays, too: somebody started empty or reset Deckhand, and has nothing else of that data.
 */
export function pruneBackups(folder: string, made: string, createdAt: number): void {
  const others = listBackups(folder).filter(({ name }) => name !== made)
  const former = others.find(({ at }) => at < createdAt)
  for (const old of others.slice(BACKUPS_KEPT - 1)) if (old !== former) rmSync(join(folder, old.name), { force: true })
  // The accounts go after their backup. A crash may have left some without one.
  const kept = new Set(listBackups(folder).map(({ name }) => accountsOfBackup(name)))
  for (const name of accountNamesIn(folder)) if (!kept.has(name)) rmSync(join(folder, name), { force: true })
  for (const name of draftNamesIn(folder)) {
    if (Math.abs(timeOf(made) - timeOf(name)) > UNFINISHED_MS) rmSync(join(folder, name), { force: true })
  }
}

/**
 * `deckhand-<computer>-<8 hex digits>`: this installation's folder among others. The random part is kept beside the backups.
 * With the computer's name, a data folder that was copied to another computer does not share it.
 */
export function ownFolderName(folder: string, computer: string): string {
  const file = join(folder, 'installation')
  if (!existsSync(file)) writeDurably(file, randomBytes(4).toString('hex'))
  const id = readFileSync(file, 'utf8').trim()
  if (!/^[0-9a-f]{8}$/.test(id)) throw new Error(`${file} is damaged. Delete it to start a new folder of copies.`)
  return `deckhand-${computer.replace(/[^\w-]+/g, '-').slice(0, 60)}-${id}`
}
