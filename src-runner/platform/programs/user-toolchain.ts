import { constants, type Dirent } from 'node:fs'
import { access, opendir, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, normalize, relative } from 'node:path'
import type { LeftOutFolder, LeftOutWhy } from '../../contract/doctor.ts'
import { outermost } from '../sandbox/sandbox-folders.ts'
import type { HiddenPlace, ShownPrograms } from '../sandbox/sandbox-types.ts'
import { BUBBLEWRAP_SYSTEM } from '../sandbox/find-sandbox.ts'
import { programFolders } from '../sandbox/launch.ts'
import { SEATBELT_SYSTEM } from '../sandbox/seatbelt-profile.ts'
import { isInside, secretPlaceOf, secretsOfHome } from '../protected-places/places-by-path.ts'
import { findSettings } from './program-config-files.ts'
import { COMPANIONS, homebrewParts, NEVER_SHOWN, selfContainedRoot, WELL_KNOWN } from './known-locations.ts'

/** The programs that a person installed and that agents' commands may run. */
export type UserToolchain = ShownPrograms & {
  /** Folders that are shown and are not the system's. */
  used: readonly string[]
  leftOut: readonly LeftOutFolder[]
  /** Where agents write. */
  writable: readonly string[]
}

export type UserToolchainDeps = {
  /** Folders where programs may be, in the order of PATH. */
  listFolders: () => Promise<readonly string[]>
  /** Where agents write. A program there is never the person's. */
  writable: () => readonly string[]
  /** Deckhand's own data. */
  dataDir: string
  home?: string
}

/** Folders of the system that every sandbox shows. */
const SYSTEM_PLACES = process.platform === 'darwin' ? SEATBELT_SYSTEM : BUBBLEWRAP_SYSTEM

const MAX_ENTRIES = 20_000
/** With more other files it is no folder of programs. */
const MAX_COVERED = 100
const MAX_TAINTED = 50
/** Each shown place is one mount for each command. */
const MAX_SHOWN = 300
const INTERPRETERS = ['bin/python3', 'bin/python', 'bin/node', 'bin/ruby']

export function systemPrograms(): UserToolchain {
  return { path: programFolders(), shown: [], covered: [], links: [], env: {}, used: [], leftOut: [], writable: [] }
}

/** Real paths, except for `homeName`. */
type Rules = {
  home: string
  homeName: string
  writable: readonly string[]
  closed: readonly string[]
}

/** A folder of programs, and what of the home must be shown so that its programs run. */
type UsableFolder = {
  folder: string
  isSystem: boolean
  shown: string[]
  covered: HiddenPlace[]
  env: Record<string, string>
  /** Names whose links lead to where agents write. */
  tainted: string[]
}

/** Which folders of programs a command gets. Worked out for each command, because programs come and go. */
export function createUserToolchain({ listFolders, writable, dataDir, home: homeName = homedir() }: UserToolchainDeps) {
  async function rulesFor(closed: readonly string[]): Promise<Rules> {
    const allReal = (paths: readonly string[]) => Promise.all(paths.map(realOr))
    const [home, agents, kept] = await Promise.all([realOr(homeName), allReal(writable()), allReal([dataDir, ...closed])])
    return { home, homeName, writable: agents, closed: kept }
  }

  return {
    /** `closed`: what rules keep from the agent, besides Deckhand's own data. */
    async find(closed: readonly string[] = []): Promise<UserToolchain> {
      const rules = await rulesFor(closed)
      const folders = await listFolders()
      const checked = await Promise.all(folders.map((folder) => checkFolder(folder, rules)))
      const leftOut: LeftOutFolder[] = []
      const usable: UsableFolder[] = []
      for (const [at, found] of checked.entries()) {
        if (typeof found === 'string') leftOut.push({ folder: folders[at]!, why: found })
        else if (found !== null) usable.push(found)
      }
      const path = [...new Set([...usable.map(({ folder }) => folder), ...programFolders()])]
      const own: UsableFolder[] = []
      const unused = new Set<string>()
      for (const one of usable.filter(({ isSystem }) => !isSystem)) {
        const shownCount = own.reduce((sum, { shown }) => sum + shown.length, one.shown.length)
        const why = (await shadowsAnother(one, path)) ? 'agents_write' : shownCount > MAX_SHOWN ? 'too_much' : null
        if (why === null) own.push(one)
        else {
          leftOut.push({ folder: one.folder, why })
          unused.add(one.folder)
        }
      }
      return {
        path: path.filter((folder) => !unused.has(folder)),
        shown: outermost(own.flatMap(({ shown }) => shown)),
        covered: [...new Map(own.flatMap(({ covered }) => covered).map((place) => [place.path, place])).values()],
        links: rules.home === homeName || own.length === 0 ? [] : [{ path: homeName, to: rules.home }],
        env: Object.assign({}, ...own.map(({ env }) => env)) as Record<string, string>,
        used: own.map(({ folder }) => folder),
        leftOut,
        writable: rules.writable,
      }
    },
    /** The well-known programs that are installed. */
    async names(programs: UserToolchain): Promise<string[]> {
      const found = await Promise.all(WELL_KNOWN.map((name) => findByName(name, programs)))
      return WELL_KNOWN.filter((_, at) => found[at] !== null)
    },
  }
}

export type Startable = Pick<UserToolchain, 'path' | 'shown' | 'covered' | 'writable'>

/** On Windows a script (`npm.cmd`) needs a shell, which would parse its arguments again. */
const EXTENSIONS = process.platform === 'win32' ? ['', '.exe', '.com'] : ['']

/** The path of a program, found as a shell in the sandbox finds it; null: there is none. */
export async function findByName(name: string, programs: Startable): Promise<string | null> {
  for (const folder of programs.path) {
    for (const extension of EXTENSIONS) {
      const path = join(folder, name + extension)
      if (await mayStart(path, programs)) return path
    }
  }
  return null
}

/** A link in a folder of programs may lead anywhere, so its target must be the system's or shown, and not written by agents. */
export async function mayStart(path: string, { shown, covered, writable }: Startable): Promise<boolean> {
  const real = await realpath(path).catch(() => null)
  if (real === null || !(await isProgram(real)) || isIn(writable, real)) return false
  if (programFolders().includes(dirname(path)) || isIn(SYSTEM_PLACES, real)) return true
  return isIn(shown, real) && !covered.some((place) => isInside(place.path, real))
}

function isIn(folders: readonly string[], path: string): boolean {
  return folders.some((folder) => isInside(folder, path))
}

function overlaps(places: readonly string[], path: string): boolean {
  return places.some((place) => isInside(place, path) || isInside(path, place))
}

/** A string: why the folder is left out. null: it does not exist. */
async function checkFolder(folder: string, rules: Rules): Promise<UsableFolder | LeftOutWhy | null> {
  if (!isAbsolute(folder) || normalize(folder).replace(/(.)\/$/, '$1') !== folder.replace(/(.)\/$/, '$1')) return 'relative'
  const real = await realpath(folder).catch(() => null)
  const stats = real === null ? null : await stat(real).catch(() => null)
  if (real === null || !stats?.isDirectory()) return null
  if (programFolders().includes(folder)) return systemFolder(folder)
  if (isInside(real, rules.home)) return 'home_itself'
  // Its name counts as well: an agent that can write there can make the name lead elsewhere.
  if (overlaps(rules.writable, folder) || overlaps(rules.writable, real)) return 'agents_write'
  if (isIn(SYSTEM_PLACES, real)) return systemFolder(real)
  const isHomebrew = (path: string) => homebrewParts(`${path}/`, rules.home).length > 0
  const looksOwn = isInHome(folder, rules) || isHomebrew(folder) || /^\/run\/user\/\d+\//.test(folder)
  const isOwn = isInHome(real, rules) || isHomebrew(real)
  if (!isOwn && !looksOwn) return 'elsewhere'
  if (!isOwn || !looksOwn) return 'leads_out'
  if ((stats.mode & constants.S_IWOTH) !== 0) return 'others_write'
  return objectionTo(real, rules) ?? useFolder(real, rules)
}

function systemFolder(folder: string): UsableFolder {
  return { folder, isSystem: true, shown: [], covered: [], env: {}, tainted: [] }
}

function isInHome(path: string, { home, homeName }: Rules): boolean {
  return home !== '/' && (isInside(home, path) || isInside(homeName, path))
}

/** Why a place in the home must not be shown; null: it may be. */
function objectionTo(place: string, { home, writable, closed }: Rules): LeftOutWhy | null {
  if (overlaps(writable, place)) return 'agents_write'
  if (overlaps(closed, place)) return 'closed'
  if (isInside(place, home)) return 'home_itself'
  const secrets = [...NEVER_SHOWN.map((name) => join(home, name)), ...secretsOfHome(home)]
  const isSecret = secretPlaceOf(place) !== null || overlaps(secrets, place)
  return isSecret && rootOf(place, home) === null ? 'secrets' : null
}

async function useFolder(folder: string, rules: Rules): Promise<UsableFolder | LeftOutWhy> {
  const { home } = rules
  const entries = await scanFolder(folder)
  if (entries === null) return 'not_programs'
  const ownRoot = rootOf(folder, home)
  const own = ownRoot === null ? homebrewParts(`${folder}/`, home) : [ownRoot]
  const companion = COMPANIONS.find((one) => join(home, one.folder) === folder)
  const tainted = entries.links.filter(({ real }) => overlaps(rules.writable, real)).map(({ name }) => name)
  const linked = entries.links.filter(({ name, real }) => !tainted.includes(name) && isInHome(real, rules) && !isIn([folder, ...own], real))
  const roots = new Set([...own, ...linked.map(({ real }) => rootOf(real, home) ?? real)])
  for (const need of companion?.needs ?? []) roots.add(join(home, need))
  await addInterpreters(roots, home)
  const shown = own.length > 0 ? [] : [folder]
  for (const place of roots) if (objectionTo(place, rules) === null && (await isAccessible(place))) shown.push(place)
  if (ownRoot !== null && !shown.includes(ownRoot)) return objectionTo(ownRoot, rules) ?? 'closed'
  if (shown.length > MAX_SHOWN) return 'too_much'
  const settings = await Promise.all(shown.map(findSettings))
  if (settings.includes(null)) return 'too_much'
  const others = own.length > 0 ? [] : entries.others.filter(({ path }) => !shown.includes(path))
  const env = Object.entries(companion?.env ?? {}).map(([name, place]) => [name, join(home, place)] as const)
  return {
    folder,
    isSystem: false,
    shown,
    covered: [...others, ...settings.flatMap((found) => found ?? [])],
    env: Object.fromEntries(env),
    tainted,
  }
}

type Entries = {
  /** Programs that are links, with their targets. */
  links: { name: string; real: string }[]
  others: HiddenPlace[]
}

/** null: there are too many entries, or too many that are not programs. */
async function scanFolder(folder: string): Promise<Entries | null> {
  const entries: Dirent[] = []
  for await (const entry of await opendir(folder, { bufferSize: 512 })) if (entries.push(entry) > MAX_ENTRIES) return null
  const found: Entries = { links: [], others: [] }
  await Promise.all(entries.map((entry) => scanEntry(join(folder, entry.name), entry, found)))
  return found.others.length > MAX_COVERED ? null : found
}

async function scanEntry(path: string, entry: Dirent, { links, others }: Entries): Promise<void> {
  if (entry.isSymbolicLink()) {
    const real = await realpath(path).catch(() => null)
    if (real !== null && (await isProgram(real))) links.push({ name: entry.name, real })
  } else if (entry.isDirectory()) others.push({ path, kind: 'folder' })
  else if (!(await isProgram(path))) others.push({ path, kind: 'file' })
}

export async function isProgram(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null)
  return stats !== null && stats.isFile() && (await isAccessible(path, constants.X_OK))
}

async function isAccessible(path: string, mode?: number): Promise<boolean> {
  return access(path, mode).then(() => true, () => false) // prettier-ignore
}

function rootOf(place: string, home: string): string | null {
  const root = isInside(home, place) ? selfContainedRoot(relative(home, `${place}/x`)) : null
  return root === null ? null : join(home, root)
}

/** A Python environment runs on a Python elsewhere, which may do the same. The loop also visits what it adds. */
async function addInterpreters(roots: Set<string>, home: string): Promise<void> {
  for (const root of roots) {
    for (const name of INTERPRETERS) {
      const found = rootOf(await realOr(join(root, name)), home)
      if (found !== null) roots.add(found)
    }
  }
}

/** In the sandbox a tainted name would hide another program of that name, so its folder is not used. */
async function shadowsAnother({ folder, tainted }: UsableFolder, path: readonly string[]): Promise<boolean> {
  if (tainted.length > MAX_TAINTED) return true
  const others = path.filter((other) => other !== folder)
  const hits = await Promise.all(tainted.flatMap((name) => others.map((other) => isProgram(join(other, name)))))
  return hits.includes(true)
}

async function realOr(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}
