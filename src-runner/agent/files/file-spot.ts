import { constants, type BigIntStats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PathRefused, showName, showPlace, type Place } from './folder-paths.ts'
import { codeOf, guardHere, kindOf, realPathIn, refusalOf, spellingIn, walkDown, type Guard, type HeldPath } from './held-path.ts'

export type FileSpot = ReturnType<typeof spotIn>

type SpotOptions = {
  /** Creates missing folders, each inside the one held before it. */
  makeFolders?: boolean
  guard?: Guard
}

const READ_ONLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)
const FOLDER_ONLY = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0)
const NEW_FOLDER_MODE = 0o755
/** Controls, half characters, and characters that change the direction of text. */
const DECEIVING = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** Throws PathRefused. */
export async function withSpot<T>(place: Place, options: SpotOptions, use: (spot: FileSpot) => Promise<T>): Promise<T> {
  const spot = await openSpot(place, options)
  try {
    return await use(spot)
  } finally {
    await spot.close()
  }
}

/** Throws PathRefused. */
export async function openSpot(place: Place, { makeFolders = false, guard = guardHere }: SpotOptions = {}): Promise<FileSpot> {
  const given = fileNameOf(place)
  const { base, here } = await walkDown(place, guard, async (above, at, name) => {
    if (makeFolders) return makeFolder(above, at, name)
    throw new PathRefused(`There is no folder '${showName(name)}' in '${showPlace(at)}'. It is made when makeFolders is true.`, {
      missing: true,
    })
  })
  try {
    const onDisk = await spellingIn(base, given)
    if (onDisk === null) refuseNewName(given)
    const name = onDisk ?? given
    here.parts.push(name)
    return spotIn(base, here, name, await realPathIn(base, here, [name]))
  } catch (thrown) {
    await base.close()
    throw thrown
  }
}

/** The real path of a file whose folders may not exist yet. Creates nothing. Throws PathRefused. */
export async function findRealPath(place: Place, guard: Guard = guardHere): Promise<string> {
  fileNameOf(place)
  const { base, rest } = await walkDown(place, guard, async () => false)
  try {
    return await realPathIn(base, place, rest)
  } finally {
    await base.close()
  }
}

function fileNameOf(place: Place): string {
  const name = place.parts.at(-1)
  if (name === undefined) throw new PathRefused(`'${showPlace(place)}' is a folder. Name a file in it.`)
  return name
}

/** A place where a file is or could be: a held folder, and a name in it. A link at that name is not followed. */
function spotIn(base: HeldPath, place: Place, name: string, realPath: string) {
  const path = join(base.path, name)
  const lookUp = async (): Promise<BigIntStats | null> => {
    await base.verify()
    return lstat(path, { bigint: true }).catch((thrown: unknown) => {
      if (codeOf(thrown) === 'ENOENT') return null
      throw refusalOf(place, thrown, 'read')
    })
  }
  return {
    /** As spelled on the disk. */
    place,
    /** The file, through the held folder. Only valid while the spot is open, after `verify`. */
    path,
    /** Absolute and without links: rules and the journal use it. */
    realPath,
    folderPath: base.path,
    /** Throws PathRefused if the folder has moved. */
    verify: base.verify,
    /** A new name survives a power cut only after this. */
    sync: () => syncFolder(base.path),
    close: base.close,
    /** Does not follow a link. null: nothing is there. */
    stat: lookUp,
    /** Opens a plain file for reading. null: nothing is there. */
    async open(): Promise<{ handle: FileHandle; stats: BigIntStats } | null> {
      const there = await lookUp()
      if (there === null) return null
      requireFile(place, there)
      const handle = await open(path, READ_ONLY).catch((thrown: unknown) => {
        throw codeOf(thrown) === 'ELOOP' ? isLink(place) : refusalOf(place, thrown, 'read')
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

async function makeFolder(base: HeldPath, here: Place, name: string): Promise<true> {
  refuseNewName(name)
  const place: Place = { folder: here.folder, parts: [...here.parts, name] }
  await realPathIn(base, place, [name])
  await base.verify()
  const path = join(base.path, name)
  try {
    await mkdir(path)
    const made = await open(path, FOLDER_ONLY | (constants.O_NOFOLLOW ?? 0))
    try {
      await made.chmod((await modeOf(base.path)) & NEW_FOLDER_MODE)
    } finally {
      await made.close()
    }
  } catch (thrown) {
    // Somebody else has just made it.
    if (codeOf(thrown) !== 'EEXIST') throw refusalOf(place, thrown, 'changed')
  }
  await syncFolder(base.path)
  return true
}

/** What is made in a folder is no more open than the folder, and never writable by others. */
export async function modeOf(folder: string): Promise<number> {
  return (await stat(folder)).mode & 0o777
}

/** Systems on which a folder cannot be synced do not need it. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, FOLDER_ONLY).catch(() => null)
  try {
    await handle?.sync().catch(() => {})
  } finally {
    await handle?.close()
  }
}

function refuseNewName(name: string): void {
  if (DECEIVING.test(name))
    throw new PathRefused(
      `'${showName(name)}' is not made: a name may not hold line breaks or characters that change the direction of text.`,
    )
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
