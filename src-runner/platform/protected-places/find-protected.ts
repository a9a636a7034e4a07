import { createHash } from 'node:crypto'
import { createReadStream, type BigIntStats, type Dirent } from 'node:fs'
import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isPathFile, isPlainPathFile } from './path-file.ts'
import { foldName } from './path-patterns.ts'
import { findPendingRebase } from './pending-rebase.ts'
import { DEPENDENCIES } from './place-lists.ts'
import { codePlaceOf, isHiddenInHome, isInside, mayEndPlace, runsByItself, secretPlaceOf } from './places-by-path.ts'
import { placesLedTo } from './protected-places.ts'
import { isRepository, namedByRepository, namedByWorkTree } from './repositories.ts'

/** A protected place below a folder. A git `repository` stays writable, except for the parts that decide what runs. */
export type FoundPlace = {
  path: string
  /**
   * `rebase`: what a rebase in progress would run. It stays writable, so that git can go on with it.
   * `socket`: leads to the program that listens there, whatever network a sandbox has. Only those from before a command are found.
   * `path file`: Python runs its lines. It stays writable, because installing a package replaces it.
   * `unreadable`: a folder whose name is not text, whose path is too long, or which its owner cannot read.
   */
  is: 'code' | 'secret' | 'socket' | 'repository' | 'part of a repository' | 'path file' | 'rebase' | 'unreadable'
  kind: 'file' | 'folder' | 'link' | 'other'
  /** Changes when something else is put there. */
  identity: string
}

export type FoundPlaces = {
  folder: string
  onlyRepositories: boolean
  places: Map<string, FoundPlace>
  /** Digests of protected files with several names (hard links): a program could change them under another name. */
  shared: Record<string, string>
  /** There were too many entries to look at. */
  isCut: boolean
}

/** They decide what git runs. */
const REPOSITORY_PARTS = ['config', 'config.worktree', 'hooks', 'commondir', 'gitdir']
/** Hold repositories, at any depth: the name of a module is its path in the project. */
const HOLD_REPOSITORIES = ['modules', 'worktrees']
/** Where git and programs keep many entries, and never a socket. */
const WITHOUT_SOCKETS = new Set(['objects', 'refs', 'logs'])
/** In repositories and in what programs keep in a home: deep enough for `.git/annex/ssh` and `.docker/run`. */
const SOCKET_LEVELS = 3

/** Dependencies are searched last, and may hold so many times more entries. */
const MORE_DEPENDENCIES = 5
const SIDE_BY_SIDE = 32

/** Entering a folder is enough for what they run: shells ask them for the state of the work. */
const REPOSITORIES = new Set(['.git', '.hg', '.jj', '.sl'])

type Options = { onlyRepositories?: boolean; places?: FoundPlaces['places'] }

/**
 * All protected places below a folder. Does not follow links. `most`: entries to look at outside of dependencies.
 * `onlyRepositories`: without other code places. `places`: found before. Their repositories may have lost parts since.
 */
export async function findProtected(
  folder: string,
  most: number,
  { onlyRepositories = false, places }: Options = {},
): Promise<FoundPlaces> {
  const found: FoundPlaces = { folder, onlyRepositories, places: new Map(), shared: {}, isCut: false }
  await noteElsewhere(await placesLedTo(), found)
  const dependencies: Item[] = []
  found.isCut =
    !(await searchAll({ found, before: places, items: [{ folder, as: 'project' }], dependencies }, most)) ||
    !(await searchAll({ found, before: places, items: dependencies, dependencies }, most * MORE_DEPENDENCIES)) ||
    (places === undefined && !(await searchAll({ found, before: places, items: await foldersOfCode(found), dependencies }, most)))
  return found
}

/** The socket files near the top of a folder that a sandbox only reads. */
export async function findSockets(folder: string, most: number): Promise<FoundPlaces> {
  const found: FoundPlaces = { folder, onlyRepositories: false, places: new Map(), shared: {}, isCut: false }
  const search: Search = { found, before: undefined, items: [{ folder, as: 'sockets', levels: SOCKET_LEVELS }], dependencies: [] }
  found.isCut = !(await searchAll(search, most))
  return found
}

type Item =
  | { folder: string; as: 'project' | 'dependencies' | 'inside a repository' | 'code' }
  | { folder: string; as: 'sockets'; levels: number }
/** `items` and `dependencies` grow during the search. */
type Search = { found: FoundPlaces; before: Options['places']; items: Item[]; dependencies: Item[] }

/** Returns false if there were more than `most` entries. */
async function searchAll(search: Search, most: number): Promise<boolean> {
  let left = most
  for (let at = 0; at < search.items.length && left >= 0;) {
    const some = search.items.slice(at, at + SIDE_BY_SIDE)
    at += some.length
    const counts = await Promise.all(some.map((item) => searchIn(item, search)))
    left -= counts.reduce((sum, count) => sum + count, 0)
  }
  return left >= 0
}

/** Returns the number of entries, and queues the folders among them. */
async function searchIn(item: Item, search: Search): Promise<number> {
  const { folder, as } = item
  if (as === 'code') return lookIntoCode(folder, search)
  if (as === 'sockets') return lookForSockets(item, search)
  const { found, before, items, dependencies } = search
  const entries = await readdir(folder, { withFileTypes: true }).catch((thrown: unknown) => noteUnreadable(folder, thrown, found))
  const hasHead = entries.some(({ name }) => foldName(name) === 'head')
  const hasConfig = entries.some((entry) => !entry.isDirectory() && foldName(entry.name) === 'config')
  // A command may have removed HEAD, to bring it back later. It could not remove the configuration.
  const isKnown = before === undefined ? as === 'inside a repository' && hasConfig : before.get(folder)?.is === 'repository'
  // Any folder can be made a repository, and may hold other things as well.
  if (isKnown || (hasHead && (await isRepository(folder)))) await lookIntoRepository(folder, found)
  for (const entry of entries) {
    const path = join(folder, entry.name)
    const is = protectedAs(path, entry.name, as, found)
    const isGit = is === 'code' && foldName(entry.name) === '.git'
    if (isGit) await noteElsewhere(await namedByWorkTree(folder), found)
    if (entry.isSocket()) {
      if (before === undefined) await note(path, 'socket', found)
    } else if (isGit && entry.isDirectory()) {
      await lookIntoRepository(path, found)
      if (before === undefined) items.push({ folder: path, as: 'sockets', levels: SOCKET_LEVELS })
      items.push(...HOLD_REPOSITORIES.map((name) => ({ folder: join(path, name), as: 'inside a repository' as const })))
    } else if (is === 'code' && entry.isFile() && isPathFile(path)) {
      if (!(await isPlainPathFile(path))) await note(path, 'path file', found)
    } else if (is !== null) await note(path, is, found)
    else if (entry.isDirectory() && entry.name.includes('\uFFFD'))
      found.places.set(path, { path, is: 'unreadable', kind: 'folder', identity: '' })
    else if (entry.isDirectory() && as === 'project' && DEPENDENCIES.has(foldName(entry.name)))
      dependencies.push({ folder: path, as: 'dependencies' })
    else if (entry.isDirectory()) items.push({ folder: path, as })
  }
  return entries.length
}

/** What is protected only because it is hidden in a home is everything that programs keep there, so only sockets are looked for. */
async function foldersOfCode(found: FoundPlaces): Promise<Item[]> {
  const items: Item[] = []
  for (const { path, is, kind } of found.places.values()) {
    if (is === 'secret' || is === 'socket' || is === 'repository' || is === 'rebase') continue
    if (codePlaceOf(path) === null && isHiddenInHome(path, found.folder)) {
      if (kind === 'folder') items.push({ folder: path, as: 'sockets', levels: SOCKET_LEVELS })
      continue
    }
    const real = kind === 'link' ? await realpath(path).catch(() => path) : path
    if (real === found.folder || !isInside(found.folder, real)) continue
    if (kind === 'folder' || kind === 'link') items.push({ folder: real, as: 'code' })
    if (kind === 'file' || kind === 'link') await noteShared(real, found)
  }
  return items
}

/** Repositories have their settings at the top. Below are their objects, which clones share with each other by hard links. */
async function lookIntoCode(folder: string, { found, items }: Search): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isSocket()) await note(path, 'socket', found)
    else if (mayEndPlace(entry.name) && secretPlaceOf(path) !== null) await note(path, 'secret', found)
    else if (entry.isDirectory() && !REPOSITORIES.has(foldName(basename(folder)))) items.push({ folder: path, as: 'code' })
    else if (entry.isFile()) await noteShared(path, found)
  }
  return entries.length
}

async function lookForSockets({ folder, levels }: Item & { as: 'sockets' }, { found, items }: Search): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isSocket()) await note(path, 'socket', found)
    else if (levels > 1 && entry.isDirectory() && !WITHOUT_SOCKETS.has(entry.name))
      items.push({ folder: path, as: 'sockets', levels: levels - 1 })
  }
  return entries.length
}

async function noteShared(path: string, { shared }: FoundPlaces): Promise<void> {
  const stats = await lstat(path).catch(() => null)
  const digest = stats?.isFile() && stats.nlink > 1 ? await digestOfFile(path) : null
  if (digest !== null) shared[path] = digest
}

/** null: it cannot be read. */
export async function digestOfFile(path: string): Promise<string | null> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  } catch {
    return null
  }
  return hash.digest('hex')
}

/** Ignores a folder that is gone. Somebody else's folder gets no identity, since the command cannot change it. */
async function noteUnreadable(folder: string, thrown: unknown, { places }: FoundPlaces): Promise<Dirent[]> {
  if (['ENOENT', 'ENOTDIR'].includes((thrown as NodeJS.ErrnoException).code ?? '')) return []
  const stats = await lstat(folder, { bigint: true }).catch(() => null)
  const isOwn = stats !== null && Number(stats.uid) === process.getuid?.()
  places.set(folder, { path: folder, is: 'unreadable', kind: 'folder', identity: isOwn ? `${identityOf(stats)}:${stats.ctimeNs}` : '' })
  return []
}

async function noteElsewhere(paths: readonly string[], found: FoundPlaces): Promise<void> {
  for (const path of paths) if (path !== found.folder && isInside(found.folder, path)) await note(path, 'code', found)
}

function protectedAs(path: string, name: string, as: Item['as'], { folder, onlyRepositories }: FoundPlaces): 'code' | 'secret' | null {
  if (as === 'inside a repository') return null
  if (!mayEndPlace(name)) return null
  if (runsByItself({ path, folder }) && (!onlyRepositories || REPOSITORIES.has(foldName(name)))) return 'code'
  return secretPlaceOf(path) === null ? null : 'secret'
}

async function lookIntoRepository(folder: string, found: FoundPlaces): Promise<void> {
  await note(folder, 'repository', found)
  for (const part of REPOSITORY_PARTS) await note(join(folder, part), 'part of a repository', found)
  const rebase = await findPendingRebase(folder)
  if (rebase !== null) found.places.set(rebase.path, rebase)
  await noteElsewhere(await namedByRepository(folder, foldName(basename(folder)) === '.git' ? dirname(folder) : folder), found)
}

async function note(path: string, is: FoundPlace['is'], { places }: FoundPlaces): Promise<void> {
  const stats = await lstat(path, { bigint: true }).catch(() => null)
  if (stats === null) return
  const kind = kindOf(stats)
  const leadsTo = kind === 'link' ? `:${await readlink(path).catch(() => '')}:${await realpath(path).catch(() => '')}` : ''
  const content = is === 'path file' ? `:${await digestOfFile(path)}` : ''
  // A new file often gets the number of one that was deleted.
  places.set(path, { path, is, kind, identity: `${identityOf(stats)}:${stats.birthtimeNs}${leadsTo}${content}` })
}

export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

function kindOf(stats: BigIntStats): FoundPlace['kind'] {
  if (stats.isSymbolicLink()) return 'link'
  return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other'
}
