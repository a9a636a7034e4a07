import type { Message } from '../../contract/messages.ts'
import { access, constants, realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { isInside } from '../../platform/protected-places/places-by-path.ts'
import { placeAroundPrograms } from '../../platform/protected-places/protected-places.ts'
import { AppError, issueAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'

/** Throws AppError folder_not_usable for a folder that an agent may not or cannot use. Links are resolved first. */
export async function requireUsableFolders(folders: readonly string[], own: OwnFolders): Promise<void> {
  for (const [index, folder] of folders.entries()) {
    const problem = await problemForAgents(folder, own)
    if (problem !== null) throw notUsable(index, problem)
  }
}

/** The problems of folders that were on another computer. No agent may have a folder with another problem. */
const NOT_HERE = ['folder_missing', 'folder_relative', 'folder_is_file', 'folder_forbidden', 'folder_unusable']

/** Returns the folders that cannot be used on this computer. Throws AppError folder_not_usable for one that no agent may use. */
export async function listFoldersNotHere(folders: readonly string[], own: OwnFolders): Promise<string[]> {
  const notHere: string[] = []
  for (const [index, folder] of folders.entries()) {
    const problem = await problemForAgents(folder, own)
    if (problem === null) continue
    if (!NOT_HERE.includes(problem.code)) throw notUsable(index, problem)
    notHere.push(folder)
  }
  return notHere
}

async function problemForAgents(folder: string, { dataDir, backupFolder }: OwnFolders): Promise<Message | null> {
  const problem = await problemWith(folder, dataDir)
  if (problem !== null) return problem
  const holdsBackups = backupFolder !== null && (await isSameOrInside(backupFolder, folder))
  return holdsBackups ? createMessage('folder_has_backups') : null
}

function notUsable(index: number, problem: Message): AppError {
  return new AppError('folder_not_usable', problem, { issues: [issueAt(`folders.${index}`, problem)] })
}

export type OwnFolders = { dataDir: string; backupFolder: string | null }

/** Refuses a folder for backups that cannot be written, or that an agent can read or change: AppError folder_not_usable. */
export async function requireBackupFolder(folder: string, dataDir: string, agentFolders: readonly string[]): Promise<void> {
  const problem = (await problemWith(folder, dataDir)) ?? (await problemWithBackups(folder, agentFolders))
  if (problem !== null) throw new AppError('folder_not_usable', problem, { issues: [issueAt('backupFolder', problem)] })
}

async function problemWithBackups(folder: string, agentFolders: readonly string[]): Promise<Message | null> {
  for (const agentFolder of agentFolders) if (await isSameOrInside(folder, agentFolder)) return createMessage('folder_is_agents')
  return access(folder, constants.W_OK).then(
    () => null,
    () => createMessage('folder_read_only'),
  )
}

/** Links are followed. A folder that is gone holds nothing. */
async function isSameOrInside(folder: string, around: string): Promise<boolean> {
  const [real, realAround] = await Promise.all([folder, around].map((path) => realpath(path).catch(() => null)))
  return real != null && realAround != null && isInside(realAround, real)
}

async function problemWith(folder: string, dataDir: string): Promise<Message | null> {
  if (folder.includes('\0') || !isAbsolute(folder)) return createMessage('folder_relative')
  let real: string
  try {
    real = await realpath(folder)
    if (!(await stat(real)).isDirectory()) return createMessage('folder_is_file')
    await access(real, constants.R_OK | constants.X_OK)
  } catch (error) {
    return problemFor((error as NodeJS.ErrnoException).code)
  }
  const ownFolder = await realpath(dataDir)
  if (isInside(ownFolder, real)) return createMessage('folder_is_ours')
  if (isInside(real, ownFolder)) return createMessage('folder_holds_ours')
  const around = await placeAroundPrograms({ path: real, folder: real })
  return around === null ? null : createMessage('folder_protected', { path: around })
}

function problemFor(code: string | undefined): Message {
  if (code === 'EACCES' || code === 'EPERM') return createMessage('folder_forbidden')
  if (code === 'ENOENT' || code === 'ENOTDIR') return createMessage('folder_missing')
  return createMessage('folder_unusable')
}
