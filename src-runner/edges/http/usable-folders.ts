import { access, constants, realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { AppError } from '../../kit/errors.ts'

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
  if (folder.includes('\0') || !isAbsolute(folder)) return 'Give the folder as an absolute path.'
  let real: string
  try {
    real = await realpath(folder)
    if (!(await stat(real)).isDirectory()) return 'This is a file. Choose the folder it is in.'
    await access(real, constants.R_OK | constants.X_OK)
  } catch (error) {
    return sentenceFor((error as NodeJS.ErrnoException).code)
  }
  if (isWithin(real, ownFolder)) return "This is Deckhand's own data folder. Agents never get access to it."
  if (isWithin(ownFolder, real)) return "Deckhand's own data lies inside this folder. Choose a folder below it that does not hold the data."
  return null
}

function sentenceFor(code: string | undefined): string {
  if (code === 'EACCES' || code === 'EPERM') return 'You are not allowed to read this folder.'
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'There is no such folder.'
  return 'This folder cannot be used.'
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, resolve(path))
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}
