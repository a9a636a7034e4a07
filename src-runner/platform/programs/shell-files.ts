import { readFile, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isInside, linksIn } from '../protected-places/protected-places.ts'

const STARTUP_FILES = [
  ...['.profile', '.bash_profile', '.bash_login', '.bashrc', '.bash_aliases', '.zshenv', '.zprofile', '.zshrc', '.zlogin', '.kshrc'],
  ...['.mkshrc', '.cshrc', '.tcshrc', '.login', '.config/fish/config.fish', 'fish/config.fish'],
]
/** Variables that name a folder of start-up files, or one such file. */
const VARIABLES = ['ZDOTDIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'ENV', 'BASH_ENV']
const MAX_FILE_CHARS = 256 * 1024

/** `folders`: where agents write, by name and by real path. */
export type Writers = { home: string; homeName: string; folders: readonly string[]; env: NodeJS.ProcessEnv }

/**
 * Whether an agent can write something that the person's shell reads when it starts: a hidden file of the home, the target
 * of a link there, or a folder that a start-up file names. That shell would run it outside the sandbox, so it is not started.
 */
export async function canWriteShellFiles({ home, homeName, folders, env }: Writers): Promise<boolean> {
  const isHidden = (path: string) => isInside(home, path) && relative(home, path).startsWith('.')
  const overlaps = (path: string) => folders.some((folder) => isInside(folder, path) || isInside(path, folder))
  if (folders.some((folder) => isInside(folder, home) || isHidden(folder)) || overlaps('/etc')) return true
  const named = await Promise.all(VARIABLES.map((name) => env[name] || home).map((path) => realpath(path).catch(() => path)))
  const links = (await Promise.all(['', '.config'].map((folder) => linksIn(join(home, folder))))).flat()
  const targets = links.filter(({ link }) => isHidden(link)).map(({ target }) => target)
  if ([...named.filter((path) => path !== home), ...targets].some(overlaps)) return true
  const files = [...new Set([home, ...named])].flatMap((place) => [place, ...STARTUP_FILES.map((name) => join(place, name))])
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))
  const spellings = folders.flatMap((folder) => spellingsOf(folder, home, homeName))
  return texts.some((text) => spellings.some((spelling) => text.slice(0, MAX_FILE_CHARS).includes(spelling)))
}

/** How a start-up file may write the name of a folder. */
function spellingsOf(folder: string, home: string, homeName: string): string[] {
  if (!isInside(home, folder)) return [folder]
  const inHome = relative(home, folder)
  return [folder, join(homeName, inHome), ...['~', '$HOME', '${HOME}', '"$HOME"', '"${HOME}"'].map((name) => `${name}/${inHome}`)]
}
