import { lstat, realpath, stat } from 'node:fs/promises'
import { findProtected, findSockets, identityOf, type FoundPlace, type FoundPlaces } from '../protected-places/find-protected.ts'
import { withPlainFolder } from '../protected-places/plain-folder.ts'
import { isInside, secretPlaceOf, secretsOfHome } from '../protected-places/places-by-path.ts'
import { placeAroundPrograms } from '../protected-places/protected-places.ts'
import { setAsideWhatAppeared, type SetAside } from '../protected-places/set-aside.ts'
import { SandboxFailed, type HiddenPlace, type SandboxOptions } from './sandbox-types.ts'

/** Nothing in these can be opened to a sandbox. */
const SYSTEM_FOLDERS = '/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /run/user /sbin /sys /usr'.split(' ')
/** Only folders inside these can be opened: they hold everybody's files and sockets of running programs. */
const SHARED_FOLDERS = '/ /home /media /mnt /opt /run /srv /tmp /var /var/tmp /Users /Volumes /private /private/tmp'.split(' ')

/** Why a folder cannot be opened to a sandbox; null: it can. */
export function refuseFolder(path: string): string | null {
  const system = SYSTEM_FOLDERS.find((folder) => isInside(folder, path))
  if (system !== undefined) return `${path} belongs to the operating system (${system}).`
  return SHARED_FOLDERS.includes(path) ? `${path} is shared by everything on this machine: name a folder inside it.` : null
}

/** Device and inode number, which are the same inside and outside of the sandbox. */
export type FolderIdentity = { path: string; identity: string }

/**
 * Checks that `path` is a folder and no part of it is a link, and returns which folder it is. A link may replace it a moment
 * later, so the sandbox compares again from the inside before it starts the command.
 */
export async function identifyFolder(path: string): Promise<FolderIdentity> {
  const refusal = refuseFolder(path)
  if (refusal !== null) throw new SandboxFailed(`The sandbox cannot be opened to this folder: ${refusal}`)
  try {
    return await withPlainFolder(path, async (real) => ({ path, identity: identityOf(await stat(real, { bigint: true })) }))
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === 'ENOENT'
    throw new SandboxFailed(
      isMissing ? `The folder ${path} does not exist.` : `${path} is not a plain folder, or a part of its path is a link.`,
    )
  }
}

const MAX_ENTRIES = 200_000
const MAX_FROZEN = 300

/**
 * Renames what a command put where files run by themselves. `isOver`: it has ended; before that, its own folders are left out.
 * `hasRun`: false if nothing of it has run since before the last recheck; then what appeared is not its work. A folder that could
 * not be checked is reported as one that could not be renamed.
 */
export type Recheck = (isOver: boolean, hasRun: () => boolean) => Promise<SetAside[]>

export type GuardedFolders = {
  hidden: HiddenPlace[]
  /** Code places in writable folders. */
  frozen: FolderIdentity[]
  /** Cannot be moved away, but their content can change. */
  pinned: string[]
  recheck: Recheck
  /** What `recheck` compares with. */
  before: readonly FoundPlaces[]
}

/**
 * What to hide and to freeze in the folders of a sandbox. `reviewed`, `own`: see SandboxOptions. Throws SandboxFailed for a folder in a
 * protected place, and for one that is too large.
 */
export async function guardFolders(
  {
    writable,
    readable,
    reviewed = [],
    own = [],
    separatesErrors: isTalkedTo = false,
  }: Required<Pick<SandboxOptions, 'writable' | 'readable'>> & Pick<SandboxOptions, 'reviewed' | 'own' | 'separatesErrors'>,
  closed: readonly string[],
): Promise<GuardedFolders> {
  for (const folder of writable) {
    const around = await placeAroundPrograms({ path: folder, folder })
    if (around !== null)
      throw new SandboxFailed(
        `The sandbox cannot be opened to ${folder}: it lies in ${around}, where files run by themselves or keys are kept.`,
      )
  }
  const all = await Promise.all(
    writable.map((folder) => findProtected(folder, MAX_ENTRIES, { onlyRepositories: reviewed.includes(folder) })),
  )
  const read = await Promise.all(readable.map((folder) => findSockets(folder, MAX_ENTRIES)))
  const cut = [...all, ...read].find(({ isCut }) => isCut)
  if (cut !== undefined) throw new SandboxFailed(`${cut.folder} holds too many files to be guarded. Run the command in a folder inside it.`)
  const places = all.flatMap((found) => [...found.places.values()])

  const others = new Map<string, string>()
  const folders = [...writable, ...readable]
  // A program that was ended leaves sockets in its own folder, and must be able to make them again.
  const isMade = ({ is, path }: FoundPlace) => is === 'socket' && own.some((folder) => isInside(folder, path))
  const shown = [...places.filter((place) => !isMade(place)), ...read.flatMap((found) => [...found.places.values()])]
  const hidden = await hiddenIn(folders, closed, shown)
  const isOpen = (path: string) => !hidden.some((place) => isInside(place.path, path))
  const frozen = new Map<string, FolderIdentity>()
  for (const place of places) {
    if (['repository', 'path file', 'rebase', 'unreadable'].includes(place.is)) continue
    // A link cannot be frozen, but its target can. The recheck looks at the link itself.
    const real = place.kind === 'link' ? await realpath(place.path).catch(() => null) : place.path
    if (real === null || !writable.some((folder) => folder !== real && isInside(folder, real)) || !isOpen(real)) continue
    const stats = await lstat(real, { bigint: true }).catch(() => null)
    if (stats?.isDirectory() || stats?.isFile()) frozen.set(real, { path: real, identity: identityOf(stats) })
  }
  if (frozen.size > MAX_FROZEN)
    throw new SandboxFailed(
      `There are ${frozen.size} places to guard in this folder, and ${MAX_FROZEN} is the most. Run the command in a folder inside it.`,
    )
  return {
    hidden,
    frozen: outermost([...frozen.keys()]).map((path) => frozen.get(path)!),
    pinned: places.filter(({ is, path }) => is === 'repository' && isOpen(path) && !writable.includes(path)).map(({ path }) => path),
    async recheck(isOver, hasRun) {
      const some = all.filter(({ folder }) => isOver || !own.includes(folder))
      // A command may be a rebase. A program that is talked to lives for days, while the person goes on with theirs.
      const how = { hasRun, others, sparesRebase: !isOver && !isTalkedTo }
      const notChecked = (folder: string): SetAside[] => [{ path: folder, to: null }]
      return (await Promise.all(some.map((before) => setAsideWhatAppeared(before, how).catch(() => notChecked(before.folder))))).flat()
    },
    before: all,
  }
}

async function hiddenIn(folders: readonly string[], closed: readonly string[], places: readonly FoundPlace[]): Promise<HiddenPlace[]> {
  const hidden = new Map<string, HiddenPlace>()
  const toHide = places.filter(({ path, is }) => is === 'secret' || is === 'socket' || secretPlaceOf(path) !== null)
  for (const path of [...closed, ...secretsOfHome(), ...toHide.map((place) => place.path)]) {
    const real = await realpath(path).catch(() => null)
    if (real === null) continue
    if (folders.some((folder) => isInside(real, folder))) throw new SandboxFailed(`${real} is closed to agents.`)
    const stats = folders.some((folder) => isInside(folder, real)) ? await lstat(real).catch(() => null) : null
    if (stats !== null) hidden.set(real, { path: real, kind: stats.isDirectory() ? 'folder' : 'file' })
  }
  return outermost([...hidden.keys()]).map((path) => hidden.get(path)!)
}

/** Without those inside another one. */
export function outermost(folders: readonly string[]): string[] {
  const unique = [...new Set(folders)]
  return unique.filter((folder) => !unique.some((other) => other !== folder && isInside(other, folder)))
}
