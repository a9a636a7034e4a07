import { constants, type BigIntStats } from 'node:fs'
import { lstat, open, readlink, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isInside } from '../protected-places/protected-places.ts'
import { BoxFailed } from './box-types.ts'
import type { HiddenPlace } from './bubblewrap-args.ts'

/** From <fcntl.h>; Node has no name for it. */
const O_PATH = 0o10_000_000

/** Neither they nor anything in them can be opened to a box: writing there is writing to the system itself. */
const SYSTEM_FOLDERS = [
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/proc',
  '/run/user',
  '/sbin',
  '/sys',
  '/usr',
]
/** Folders in them are people's own; they themselves hold everybody's, and sockets of running programs. */
const SHARED_FOLDERS = [
  '/',
  '/home',
  '/media',
  '/mnt',
  '/opt',
  '/run',
  '/srv',
  '/tmp',
  '/var',
  '/var/tmp',
  '/Users',
  '/Volumes',
  '/private',
  '/private/tmp',
]

/** Why a folder cannot be opened to a box, as a sentence; null when it can. */
export function refuseFolder(path: string): string | null {
  const system = SYSTEM_FOLDERS.find((folder) => isInside(folder, path))
  if (system !== undefined) return `${path} belongs to the operating system (${system}).`
  return SHARED_FOLDERS.includes(path) ? `${path} is shared by everything on this machine: name a folder inside it.` : null
}

/** Device and file number, which stay the same inside and outside of the box. */
export type FolderIdentity = { path: string; identity: string }

/**
 * Proves that `path` is a folder and that no part of it is a link, and tells which folder that is. Whoever could write
 * to its parents may swap it for a link a moment later; the box therefore looks again, from the inside, before it
 * starts the command.
 */
export async function identifyFolder(path: string): Promise<FolderIdentity> {
  const refusal = refuseFolder(path)
  if (refusal !== null) throw new BoxFailed(`The box cannot be opened to this folder: ${refusal}`)
  if (process.platform !== 'linux') {
    if ((await realpath(path)) !== path) throw changed(path)
    return { path, identity: identityOf(await lstat(path, { bigint: true })) }
  }
  const handle = await open(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch((thrown: NodeJS.ErrnoException) => {
    throw thrown.code === 'ENOENT' ? new BoxFailed(`The folder ${path} does not exist.`) : changed(path)
  })
  try {
    if ((await readlink(`/proc/self/fd/${handle.fd}`)) !== path) throw changed(path)
    return { path, identity: identityOf(await handle.stat({ bigint: true })) }
  } finally {
    await handle.close()
  }
}

function changed(path: string): BoxFailed {
  return new BoxFailed(`${path} is not a plain folder, or a part of its path is a link.`)
}

function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/** Places in a home folder that hold keys and passwords, hidden also where a person opened the whole home to an agent. */
export const HOME_SECRETS = [
  '.aws',
  '.azure',
  '.bash_history',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.config/chromium',
  '.config/gcloud',
  '.config/gh',
  '.config/glab-cli',
  '.config/google-chrome',
  '.config/hub',
  '.config/op',
  '.docker',
  '.gem/credentials',
  '.git-credentials',
  '.gnupg',
  '.kube',
  '.local/share/keyrings',
  '.local/share/uv/credentials',
  '.m2/settings.xml',
  '.mozilla',
  '.netrc',
  '.npmrc',
  '.password-store',
  '.pki',
  '.pypirc',
  '.ssh',
  '.terraform.d/credentials.tfrc.json',
  '.zsh_history',
  'Library/Cookies',
  'Library/Keychains',
]

/** Files that run outside of the box when the person next opens a terminal or uses git. */
const HOME_STARTUP = [
  '.bash_profile',
  '.bashrc',
  '.config/autostart',
  '.config/systemd',
  '.gitconfig',
  '.profile',
  '.zprofile',
  '.zshenv',
  '.zshrc',
  'Library/LaunchAgents',
]
const GIT_STARTUP = ['.git/config', '.git/hooks']

export type ProtectedPlaces = { hidden: HiddenPlace[]; frozen: FolderIdentity[] }

/** What to hide and what to freeze in the folders of a box: only what is there and is no link. */
export async function protectedPlaces(folders: readonly string[], closed: readonly string[], home = homedir()): Promise<ProtectedPlaces> {
  const hidden = new Map<string, HiddenPlace>()
  const frozen = new Map<string, FolderIdentity>()
  const inFolders = (path: string) => folders.some((folder) => folder !== path && isInside(folder, path))
  for (const path of [...closed, ...HOME_SECRETS.map((name) => join(home, name))]) {
    const real = await realpath(path).catch(() => null)
    if (real === null) continue
    if (folders.some((folder) => isInside(real, folder))) throw new BoxFailed(`${real} is closed to agents.`)
    const stats = inFolders(real) ? await lstat(real).catch(() => null) : null
    if (stats !== null) hidden.set(real, { path: real, kind: stats.isDirectory() ? 'folder' : 'file' })
  }
  for (const path of [
    ...HOME_STARTUP.map((name) => join(home, name)),
    ...folders.flatMap((folder) => GIT_STARTUP.map((name) => join(folder, name))),
  ]) {
    const real = await realpath(path).catch(() => null)
    if (real !== path || !inFolders(real) || [...hidden.keys()].some((place) => isInside(place, real))) continue
    const stats = await lstat(real, { bigint: true }).catch(() => null)
    if (stats?.isDirectory() || stats?.isFile()) frozen.set(real, { path: real, identity: identityOf(stats) })
  }
  return { hidden: [...hidden.values()], frozen: [...frozen.values()] }
}

/** Leaves out what lies inside another one. */
export function outermost(folders: readonly string[]): string[] {
  const unique = [...new Set(folders)]
  return unique.filter((folder) => !unique.some((other) => other !== folder && isInside(other, folder)))
}
