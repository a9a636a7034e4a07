import { access, constants, realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { placeAroundPrograms } from '../../base/protected-places/protected-places.ts'
import { AppError } from '../../kit/errors.ts'
import { say } from '../../kit/said.ts'

/**
 * Refuses what an agent must not or cannot be given: AppError folder_not_usable with a sentence for people. Links are
 * followed first, so that none leads around the rule about the data folder.
 */
export async function requireUsableFolders(folders: readonly string[], dataDir: string): Promise<void> {
  const ownFolder = await realpath(dataDir)
  for (const [index, folder] of folders.entries()) {
    const problem = await problemWith(folder, ownFolder)
    if (problem !== null) throw new AppError('folder_not_usable', problem, { issues: [{ path: `folders.${index}`, message: problem }] })
  }
}

async function problemWith(folder: string, ownFolder: string): Promise<string | null> {
  if (folder.includes('\0') || !isAbsolute(folder)) return say('folder_not_absolute')
  let real: string
  try {
    real = await realpath(folder)
    if (!(await stat(real)).isDirectory()) return say('folder_is_file')
    await access(real, constants.R_OK | constants.X_OK)
  } catch (error) {
    return sentenceFor((error as NodeJS.ErrnoException).code)
  }
  if (isWithin(real, ownFolder)) return say('folder_is_ours')
  if (isWithin(ownFolder, real)) return say('folder_holds_ours')
  const around = await placeAroundPrograms({ path: real, folder: real })
  return around === null ? null : say('folder_protected', { path: around })
}

function sentenceFor(code: string | undefined): string {
  if (code === 'EACCES' || code === 'EPERM') return say('folder_forbidden')
  if (code === 'ENOENT' || code === 'ENOTDIR') return say('folder_missing')
  return say('folder_unusable')
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, resolve(path))
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}
