import type { BigIntStats, Dirent } from 'node:fs'
import { lstat, open, opendir, readdir, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside, placeAroundFolder } from '../../platform/protected-places/places-by-path.ts'
import { isSecretPlace } from '../../platform/protected-places/protected-places.ts'
import { messageOf } from '../../lib/errors.ts'
import { PathRefused, showName, showPlace, type Place } from './folder-paths.ts'

/**
 * A file or folder that is proved to lie inside the agent's folder *after* it was opened, so that nobody can swap part of the
 * path for a link in between.
 *
 * - `descriptor` (Linux): the path is opened with O_PATH, which has no effect even on a pipe or a device. The kernel says
 *   where the descriptor leads (/proc/self/fd), and every later call goes through that descriptor.
 * - `real_path` (elsewhere): the path is resolved, and `verify` resolves it again before and after each use.
 */
export type HeldPath = {
  readonly guard: Guard
  /** For system calls. */
  readonly path: string
  /** Absolute and without links, in the guard's encoding, like `root`. */
  readonly realPath: string
  /** The agent's folder. */
  readonly root: string
  readonly stats: BigIntStats
  /** Throws PathRefused if it has moved. */
  verify(): Promise<void>
  close(): Promise<void>
}

export type Guard = 'descriptor' | 'real_path'
export const guardHere: Guard = process.platform === 'linux' ? 'descriptor' : 'real_path'

export type EntryKind = 'file' | 'folder' | 'link' | 'pipe' | 'socket' | 'device'

/** From <fcntl.h>; Node does not name it. */
const O_PATH = 0o10_000_000
const ENTRIES_NAMED_IN_ERRORS = 20

/** Throws PathRefused, or the system's error. */
export function holdPath(place: Place, path: string, { root, guard }: Pick<HeldPath, 'root' | 'guard'>): Promise<HeldPath> {
  return guard === 'descriptor' ? holdByDescriptor(place, path, root) : holdByRealPath(place, path, root)
}

/** Holds the agent's folder itself. Throws PathRefused. */
export async function holdRoot({ folder }: Place, guard: Guard): Promise<HeldPath> {
  const place: Place = { folder, parts: [] }
  let held: HeldPath | null = null
  try {
    held = guard === 'descriptor' ? await holdByDescriptor(place, folder.path, null) : await holdByRealPath(place, folder.path, null)
    refuseProtectedFolder(place, textOf(held.realPath, guard))
    if (!held.stats.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
    return held
  } catch (thrown) {
    await held?.close()
    throw thrown instanceof PathRefused ? thrown : folderGone(place, thrown)
  }
}

async function holdByDescriptor(place: Place, given: string, knownRoot: string | null): Promise<HeldPath> {
  const handle = await open(given, O_PATH)
  try {
    const path = `/proc/self/fd/${handle.fd}`
    const root = knownRoot ?? (await readlink(path, 'latin1'))
    const locate = async () => {
      const now = await readlink(path, 'latin1')
      if (!isInside(root, now)) throw leadsOut(place)
      await refuseClosed(place, now, 'descriptor')
      return now
    }
    const realPath = await locate()
    // A folder that moves would take the decision along to another place, for example into `.git`.
    const verify = async () => {
      if ((await locate()) !== realPath) throw leadsOut(place)
    }
    const stats = await handle.stat({ bigint: true })
    return { guard: 'descriptor', path, realPath, root, stats, verify, close: () => handle.close() }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

async function holdByRealPath(place: Place, given: string, knownRoot: string | null): Promise<HeldPath> {
  const path = await realpath(given)
  const root = knownRoot ?? path
  const verify = async () => {
    const now = await realpath(given)
    if (now !== path || !isInside(root, now)) throw leadsOut(place)
    await refuseClosed(place, now, 'real_path')
  }
  await verify()
  const stats = await lstat(path, { bigint: true })
  return { guard: 'real_path', path, realPath: path, root, stats, verify, close: async () => {} }
}

/** The folder that a walk has come to, as spelled on the disk. `rest`: the parts that it has not gone down. */
export type Walk = { base: HeldPath; here: Place; rest: string[] }

/**
 * Goes down to the folder of the last part, one held folder at a time. `whenMissing` makes a missing folder and returns true,
 * or returns false to stop there. Throws PathRefused.
 */
export async function walkDown(
  place: Place,
  guard: Guard,
  whenMissing: (base: HeldPath, here: Place, name: string) => Promise<boolean>,
): Promise<Walk> {
  const here: Place = { folder: place.folder, parts: [] }
  let base = await holdRoot(place, guard)
  try {
    for (const [at, part] of place.parts.slice(0, -1).entries()) {
      const name = await spellingIn(base, part)
      if (name === null && !(await whenMissing(base, here, part))) return { base, here, rest: place.parts.slice(at) }
      const above = base
      here.parts.push(name ?? part)
      base = await holdFolder(above, here)
      await above.close()
    }
    return { base, here, rest: place.parts.slice(-1) }
  } catch (thrown) {
    await base.close()
    throw thrown
  }
}

async function holdFolder(above: HeldPath, here: Place): Promise<HeldPath> {
  const held = await holdPath(here, join(above.path, here.parts.at(-1)!), above).catch((thrown: unknown) => {
    throw refusalOf(here, thrown, 'read')
  })
  if (held.stats.isDirectory()) return held
  await held.close()
  throw new PathRefused(`'${showPlace(here)}' is a file, not a folder.`)
}

/**
 * The name as spelled on the disk. An accented letter may be one character or two: models write one, files from a Mac have
 * two, and Linux takes them for different names. null: nothing has this name.
 */
export async function spellingIn(base: HeldPath, name: string): Promise<string | null> {
  await base.verify()
  const found = await lstat(join(base.path, name)).catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENAMETOOLONG')
      throw new PathRefused(`'${showName(name).slice(0, 100)}…' is longer than the name of a file can be.`)
    return null
  })
  if (found !== null) return name
  if (name.normalize('NFC') === name.normalize('NFD')) return null
  const names = await readdir(base.path).catch(() => [])
  return names.find((other) => other.normalize() === name.normalize()) ?? null
}

/** Names the entries that exist instead. */
export async function missingIn(base: HeldPath, here: Place, name: string): Promise<PathRefused> {
  const nothing = `There is no '${showName(name)}' in '${showPlace(here)}'.`
  const names: string[] = []
  let more = false
  try {
    for await (const entry of await opendir(base.path)) {
      more = names.length === ENTRIES_NAMED_IN_ERRORS
      if (more) break
      names.push(showName(entry.name) + (entry.isDirectory() ? '/' : ''))
    }
    await base.verify()
  } catch {
    return new PathRefused(nothing)
  }
  if (names.length === 0) return new PathRefused(`${nothing} It is empty.`)
  return new PathRefused(`${nothing} Entries there: ${names.sort().join(', ')}${more ? ', …' : ''}.`)
}

/** The real path of something in a held folder that need not exist. Throws PathRefused if it is closed to agents. */
export async function realPathIn({ realPath, guard }: HeldPath, place: Place, names: readonly string[]): Promise<string> {
  const path = join(realPath, ...names.map((name) => Buffer.from(name, 'utf8').toString(ENCODINGS[guard])))
  await refuseClosed(place, path, guard)
  return textOf(path, guard)
}

/** Latin-1 keeps all bytes apart, so that descriptors are compared byte by byte. */
const ENCODINGS = { descriptor: 'latin1', real_path: 'utf8' } as const

function textOf(path: string, guard: Guard): string {
  return Buffer.from(path, ENCODINGS[guard]).toString('utf8')
}

async function refuseClosed(place: Place, realPath: string, guard: Guard): Promise<void> {
  for (const closed of place.folder.closed) {
    const real = await realpath(closed, ENCODINGS[guard]).catch(() => null)
    if (real !== null && isInside(real, realPath))
      throw new PathRefused(`'${showPlace(place)}' belongs to Deckhand itself and is closed to agents.`)
  }
  if (await isSecretPlace(textOf(realPath, guard)))
    throw new PathRefused(`'${showPlace(place)}' holds keys or passwords, and is closed to agents.`)
}

/** No agent works in a folder whose files run by themselves. */
function refuseProtectedFolder({ folder }: Place, realPath: string): void {
  const around = placeAroundFolder(realPath)
  if (around !== null)
    throw new PathRefused(
      `The folder '${showName(folder.name)}' lies in ${showName(around)}, where files run by themselves or keys are kept. Agents cannot work in it.`,
    )
}

export function kindOf(entry: BigIntStats | Dirent): EntryKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  if (entry.isSymbolicLink()) return 'link'
  if (entry.isFIFO()) return 'pipe'
  return entry.isSocket() ? 'socket' : 'device'
}

export function codeOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException | null)?.code
}

/** Does not tell whether anything is at the target of a link. */
export function leadsOut(place: Place): PathRefused {
  return new PathRefused(`'${showPlace(place)}' leads out of the folder '${showName(place.folder.name)}', or nowhere.`)
}

function folderGone({ folder }: Place, thrown: unknown): PathRefused {
  const reasons: Record<string, string> = {
    ENOENT: 'does not exist any more',
    ENOTDIR: 'is not a folder any more',
    EACCES: 'may not be opened by this app',
  }
  const reason = reasons[codeOf(thrown) ?? ''] ?? `cannot be opened: ${messageOf(thrown)}`
  return new PathRefused(`The folder '${showName(folder.name)}' (${showName(folder.path)}) ${reason}.`)
}

/** The system's error, for the model. */
export function refusalOf(place: Place, thrown: unknown, verb: 'changed' | 'read'): PathRefused {
  if (thrown instanceof PathRefused) return thrown
  const shown = showPlace(place)
  const code = codeOf(thrown)
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return new PathRefused(`'${shown}' may not be ${verb} by this app (permission denied).`)
    case 'ENAMETOOLONG':
      return new PathRefused(`A part of '${shown.slice(0, 200)}…' is longer than a file name can be.`)
    case 'EMFILE':
    case 'ENFILE':
      return new PathRefused('Too many files are open on this machine. Try again.')
    case 'EROFS':
      return new PathRefused(`'${shown}' is on a read-only disk.`)
    case 'ENOSPC':
    case 'EDQUOT':
      return new PathRefused(`There is no room left on the disk of '${shown}'. Nothing was changed.`)
    case 'EISDIR':
      return new PathRefused(`'${shown}' is a folder, not a file.`)
    case 'ENOENT':
    case 'ELOOP':
      if (verb === 'read') return leadsOut(place)
      break
    default:
  }
  return new PathRefused(`'${shown}' cannot be ${verb}: ${code ?? messageOf(thrown)}.`)
}
