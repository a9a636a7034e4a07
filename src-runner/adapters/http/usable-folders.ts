import type { Message } from '../../contract/messages.ts'
import { access, constants, realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { isInside, placeAroundPrograms } from '../../platform/protected-places/protected-places.ts'
import { AppError, issueAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'

/** Throws AppError folder_not_usable for a folder that an agent may not or cannot use. Links are resolved first. */
export async function requireUsableFolders(folders: readonly string[], dataDir: string): Promise<void> {
  const ownFolder = await realpath(dataDir)
  for (const [index, folder] of folders.entries()) {
    const problem = await problemWith(folder, ownFolder)
    if (problem !== null) throw new AppError('folder_not_usable', problem, { issues: [issueAt(`folders.${index}`, problem)] })
  }
}

async function problemWith(folder: string, ownFolder: string): Promise<Message | null> {
  if (folder.includes('\0') || !isAbsolute(folder)) return createMessage('folder_relative')
  let real: string
  try {
    real = await realpath(folder)
    if (!(await stat(real)).isDirectory()) return createMessage('folder_is_file')
    await access(real, constants.R_OK | constants.X_OK)
  } catch (error) {
    return problemFor((error as NodeJS.ErrnoException).code)
  }
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
