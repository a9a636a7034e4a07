import { constants, type Dirent } from 'node:fs'
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { PathRefused, showPlace, type Place } from './folder-paths.ts'
import {
  codeOf,
  guardHere,
  holdPath,
  holdRoot,
  kindOf,
  leadsOut,
  missingIn,
  refusalOf,
  spellingIn,
  walkDown,
  type EntryKind,
  type Guard,
  type HeldPath,
} from './held-path.ts'

/** Every tool reads the disk through this. Links are followed as long as they stay inside the agent's folder. */
export type Opened = OpenedFile | OpenedFolder
export type OpenedFile = { kind: 'file'; place: Place; handle: FileHandle; size: number; modifiedAt: number; close(): Promise<void> }
export type OpenedFolder = ReturnType<typeof openedFolder>

const ENTRIES_PER_READ = 256
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)
/** On macOS O_NOFOLLOW_ANY of <fcntl.h>, which fails if any part of the path is a link. Node does not name it. */
const NO_FOLLOW = process.platform === 'darwin' ? 0x2000_0000 : (constants.O_NOFOLLOW ?? 0)

/** Throws PathRefused. */
export async function openInside(place: Place, guard: Guard = guardHere): Promise<Opened> {
  try {
    return await openAt(place, guard)
  } catch (thrown) {
    if (!['ENOENT', 'ENOTDIR'].includes(codeOf(thrown) ?? '')) throw refusalOf(place, thrown, 'read')
  }
  const spelled = await findSpelling(place, guard)
  return openAt(spelled, guard).catch((thrown: unknown) => {
    throw refusalOf(spelled, thrown, 'read')
  })
}

/** Throws PathRefused. */
export async function openFileInside(place: Place, guard: Guard = guardHere): Promise<OpenedFile> {
  const opened = await openInside(place, guard)
  if (opened.kind === 'file') return opened
  await opened.close()
  throw new PathRefused(`'${showPlace(place)}' is a folder, not a file. List it with list_files.`)
}

async function openAt(place: Place, guard: Guard): Promise<Opened> {
  const root = await holdRoot(place, guard)
  try {
    const held = await holdPath(place, join(root.path, ...place.parts), root)
    const kind = kindOf(held.stats)
    if (kind === 'folder') return openedFolder(place, held)
    try {
      if (kind === 'file') return await openFile(place, held)
      throw new PathRefused(`'${showPlace(place)}' is a ${kind}, not a file, and is not opened.`)
    } finally {
      await held.close()
    }
  } finally {
    await root.close()
  }
}

async function openFile(place: Place, { guard, path, stats, verify }: HeldPath): Promise<OpenedFile> {
  const handle = await open(path, guard === 'descriptor' ? READ_ONLY : READ_ONLY | NO_FOLLOW)
  try {
    if (guard === 'real_path') {
      await verify()
      const opened = await handle.stat({ bigint: true })
      if (opened.dev !== stats.dev || opened.ino !== stats.ino) throw leadsOut(place)
    }
    return { kind: 'file', place, handle, size: Number(stats.size), modifiedAt: Number(stats.mtimeMs), close: () => handle.close() }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

function openedFolder(place: Place, held: HeldPath) {
  // A descriptor cannot be swapped for anything.
  const verify = () => (held.guard === 'real_path' ? held.verify() : undefined)
  return {
    kind: 'folder' as const,
    place,
    close: held.close,
    async *entries(): AsyncGenerator<Dirent> {
      const dir = await opendir(held.path, { bufferSize: ENTRIES_PER_READ }).catch((thrown: unknown) => {
        throw refusalOf(place, thrown, 'read')
      })
      await verify()
      yield* dir
      await verify()
    },
    /** Does not follow a link. null: it is gone or not accessible. */
    async stat(name: string): Promise<{ kind: EntryKind; size: number; modifiedAt: number } | null> {
      const stats = await lstat(join(held.path, name), { bigint: true }).catch(() => null)
      await verify()
      return stats === null ? null : { kind: kindOf(stats), size: Number(stats.size), modifiedAt: Number(stats.mtimeMs) }
    },
  }
}

/** The path as spelled on the disk. Throws PathRefused, which names the first part that is missing. */
async function findSpelling(place: Place, guard: Guard): Promise<Place> {
  const { base, here, rest } = await walkDown(place, guard, async (above, at, name) => {
    throw await missingIn(above, at, name)
  })
  try {
    for (const part of rest) {
      const name = await spellingIn(base, part)
      if (name === null) throw await missingIn(base, here, part)
      here.parts.push(name)
    }
    return here
  } finally {
    await base.close()
  }
}
