import { lstat, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { linksIn } from './links.ts'
import { foldName } from './path-patterns.ts'
import { isInside } from './places-by-path.ts'
import { readSmallFile } from './small-file.ts'

/** With these, git treats a folder of any name as a repository and reads its configuration. */
const REPOSITORY = ['head', 'objects', 'refs', 'commondir'] as const

/** What is asked about each folder around a path. */
export type FolderLooks = { isRepository: typeof isRepository; namedByWorkTree: typeof namedByWorkTree }
const LOOKS: FolderLooks = { isRepository, namedByWorkTree }

/** For many paths: asks about each folder once. */
export function rememberLooks(): FolderLooks {
  const known = { isRepository: new Map<string, Promise<boolean>>(), namedByWorkTree: new Map<string, Promise<string[]>>() }
  return {
    isRepository(folder, next = '') {
      const part = REPOSITORY.find((name) => name === next)
      return getOrAdd(known.isRepository, `${folder}\0${part ?? ''}`, () => isRepository(folder, part))
    },
    namedByWorkTree: (folder) => getOrAdd(known.namedByWorkTree, folder, () => namedByWorkTree(folder)),
  }
}

function getOrAdd<T>(map: Map<string, T>, key: string, make: () => T): T {
  const value = map.get(key) ?? make()
  map.set(key, value)
  return value
}

/** Also if the path itself would complete it. Two calls at once could, so every new HEAD counts. */
export async function isInRepository(path: string, looks = LOOKS): Promise<boolean> {
  if (foldName(basename(path)) === 'head') return true
  const found = await Promise.all(
    foldersAround(path).map((folder, at, all) => looks.isRepository(folder, foldName(basename(all[at - 1] ?? path)))),
  )
  return found.includes(true)
}

/** Hooks may lie anywhere in a project, and a configuration may read another one. */
export async function isNamedByRepository(path: string, looks = LOOKS): Promise<boolean> {
  const named = await Promise.all(foldersAround(path).map(looks.namedByWorkTree))
  return named.flat().some((place) => isInside(place, path))
}

/** For a folder that may be a work tree: `.git` is the repository, or a file with its path. */
export async function namedByWorkTree(workTree: string): Promise<string[]> {
  const git = join(workTree, '.git')
  if (!(await isThere(git))) return []
  const elsewhere = /^gitdir:(.+)$/s.exec(await readSmallFile(git, MAX_CONFIG_BYTES))?.[1]!.trim()
  return namedByRepository(elsewhere === undefined ? git : resolve(workTree, elsewhere), workTree)
}

/** The files and folders elsewhere that a repository runs or reads as configuration. */
export async function namedByRepository(repository: string, workTree: string): Promise<string[]> {
  const common = resolve(repository, (await readSmallFile(join(repository, 'commondir'), MAX_CONFIG_BYTES)).trim())
  const configs = [join(common, 'config'), join(repository, 'config'), join(repository, 'config.worktree'), ...configsOfPerson()]
  const named = await namedByConfigs(configs, workTree)
  const hooks = await linksIn(join(common, 'hooks'))
  return [...named, ...hooks.map(({ target }) => target)]
}

/** For all repositories. */
export function configsOfPerson(): string[] {
  return [
    join(homedir(), '.gitconfig'),
    join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'git', 'config'),
    '/etc/gitconfig',
  ]
}

export async function namedByConfigs(configs: readonly string[], workTree: string): Promise<string[]> {
  const read = new Set<string>()
  const named: string[] = []
  for (const config of configs) await addNamedBy(config, { workTree, read, named })
  return named
}

const MAX_CONFIG_BYTES = 256 * 1024
/** A limit for configurations that include each other. */
const MAX_CONFIGS = 30
const MAX_FOLDERS = 8
/** Others write these lines: no two parts of it that follow each other match the same, which would take the square of the length. */
const SETTING = /^[ \t]*(?:\[.*?\][ \t]*)?([a-z][\w-]*)[ \t]*=[ \t]*(.*)$/gim
/** Their values are paths. Each of the others may be a command. */
const NAME_PATHS = ['hookspath', 'path', 'templatedir']
const NAME_TEXTS = ['attributesfile', 'excludesfile', 'ignorerevsfile', 'template']

/** Each path as written and as it really is. */
async function addNamedBy(
  config: string,
  { workTree, read, named }: { workTree: string; read: Set<string>; named: string[] },
): Promise<void> {
  if (read.has(config) || read.size >= MAX_CONFIGS) return
  read.add(config)
  const text = await readSmallFile(config, MAX_CONFIG_BYTES)
  // A program that `path` names.
  if (text.includes('\0')) return
  for (const [, name, value] of text.replace(/\\\r?\n/g, '').matchAll(SETTING)) {
    const key = name!.toLowerCase()
    const isPath = NAME_PATHS.includes(key)
    const from = key === 'path' ? dirname(config) : workTree
    for (const path of isPath ? pathIn(value!, from) : NAME_TEXTS.includes(key) ? [] : filesIn(value!, from)) {
      if (!isPath && (await lstat(path).catch(() => null))?.isDirectory()) continue
      named.push(path, await realpath(path).catch(() => path))
      if (key === 'path') await addNamedBy(path, { workTree, read, named })
    }
  }
}

function pathIn(value: string, from: string): string[] {
  const [, quoted, plain] = /^(?:"([^"]+)"|([^";#]+))/.exec(value) ?? []
  return quoted === undefined && plain === undefined ? [] : [resolve(from, atHome((quoted ?? plain!).trim()))]
}

/** The word after them is the folder in which the rest of a command runs. */
const GOES_TO = new Set(['cd', 'pushd', '-C', '--chdir', '--directory'])

/**
 * The words of a command that may be files of the project, seen from each folder that it goes to. Its first word without a slash is a
 * program from PATH. What a variable or a program returns counts as any of the folders: `$(git rev-parse --show-toplevel)/x`.
 */
function filesIn(value: string, workTree: string): string[] {
  const words = value.split(/[\s"'`;&|()<>!=\\]+/).filter((word) => word !== '' && word !== '--')
  const folders = [workTree]
  const placesOf = (word: string) => {
    const rest = /^(?:\$[^/]*)?(\/.+)$/.exec(atHome(word))?.[1]
    return [resolve(workTree, atHome(word)), ...folders.map((folder) => (rest === undefined ? resolve(folder, word) : join(folder, rest)))]
  }
  for (const [at, word] of words.entries())
    if (GOES_TO.has(words[at - 1] ?? '') && folders.length < MAX_FOLDERS) folders.push(...placesOf(word).slice(0, MAX_FOLDERS))
  const files = words.filter((word, at) => (word.includes('/') || (at > 0 && word.includes('.'))) && !/^\+?refs\/|:\/\//.test(word))
  return [...new Set(files.flatMap(placesOf))]
}

function atHome(path: string): string {
  return path.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, homedir())
}

/** The repository without a work tree around a folder; null: none. */
export async function repositoryAround(folder: string): Promise<string | null> {
  const folders = [folder, ...foldersAround(folder)]
  const found = await Promise.all(folders.map((one) => isRepository(one)))
  return folders.find((_, at) => found[at]) ?? null
}

function foldersAround(path: string): string[] {
  const folders: string[] = []
  for (let folder = dirname(path); folder !== (folders.at(-1) ?? path); folder = dirname(folder)) folders.push(folder)
  return folders
}

/** `next`: the folded name of a file that would be created in it. */
export async function isRepository(folder: string, next?: string): Promise<boolean> {
  const has = async (name: string) => next === name || (await isThere(join(folder, name === 'head' ? 'HEAD' : name)))
  const [head, objects, refs, commonDir] = await Promise.all(REPOSITORY.map(has))
  return head! && (commonDir! || (objects! && refs!))
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(() => true, () => false) // prettier-ignore
}
