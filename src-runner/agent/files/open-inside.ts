import type { BigIntStats, Dirent } from 'node:fs'
import { constants, type FileHandle, lstat, open, opendir, readlink, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside, isSecretPlace, placeAroundFolder } from '../../platform/protected-places/protected-places.ts'
import { messageOf } from '../../lib/errors.ts'
import { PathRefused, showName, showPlace, type Place } from './folder-paths.ts'

/**
 * Every tool reads the disk through this. What it opens is proved to lie inside the agent's folder *after* it was opened, so
 * that nobody can swap part of the path for a link in between.
 *
 * - Linux: opens the path with O_PATH, which has no effect even on a pipe or a device, asks the kernel where the descriptor
 *   leads (/proc/self/fd), and reads only that descriptor.
 * - macOS: opens the real path with O_NOFOLLOW_ANY, which fails if any part of it is a link by now.
 * - elsewhere: opens the real path, resolves it again, and compares device and file number.
 */
export type Opened = OpenedFile | OpenedFolder
export type OpenedFile = { kind: 'file'; place: Place; handle: FileHandle; size: number; modifiedAt: number; close(): Promise<void> }
export type OpenedFolder = {
  kind: 'folder'
  place: Place
  entries(): AsyncIterable<Dirent>
  /** Does not follow a link. null: it is gone or not accessible. */
  look(name: string): Promise<{ kind: EntryKind; size: number; modifiedAt: number } | null>
  close(): Promise<void>
}
export type EntryKind = 'file' | 'folder' | 'link' | 'pipe' | 'socket' | 'device'

const ENTRIES_PER_READ = 256
const ENTRIES_NAMED_IN_ERRORS = 20
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)
/** From <fcntl.h>; Node does not name them. */
export const O_PATH = 0o10_000_000
const O_NOFOLLOW_ANY = 0x2000_0000

export type Guard = 'descriptor' | 'real_path'
export const guardHere: Guard = process.platform === 'linux' ? 'descriptor' : 'real_path'

export async function openInside(place: Place, guard: Guard = guardHere): Promise<Opened> {
  try {
    return await openAt(place, guard)
  } catch (thrown) {
    const respelled = codeOf(thrown) === 'ENOENT' ? await respell(place, guard) : null
    if (respelled === null) throw await refusalFor(place, guard, thrown)
    return openInside(respelled, guard)
  }
}

function openAt(place: Place, guard: Guard): Promise<Opened> {
  return guard === 'descriptor' ? openByDescriptor(place) : openByRealPath(place)
}

export async function openFileInside(place: Place, guard: Guard = guardHere): Promise<OpenedFile> {
  const opened = await openInside(place, guard)
  if (opened.kind === 'file') return opened
  await opened.close()
  throw new PathRefused(`'${showPlace(place)}' is a folder, not a file. List it with list_files.`)
}

async function openByDescriptor(place: Place): Promise<Opened> {
  const root = await open(place.folder.path, O_PATH | constants.O_DIRECTORY).catch((thrown: unknown) => {
    throw folderGone(place, thrown)
  })
  let found: FileHandle | null = null
  try {
    found = await open(join(place.folder.path, ...place.parts), O_PATH)
    // Latin-1 keeps all bytes apart, even in names that are not UTF-8.
    const [rootPath, foundPath] = await Promise.all([readlink(linkOf(root), 'latin1'), readlink(linkOf(found), 'latin1')])
    refuseProtectedFolder(place, rootPath, 'latin1')
    if (!isInside(rootPath, foundPath)) throw leadsOut(place)
    await refuseClosed(place, foundPath, 'latin1')
    const stats = await found.stat({ bigint: true })
    const kind = kindOf(stats)
    if (kind === 'folder') {
      const keep = found
      found = null
      return folderAt(place, linkOf(keep), () => keep.close())
    }
    if (kind !== 'file') throw notAFile(place, kind)
    return fileOf(place, await open(linkOf(found), READ_ONLY), stats)
  } finally {
    await Promise.all([root.close(), found?.close()])
  }
}

async function openByRealPath(place: Place): Promise<Opened> {
  const asked = join(place.folder.path, ...place.parts)
  const root = await realpath(place.folder.path).catch((thrown: unknown) => {
    throw folderGone(place, thrown)
  })
  refuseProtectedFolder(place, root, 'utf8')
  const real = await realpath(asked)
  if (!isInside(root, real)) throw leadsOut(place)
  await refuseClosed(place, real, 'utf8')
  const before = await lstat(real, { bigint: true })
  const kind = kindOf(before)
  if (kind === 'folder') {
    const verify = async () => {
      if ((await realpath(asked)) !== real || !isInside(await realpath(place.folder.path), real)) throw leadsOut(place)
    }
    return folderAt(place, real, async () => {}, verify)
  }
  if (kind !== 'file') throw notAFile(place, kind)
  const handle = await open(real, READ_ONLY | (process.platform === 'darwin' ? O_NOFOLLOW_ANY : (constants.O_NOFOLLOW ?? 0)))
  try {
    const opened = await handle.stat({ bigint: true })
    const realNow = await realpath(asked)
    const now = await stat(realNow, { bigint: true })
    await refuseClosed(place, realNow, 'utf8')
    if (!isInside(root, realNow) || opened.dev !== now.dev || opened.ino !== now.ino || kindOf(opened) !== 'file') throw leadsOut(place)
    return fileOf(place, handle, opened)
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

function fileOf(place: Place, handle: FileHandle, stats: BigIntStats): OpenedFile {
  return { kind: 'file', place, handle, size: Number(stats.size), modifiedAt: Number(stats.mtimeMs), close: () => handle.close() }
}

function folderAt(place: Place, base: string, close: () => Promise<void>, verify: () => Promise<void> = async () => {}): OpenedFolder {
  return {
    kind: 'folder',
    place,
    close,
    async *entries() {
      const dir = await opendir(base, { bufferSize: ENTRIES_PER_READ }).catch((thrown: unknown) => {
        throw mayNotRead(place, thrown)
      })
      await verify()
      yield* dir
      await verify()
    },
    async look(name) {
      const stats = await lstat(join(base, name), { bigint: true }).catch(() => null)
      await verify()
      return stats === null ? null : { kind: kindOf(stats), size: Number(stats.size), modifiedAt: Number(stats.mtimeMs) }
    },
  }
}

export function kindOf(entry: BigIntStats | Dirent): EntryKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  if (entry.isSymbolicLink()) return 'link'
  if (entry.isFIFO()) return 'pipe'
  return entry.isSocket() ? 'socket' : 'device'
}

export const linkOf = (handle: FileHandle) => `/proc/self/fd/${handle.fd}`

export async function refuseClosed(place: Place, realPath: string, encoding: 'latin1' | 'utf8'): Promise<void> {
  for (const closed of place.folder.closed) {
    const real = await realpath(closed, encoding).catch(() => null)
    if (real !== null && isInside(real, realPath)) {
      throw new PathRefused(`'${showPlace(place)}' belongs to Deckhand itself and is closed to agents.`)
    }
  }
  if (await isSecretPlace(asText(realPath, encoding)))
    throw new PathRefused(`'${showPlace(place)}' holds keys or passwords, and is closed to agents.`)
}

/** No agent works in a folder whose files run by themselves. `root`: its real path. */
export function refuseProtectedFolder({ folder }: Place, root: string, encoding: 'latin1' | 'utf8'): void {
  const around = placeAroundFolder(asText(root, encoding))
  if (around !== null)
    throw new PathRefused(
      `The folder '${showName(folder.name)}' lies in ${showName(around)}, where files run by themselves or keys are kept. Agents cannot work in it.`,
    )
}

function asText(path: string, encoding: 'latin1' | 'utf8'): string {
  return encoding === 'utf8' ? path : Buffer.from(path, 'latin1').toString('utf8')
}

/** Does not tell whether anything is at the target of a link. */
export function leadsOut(place: Place): PathRefused {
  return new PathRefused(`'${showPlace(place)}' leads out of the folder '${showName(place.folder.name)}', or nowhere.`)
}

function notAFile(place: Place, kind: EntryKind): PathRefused {
  return new PathRefused(`'${showPlace(place)}' is a ${kind}, not a file, and is not opened.`)
}

export function folderGone({ folder }: Place, thrown: unknown): PathRefused {
  const facts = { folder: showName(folder.name), path: showName(folder.path) }
  switch (codeOf(thrown)) {
    case 'ENOENT':
      return new PathRefused(`The folder '${facts.folder}' (${facts.path}) does not exist any more.`)
    case 'ENOTDIR':
      return new PathRefused(`The folder '${facts.folder}' (${facts.path}) is not a folder any more.`)
    case 'EACCES':
      return new PathRefused(`The folder '${facts.folder}' (${facts.path}) may not be opened by this app.`)
    default:
      return new PathRefused(`The folder '${facts.folder}' (${facts.path}) cannot be opened: ${messageOf(thrown)}.`)
  }
}

async function refusalFor(place: Place, guard: Guard, thrown: unknown): Promise<Error> {
  if (thrown instanceof PathRefused) return thrown
  const shown = showPlace(place)
  switch (codeOf(thrown)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return explainMissing(place, guard)
    case 'ELOOP':
      return new PathRefused(`'${shown}' is a link that leads in a circle, or changed while it was opened.`)
    case 'ENAMETOOLONG':
      return new PathRefused(`A part of '${shown.slice(0, 200)}…' is longer than a file name can be.`)
    case 'EMFILE':
    case 'ENFILE':
      return new PathRefused('Too many files are open on this machine just now. Try again.')
    default:
      return mayNotRead(place, thrown)
  }
}

function mayNotRead(place: Place, thrown: unknown): PathRefused {
  const code = codeOf(thrown)
  const path = showPlace(place)
  if (code === 'EACCES' || code === 'EPERM') return new PathRefused(`'${path}' may not be read by this app (permission denied).`)
  return new PathRefused(`'${path}' cannot be opened: ${code ?? messageOf(thrown)}.`)
}

/**
 * The path as spelled on the disk, as far as it exists. null: no difference. An accented letter may be one character or
 * two: models write one, files from a Mac have two, and Linux takes them for different names.
 */
async function respell(place: Place, guard: Guard): Promise<Place | null> {
  if (place.parts.every((part) => part.normalize('NFC') === part.normalize('NFD'))) return null
  const spelled: Place = { folder: place.folder, parts: [] }
  for (const part of place.parts) {
    const opened = await openStep({ folder: place.folder, parts: [...spelled.parts, part] }, guard)
    if (opened instanceof PathRefused) return null
    const name = opened === 'missing' ? await otherSpelling(spelled, part, guard) : part
    if (opened !== 'missing') await opened.close()
    spelled.parts.push(name ?? part)
  }
  return spelled.parts.some((part, i) => part !== place.parts[i]) ? spelled : null
}

async function otherSpelling(parent: Place, part: string, guard: Guard): Promise<string | null> {
  const folder = await openStep(parent, guard)
  if (folder instanceof PathRefused || folder === 'missing') return null
  try {
    if (folder.kind === 'file') return null
    for await (const { name } of folder.entries()) if (name !== part && name.normalize() === part.normalize()) return name
    return null
  } finally {
    await folder.close()
  }
}

/** Finds the first missing part, and names what is there instead. */
async function explainMissing(place: Place, guard: Guard): Promise<Error> {
  let parent: Place = { folder: place.folder, parts: [] }
  for (const part of place.parts) {
    const next: Place = { folder: place.folder, parts: [...parent.parts, part] }
    const opened = await openStep(next, guard)
    if (opened instanceof PathRefused) return opened
    if (opened === 'missing') return missingIn(parent, part, guard)
    await opened.close()
    if (opened.kind === 'file' && next.parts.length < place.parts.length)
      return new PathRefused(`'${showPlace(next)}' is a file, not a folder.`)
    parent = next
  }
  return new PathRefused(`'${showPlace(place)}' changed while it was opened. Try again.`)
}

async function openStep(place: Place, guard: Guard): Promise<Opened | PathRefused | 'missing'> {
  try {
    return await openAt(place, guard)
  } catch (thrown) {
    if (thrown instanceof PathRefused) return thrown
    return codeOf(thrown) === 'ENOENT' ? 'missing' : mayNotRead(place, thrown)
  }
}

async function missingIn(parent: Place, part: string, guard: Guard): Promise<PathRefused> {
  const nothing = `There is no '${showName(part)}' in '${showPlace(parent)}'.`
  const folder = await openStep(parent, guard)
  if (folder instanceof PathRefused || folder === 'missing' || folder.kind === 'file') return new PathRefused(nothing)
  try {
    if ((await folder.look(part))?.kind === 'link') return leadsOut({ folder: parent.folder, parts: [...parent.parts, part] })
    const names: string[] = []
    let more = false
    for await (const entry of folder.entries()) {
      if (names.length === ENTRIES_NAMED_IN_ERRORS) {
        more = true
        break
      }
      names.push(showName(entry.name) + (entry.isDirectory() ? '/' : ''))
    }
    if (names.length === 0) return new PathRefused(`${nothing} It is empty.`)
    return new PathRefused(`${nothing} ${`Entries there: ${names.sort().join(', ')}${more ? ', …' : ''}.`}`)
  } catch {
    return new PathRefused(nothing)
  } finally {
    await folder.close()
  }
}

export function codeOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException | null)?.code
}
