import { readdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { isInside } from '../protected-places/places-by-path.ts'
import { PROGRAM_FOLDERS, SHIM_FOLDERS } from './known-locations.ts'

const MAX_FOLDERS = 100
const MAX_FOLDER_CHARS = 4_096

/**
 * The folders of PATH and the well-known ones: the person's before the system's. An app that was started from a launcher has only
 * the short PATH of the desktop. The person's shell is not asked, because agents may write what it reads.
 */
export async function listProgramFolders({ path = process.env['PATH'] ?? '', home = homedir() } = {}): Promise<string[]> {
  const shims = SHIM_FOLDERS.map((folder) => join(home, folder))
  const named = path.split(delimiter).filter((folder) => folder !== '' && folder.length <= MAX_FOLDER_CHARS && !/\p{Cc}/u.test(folder))
  const given = [...new Set(named)].filter((folder) => !shims.includes(folder)).slice(0, MAX_FOLDERS)
  const partsOf = (pattern: string) => pattern.split('/').filter((part) => part !== '')
  const known = await Promise.all(PROGRAM_FOLDERS.map((pattern) => expand(pattern.startsWith('/') ? '/' : home, partsOf(pattern))))
  return [...new Set([...given.filter((folder) => isInside(home, folder)), ...known.flat(), ...given])]
}

async function expand(folder: string, [part, ...rest]: string[]): Promise<string[]> {
  if (part === undefined) return [folder]
  if (part !== '*' && part !== '^') return expand(join(folder, part), rest)
  const names = await readdir(folder).catch((): string[] => [])
  const versions = names.filter((name) => /^v?\d/.test(name)).toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
  const chosen = part === '*' ? names : versions.slice(-1)
  return (await Promise.all(chosen.map((name) => expand(join(folder, name), rest)))).flat()
}
