import { createBackups } from '../platform/db/backups.ts'
import type { Services } from '../platform/services.ts'
import type { Backup, BackupState } from '../contract/backups.ts'
import type { Message } from '../contract/messages.ts'
import { AppError, messageOf } from '../lib/errors.ts'
import { createMessage } from '../lib/messages.ts'
import { findDefaultEntity } from '../domain/entities/entities.ts'
import { AFTER_START_MS } from '../domain/settings/periodic-work.ts'
import { readSettings } from '../domain/settings/settings.ts'
import type { SkillFolders } from '../domain/skills/skill-folders.ts'
import { copySkills, listDigests, listSkillsOfBackup } from './skill-backups.ts'

export type DailyBackup = {
  start(): void
  stop(): void
  read(): BackupState
  /** Makes one now. Throws AppError backup_failed. A copy that fails, such as to a disk that is away, is told by `read` alone. */
  make(): Promise<Backup>
}

const LOOK_EVERY_MS = 60_000
const DAY_MS = 24 * 3_600_000
const HOUR_MS = 3_600_000

/** Backs the database up once a day, when the app is idle or an hour later, also if it never runs for long, and copies the backup to the person's folder. */
export function createDailyBackup({
  db,
  hub,
  clock,
  log,
  skillFolders,
}: Pick<Services, 'db' | 'hub' | 'clock' | 'log'> & {
  skillFolders: SkillFolders
}): DailyBackup {
  const backups = createBackups(db.file, () => findDefaultEntity(db).createdAt)
  const stops: (() => void)[] = []
  let lastProblem: Message | null = null
  /** In running time. The backups tell whether one is due. */
  let earliestAt = clock.monotonic() + AFTER_START_MS
  let isIdle = false

  function look(): void {
    const wasIdle = isIdle
    isIdle = true
    const overdueMs = clock.monotonic() - earliestAt
    if (overdueMs < 0 || (!wasIdle && overdueMs < HOUR_MS)) return
    // Also the time until the next try after a failure.
    earliestAt = clock.monotonic() + HOUR_MS
    if (db.trouble() !== null) return
    // What failed is in the log and in the state.
    if (hasBackupOfToday()) void copyAgain()
    else make().catch(() => {})
  }

  /** A backup from the future was made while the clock was wrong. */
  function hasBackupOfToday(): boolean {
    const now = clock.now()
    return backups.list().some(({ at }) => at <= now && at > now - DAY_MS)
  }

  async function make(): Promise<Backup> {
    const failing = (error: unknown) => fail(createMessage('backup_failed', { why: messageOf(error) }), error)
    // Before the database, so that a backup that is listed has its skills. What keeps them from being copied does not keep it from
    // being made.
    const copied = await copySkills(listDigests(db), skillFolders, backups.folder).catch((error: unknown) => error as Error)
    const backup = await backups.make(clock.now()).catch(failing)
    if (copied instanceof Error) failing(copied)
    await keepSkills(backup, backups.folder).catch(failing)
    log.info({ backup }, 'the database was backed up')
    lastProblem = await copy(backup)
    return backup
  }

  /** The person's disk may have been away when the newest backup was made. */
  async function copyAgain(): Promise<void> {
    const { backupFolder: folder } = readSettings(db)
    const newest = backups.list()[0]
    if (folder !== null && newest !== undefined && !(await backups.isCopied(folder, newest))) lastProblem = await copy(newest)
  }

  /** To the person's folder. Resolves with what went wrong, or null. */
  async function copy(backup: Backup): Promise<Message | null> {
    const { backupFolder: folder } = readSettings(db)
    if (folder === null) return null
    try {
      await keepSkills(backup, await backups.copyTo(folder, backup))
      return null
    } catch (error) {
      log.warn({ err: error, folder }, `the backup was not copied: ${messageOf(error)}`)
      return createMessage('backup_copy_failed', { folder, why: messageOf(error) })
    }
  }

  /** Also those that were installed while the backup was made. */
  async function keepSkills({ name }: Backup, folder: string): Promise<void> {
    const digests = listDigests(db)
    await copySkills(digests, skillFolders, folder)
    await listSkillsOfBackup(name, digests, folder)
  }

  function fail(problem: Message, error: unknown): never {
    lastProblem = problem
    log.warn({ err: error }, `the database was not backed up: ${messageOf(error)}`)
    throw new AppError('backup_failed', problem, { cause: error })
  }

  return {
    start: () =>
      void stops.push(
        clock.every(LOOK_EVERY_MS, look),
        hub.subscribe(() => void (isIdle = false)),
      ),
    stop() {
      for (const stop of stops.splice(0)) stop()
      backups.stop()
    },
    read: () => ({ folder: backups.folder, backups: backups.list(), lastProblem }),
    make,
  }
}
