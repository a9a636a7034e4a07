import { constants, type BigIntStats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside } from '../../platform/protected-places/protected-places.ts'
import { messageOf } from '../../lib/errors.ts'
import { PathRefused, showName, showPlace, type Place } from './folder-paths.ts'
import {
  codeOf,
  folderGone,
  guardHere,
  kindOf,
  leadsOut,
  linkOf,
  O_PATH,
  refuseClosed,
  refuseProtectedFolder,
  type Guard,
} from './open-inside.ts'

/**
 * A place where a file is or could be: its folder, held open and proved to lie inside the agent's, and a name in it. A link
 * at that name is not followed.
 *
 * On Linux every call goes through the proved folder (/proc/self/fd), so swapping part of the path for a link has no
 * effect. Elsewhere the folder is resolved again before each call and must be the same.
 */
export type FileSpot = {
  /** As spelled on the disk. */
  readonly place: Place
  /** Absolute and without links: rules and the journal use it. */
  readonly realPath: string
  /** The file, through the proved folder. Only valid while the spot is open, after `verify`. */
  readonly path: string
  readonly folderPath: string
  /** Throws PathRefused if the folder has moved. */
  verify(): Promise<void>
  /** Does not follow a link. null: nothing is there. */
  look(): Promise<BigIntStats | null>
  /** Opens a plain file for reading. null: nothing is there. */
  open(): Promise<{ handle: FileHandle; stats: BigIntStats } | null>
  /** A new name survives a power cut only after this. */
  sync(): Promise<void>
  close(): Promise<void>
}

type Base = Pick<FileSpot, 'verify' | 'sync' | 'close'> & {
  path: string
  /** In the guard's encoding, like `root`. */
  realPath: string
  /** Where the agent's folder was when the walk began. */
  root: string
}

const READ_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)
const NEW_FOLDER_MODE = 0o755
/** Controls, half characters, and characters that change the direction of text. */
const DECEIVING = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** `makeFolders` creates missing folders, each inside the one proved before it. Throws PathRefused. */
export async function openSpot(
  place: Place,
  { makeFolders = false, guard = guardHere }: { makeFolders?: boolean; guard?: Guard } = {},
): Promise<FileSpot> {
  const asked = place.parts.at(-1)
  if (asked === undefined) throw new PathRefused(`'${showPlace(place)}' is a folder. Name a file in it.`)
  const here: Place = { folder: place.folder, parts: [] }
  let base = await openRoot(here, guard)
  try {
    for (const part of place.parts.slice(0, -1)) {
      const above = base
      base = await stepInto(above, here, part, makeFolders, guard)
      await above.close()
    }
    const onDisk = await spellingOf(base, asked)
    const name = onDisk ?? asked
    here.parts.push(name)
    if (onDisk === null) refuseNewName(name)
    await refuseClosed(here, join(base.realPath, encoded(name, guard)), encodingOf(guard))
    return spotAt(base, here, name, guard)
  } catch (thrown) {
    await base.close()
    throw thrown
  }
}

/** The real path of a file whose folders may not exist yet. Creates nothing. Throws PathRefused. */
export async function findRealPath(place: Place, guard: Guard = guardHere): Promise<string> {
  const here: Place = { folder: place.folder, parts: [] }
  let base = await openRoot(here, guard)
  try {
    for (const [i, part] of place.parts.entries()) {
      const isThere = i < place.parts.length - 1 && (await spellingOf(base, part)) !== null
      if (!isThere) {
        const rest = join(base.realPath, ...place.parts.slice(i).map((name) => encoded(name, guard)))
        await refuseClosed(place, rest, encodingOf(guard))
        return decoded(rest, guard)
      }
      const above = base
      base = await stepInto(above, here, part, false, guard)
      await above.close()
    }
    throw new PathRefused(`'${showPlace(place)}' is a folder. Name a file in it.`)
  } finally {
    await base.close()
  }
}

function spotAt(base: Base, place: Place, name: string, guard: Guard): FileSpot {
  const path = join(base.path, name)
  const look = () =>
    lstat(path, { bigint: true }).catch((thrown: unknown) => {
      if (codeOf(thrown) === 'ENOENT') return null
      throw refusalToChange(place, thrown, 'read')
    })
  return {
    place,
    path,
    folderPath: base.path,
    realPath: join(decoded(base.realPath, guard), name),
    verify: () => base.verify(),
    sync: () => base.sync(),
    close: () => base.close(),
    async look() {
      await base.verify()
      return look()
    },
    async open() {
      await base.verify()
      const there = await look()
      if (there === null) return null
      requireFile(place, there)
      const handle = await open(path, READ_ONLY).catch((thrown: unknown) => {
        throw codeOf(thrown) === 'ELOOP' ? isLink(place) : refusalToChange(place, thrown, 'read')
      })
      try {
        const stats = await handle.stat({ bigint: true })
        requireFile(place, stats)
        await base.verify()
        return { handle, stats }
      } catch (thrown) {
        await handle.close()
        throw thrown
      }
    },
  }
}

async function openRoot(place: Place, guard: Guard): Promise<Base> {
  const { path } = place.folder
  try {
    if (guard === 'real_path') return await baseByPath(place, path, await realpath(path))
    return await baseByDescriptor(place, await open(path, O_PATH | constants.O_DIRECTORY), null)
  } catch (thrown) {
    throw thrown instanceof PathRefused ? thrown : folderGone(place, thrown)
  }
}

/** Goes one folder down, and adds its name as spelled on the disk to `here`. */
async function stepInto(base: Base, here: Place, part: string, makeFolders: boolean, guard: Guard): Promise<Base> {
  const onDisk = await spellingOf(base, part)
  const name = onDisk ?? part
  if (onDisk === null && !makeFolders)
    throw new PathRefused(`There is no folder '${showName(name)}' in '${showPlace(here)}'. It is made when makeFolders is true.`, {
      missing: true,
    })
  const parent = showPlace(here)
  here.parts.push(name)
  if (onDisk === null) await makeFolder(base, here, name, guard)
  try {
    const asked = join(base.path, name)
    if (guard === 'descriptor') return await baseByDescriptor(here, await open(asked, O_PATH | constants.O_DIRECTORY), base.root)
    const real = await realpath(asked)
    if ((await lstat(real)).isDirectory()) return await baseByPath(here, asked, base.root, real)
    throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
  } catch (thrown) {
    if (thrown instanceof PathRefused) throw thrown
    switch (codeOf(thrown)) {
      case 'ENOTDIR':
        throw new PathRefused(`'${showName(name)}' in '${parent}' is a file, not a folder.`)
      case 'ENOENT':
      case 'ELOOP':
        throw leadsOut(here)
      default:
        throw refusalToChange(here, thrown, 'read')
    }
  }
}

async function makeFolder(base: Base, here: Place, name: string, guard: Guard): Promise<void> {
  refuseNewName(name)
  await refuseClosed(here, join(base.realPath, encoded(name, guard)), encodingOf(guard))
  await base.verify()
  try {
    await mkdir(join(base.path, name))
    const made = await open(join(base.path, name), constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0))
    try {
      await made.chmod((await modeOf(base.path)) & NEW_FOLDER_MODE)
    } finally {
      await made.close()
    }
  } catch (thrown) {
    // Somebody else has just made it.
    if (codeOf(thrown) !== 'EEXIST') throw refusalToChange(here, thrown)
  }
  await base.sync()
}

/** What is made in a folder is no more open than the folder, and never writable by others. */
export async function modeOf(folder: string): Promise<number> {
  return (await stat(folder)).mode & 0o777
}

async function baseByDescriptor(place: Place, handle: FileHandle, knownRoot: string | null): Promise<Base> {
  try {
    const root = knownRoot ?? (await readlink(linkOf(handle), 'latin1'))
    refuseProtectedFolder(place, root, 'latin1')
    const locate = async () => {
      const now = await readlink(linkOf(handle), 'latin1')
      if (!isInside(root, now)) throw leadsOut(place)
      await refuseClosed(place, now, 'latin1')
      return now
    }
    const realPath = await locate()
    const path = linkOf(handle)
    // A folder that moves would take the decision along to another place, for example into `.git`.
    const verify = async () => {
      if ((await locate()) !== realPath) throw leadsOut(place)
    }
    return { path, realPath, root, verify, sync: () => syncFolder(path), close: () => handle.close() }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

async function baseByPath(place: Place, asked: string, root: string, real = root): Promise<Base> {
  refuseProtectedFolder(place, root, 'utf8')
  const verify = async () => {
    const now = await realpath(asked)
    if (now !== real || !isInside(root, now)) throw leadsOut(place)
    await refuseClosed(place, now, 'utf8')
  }
  await verify()
  return { path: real, realPath: real, root, verify, sync: () => syncFolder(real), close: async () => {} }
}

/** Systems on which a folder cannot be synced do not need it. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0)).catch(() => null)
  try {
    await handle?.sync().catch(() => {})
  } finally {
    await handle?.close()
  }
}

/** The name as spelled on the disk, where an accented letter may be one character or two. null: nothing has it. */
async function spellingOf(base: Base, name: string): Promise<string | null> {
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

function refuseNewName(name: string): void {
  if (DECEIVING.test(name))
    throw new PathRefused(`'${showName(name)}' is not made: a name may not hold line breaks or characters that turn the text around.`)
}

export function requireFile(place: Place, stats: BigIntStats): void {
  const kind = kindOf(stats)
  if (kind === 'link') throw isLink(place)
  if (kind === 'folder') throw new PathRefused(`'${showPlace(place)}' is a folder, not a file.`)
  if (kind !== 'file') throw new PathRefused(`'${showPlace(place)}' is a ${kind}, not a file, and is left alone.`)
}

function isLink(place: Place): PathRefused {
  return new PathRefused(`'${showPlace(place)}' is a link, which is left alone. Name the file that it leads to.`)
}

/** The system's error, for the model. */
export function refusalToChange(place: Place, thrown: unknown, verb: 'changed' | 'read' = 'changed'): PathRefused {
  const shown = showPlace(place)
  const code = codeOf(thrown)
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return new PathRefused(
        verb === 'read'
          ? `'${shown}' may not be read by this app (permission denied).`
          : `'${shown}' may not be changed by this app (permission denied).`,
      )
    case 'EROFS':
      return new PathRefused(`'${shown}' is on a disk that can only be read.`)
    case 'ENOSPC':
    case 'EDQUOT':
      return new PathRefused(`There is no room left on the disk of '${shown}'. Nothing was changed.`)
    case 'ENAMETOOLONG':
      return new PathRefused(`A part of '${shown.slice(0, 200)}…' is longer than the name of a file can be.`)
    case 'EISDIR':
      return new PathRefused(`'${shown}' is a folder, not a file.`)
    default: {
      const words = code ?? messageOf(thrown)
      return new PathRefused(verb === 'read' ? `'${shown}' cannot be read: ${words}.` : `'${shown}' cannot be changed: ${words}.`)
    }
  }
}

/** Latin-1 keeps all bytes apart, so that descriptors are compared byte by byte. */
function encodingOf(guard: Guard): 'latin1' | 'utf8' {
  return guard === 'descriptor' ? 'latin1' : 'utf8'
}

function encoded(name: string, guard: Guard): string {
  return Buffer.from(name, 'utf8').toString(encodingOf(guard))
}

function decoded(path: string, guard: Guard): string {
  return Buffer.from(path, encodingOf(guard)).toString('utf8')
}
