import type { BigIntStats, Dirent } from 'node:fs'
import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { foldName } from './path-patterns.ts'
import {
  codePlaceOf,
  isHiddenInHome,
  isInside,
  isRepository,
  mayEndPlace,
  namedByRepository,
  namedByWorkTree,
  placesLedTo,
  secretPlaceOf,
} from './protected-places.ts'

/** A protected place below a folder. A git `repository` stays writable, except for the parts that decide what runs. */
export type FoundPlace = {
  path: string
  /** `unreadable`: a folder whose name is not text, whose path is too long, or which its owner cannot read. */
  is: 'code' | 'secret' | 'repository' | 'part of a repository' | 'unreadable'
  kind: 'file' | 'folder' | 'link' | 'other'
  /** Changes when something else is put there. */
  identity: string
}

export type FoundPlaces = {
  folder: string
  onlyRepositories: boolean
  places: Map<string, FoundPlace>
  /** There were too many entries to look at. */
  isCut: boolean
}

/** They decide what git runs. */
const REPOSITORY_PARTS = ['config', 'config.worktree', 'hooks', 'commondir', 'gitdir']
const MAX_MODULE_DEPTH = 8

/** Searched last, up to a limit, and only for what runs on entering a folder. Nobody uses editor and CI settings there. */
const DEPENDENCIES = new Set(['node_modules', 'bower_components', '.venv', 'venv', '.tox', 'vendor', 'target', 'pods', 'site-packages'])
const RUNS_IN_DEPENDENCIES = new Set(['.git', '.hg', '.envrc'])
const MAX_DEPENDENCY_ENTRIES = 100_000
const SIDE_BY_SIDE = 32

/** Entering a folder is enough for what they run: shells ask them for the state of the work. */
const REPOSITORIES = new Set(['.git', '.hg', '.jj'])

/**
 * All protected places below a folder. Does not follow links. `most`: entries to look at, without those of dependencies.
 * `onlyRepositories`: without other code places.
 */
export async function findProtected(folder: string, most: number, { onlyRepositories = false } = {}): Promise<FoundPlaces> {
  const found: FoundPlaces = { folder, onlyRepositories, places: new Map(), isCut: false }
  await noteElsewhere(await placesLedTo(), found)
  const dependencies: string[] = []
  if (await searchAll({ found, folders: [folder], dependencies, isInDependencies: false }, most)) {
    await searchAll({ found, folders: dependencies, dependencies, isInDependencies: true }, MAX_DEPENDENCY_ENTRIES)
  } else found.isCut = true
  return found
}

/** `folders` and `dependencies` grow during the search. */
type Search = { found: FoundPlaces; folders: string[]; dependencies: string[]; isInDependencies: boolean }

/** Returns false if there were more than `most` entries. */
async function searchAll(search: Search, most: number): Promise<boolean> {
  let left = most
  for (let at = 0; at < search.folders.length && left >= 0;) {
    const some = search.folders.slice(at, at + SIDE_BY_SIDE)
    at += some.length
    const counts = await Promise.all(some.map((folder) => searchIn(folder, search)))
    left -= counts.reduce((sum, count) => sum + count, 0)
  }
  return left >= 0
}

/** Returns the number of entries, and queues the folders among them. */
async function searchIn(folder: string, { found, folders, dependencies, isInDependencies }: Search): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((thrown: unknown) => noteUnreadable(folder, thrown, found))
  let more = 0
  // Any folder can be made a repository, and may hold other things as well.
  if (entries.some(({ name }) => foldName(name) === 'head') && (await isRepository(folder))) more = await lookIntoRepository(folder, found)
  for (const entry of entries) {
    const path = join(folder, entry.name)
    const is = isInDependencies ? (RUNS_IN_DEPENDENCIES.has(foldName(entry.name)) ? 'code' : null) : protectedAs(path, entry.name, found)
    if (is === 'code' && foldName(entry.name) === '.git') await noteElsewhere(await namedByWorkTree(folder), found)
    if (is === 'code' && foldName(entry.name) === '.git' && entry.isDirectory()) await lookIntoRepository(path, found)
    else if (is !== null) await note(path, is, found)
    else if (entry.isDirectory() && entry.name.includes('\uFFFD'))
      found.places.set(path, { path, is: 'unreadable', kind: 'folder', identity: '' })
    else if (entry.isDirectory()) (DEPENDENCIES.has(foldName(entry.name)) ? dependencies : folders).push(path)
  }
  return entries.length + more
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

function protectedAs(path: string, name: string, { folder, onlyRepositories }: FoundPlaces): 'code' | 'secret' | null {
  if (!mayEndPlace(name)) return null
  if (codePlaceOf(path) !== null || isHiddenInHome(path, folder)) {
    if (!onlyRepositories || REPOSITORIES.has(foldName(name))) return 'code'
  }
  return secretPlaceOf(path) === null ? null : 'secret'
}

async function lookIntoRepository(folder: string, found: FoundPlaces): Promise<number> {
  await note(folder, 'repository', found)
  for (const part of REPOSITORY_PARTS) await note(join(folder, part), 'part of a repository', found)
  await noteElsewhere(await namedByRepository(folder, foldName(basename(folder)) === '.git' ? dirname(folder) : folder), found)
  const worktrees = await foldersIn(join(folder, 'worktrees'))
  for (const worktree of worktrees) await lookIntoRepository(worktree, found)
  return worktrees.length + (await lookIntoModules(join(folder, 'modules'), found, 0))
}

/** The name of a module is its path in the project, which may have several parts. */
async function lookIntoModules(folder: string, found: FoundPlaces, depth: number): Promise<number> {
  const folders = depth < MAX_MODULE_DEPTH ? await foldersIn(folder) : []
  let entries = folders.length
  for (const one of folders)
    entries += (await isModule(one)) ? await lookIntoRepository(one, found) : await lookIntoModules(one, found, depth + 1)
  return entries
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name))
}

/** Even without HEAD, which a program could restore later. */
async function isModule(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => [])
  return names.some((name) => ['head', 'config'].includes(foldName(name)))
}

async function note(path: string, is: FoundPlace['is'], { places }: FoundPlaces): Promise<void> {
  const stats = await lstat(path, { bigint: true }).catch(() => null)
  if (stats === null) return
  const kind = kindOf(stats)
  const leadsTo = kind === 'link' ? `:${await readlink(path).catch(() => '')}:${await realpath(path).catch(() => '')}` : ''
  places.set(path, { path, is, kind, identity: `${identityOf(stats)}${leadsTo}` })
}

export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

function kindOf(stats: BigIntStats): FoundPlace['kind'] {
  if (stats.isSymbolicLink()) return 'link'
  return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : 'other'
}
