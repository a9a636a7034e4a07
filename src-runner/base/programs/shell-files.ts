import { readdir, readFile, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isInside } from '../protected-places/protected-places.ts'

/** What a shell reads before it answers, in the home or in a folder that its variables name. */
const START_UP_FILES = [
  ...['.profile', '.bash_profile', '.bash_login', '.bashrc', '.bash_aliases', '.zshenv', '.zprofile', '.zshrc', '.zlogin', '.kshrc'],
  ...['.mkshrc', '.cshrc', '.tcshrc', '.login', '.config/fish/config.fish', 'fish/config.fish'],
]
const FOLDERS_BY_VARIABLE = ['ZDOTDIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'] as const
const FILES_BY_VARIABLE = ['ENV', 'BASH_ENV'] as const
const LINKING_FOLDERS = ['', '.config']
const OF_SYSTEM = '/etc'
const MAX_FILE_CHARS = 256 * 1024

/** Folders as they are called, and as they really are. */
export type Writers = { home: string; homeName: string; folders: readonly string[]; env: NodeJS.ProcessEnv }

/**
 * Whether an agent may write something that the person's shell reads when it starts: a hidden file of the home, what a link
 * there leads to, or a folder that a start-up file names. Such a shell runs outside of the sandbox, so it is not asked for PATH.
 */
export async function canWriteShellFiles({ home, homeName, folders, env }: Writers): Promise<boolean> {
  const isHidden = (path: string) => isInside(home, path) && relative(home, path).startsWith('.')
  const overlaps = (path: string) => folders.some((folder) => isInside(folder, path) || isInside(path, folder))
  if (folders.some((folder) => isInside(folder, home) || isHidden(folder)) || overlaps(OF_SYSTEM)) return true
  const named = [...FOLDERS_BY_VARIABLE, ...FILES_BY_VARIABLE].map((name) => env[name]).filter((path) => path !== undefined && path !== '')
  // The home holds all folders of agents that lie in it, and is looked at above.
  const reals = await Promise.all(named.map((path) => realpath(path!).catch(() => path!)))
  const links = await Promise.all(LINKING_FOLDERS.map((folder) => hiddenLinksIn(join(home, folder), isHidden)))
  if ([...reals.filter((real) => real !== home), ...links.flat()].some(overlaps)) return true
  const texts = await Promise.all([home, ...reals].flatMap((folder) => START_UP_FILES.map((name) => textOf(join(folder, name)))))
  const spelled = folders.flatMap((folder) => spellingsOf(folder, home, homeName))
  return [...texts, ...(await Promise.all(reals.map(textOf)))].some((text) => spelled.some((spelling) => text.includes(spelling)))
}

async function hiddenLinksIn(folder: string, isHidden: (path: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name)).filter(isHidden) // prettier-ignore
  const targets = await Promise.all(links.map((link) => realpath(link).catch(() => null)))
  return targets.filter((target) => target !== null)
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').then((text) => text.slice(0, MAX_FILE_CHARS), () => '') // prettier-ignore
}

/** How a start-up file may name a folder. */
function spellingsOf(folder: string, home: string, homeName: string): string[] {
  if (!isInside(home, folder)) return [folder]
  const inHome = relative(home, folder)
  return [folder, join(homeName, inHome), ...['~', '$HOME', '${HOME}', '"$HOME"', '"${HOME}"'].map((name) => `${name}/${inHome}`)]
}
