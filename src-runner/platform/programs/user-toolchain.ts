import { constants, type Dirent, type Stats } from 'node:fs'
import { access, opendir, readFile, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, normalize, relative } from 'node:path'
import type { LeftOutFolder, LeftOutWhy } from '../../contract/doctor.ts'
import { outermost } from '../sandbox/sandbox-folders.ts'
import type { ShownPrograms } from '../sandbox/sandbox-types.ts'
import { BUBBLEWRAP_SYSTEM } from '../sandbox/find-sandbox.ts'
import { programFolders } from '../sandbox/launch.ts'
import { SEATBELT_SYSTEM } from '../sandbox/seatbelt-profile.ts'
import { isInside, secretPlaceOf, secretsOfHome } from '../protected-places/protected-places.ts'
import { readPathUnasked, type LoginPath } from './login-path.ts'
import { canWriteShellFiles } from './shell-files.ts'
import { createSettingsFinder, type Covered } from './program-config-files.ts'
import { COMPANIONS, homebrewParts, NEVER_SHOWN, selfContainedRoot, VERSION_MANAGERS, WELL_KNOWN } from './known-locations.ts'

/** The programs that a person installed, as far as agents' commands may run them. */
export type UserToolchain = ShownPrograms & {
  /** Folders of the person's PATH that are shown and are not the system's. */
  used: readonly string[]
  leftOut: readonly LeftOutFolder[]
  /** Where agents write. */
  writable: readonly string[]
}

export type UserToolchainDeps = {
  readPath: (options: { signal?: AbortSignal }) => Promise<LoginPath>
  signal?: AbortSignal
  /** Where agents write. A program there is never the person's, whatever its name. */
  writable: () => readonly string[]
  /** Deckhand's own data. */
  dataDir: string
  home?: string
}

/** Folders of the system that every sandbox shows. */
const SYSTEM_PLACES = process.platform === 'darwin' ? SEATBELT_SYSTEM : BUBBLEWRAP_SYSTEM

const MAX_ENTRIES = 20_000
const SIDE_BY_SIDE = 64
/** Other files in a folder of programs. With more it is something else. */
const MAX_COVERED = 100
const MAX_TAINTED = 50
/** Each shown place is one mount for each command. */
const MAX_SHOWN = 300
const MAX_CHOICE_CHARS = 64 * 1024
/** A program is followed to its interpreter, and that one to its own. */
const INTERPRETERS = ['bin/python3', 'bin/python', 'bin/node', 'bin/ruby']
const MAX_INTERPRETERS = 3

export function systemPrograms(): UserToolchain {
  return { path: programFolders(), shown: [], covered: [], links: [], env: {}, used: [], leftOut: [], writable: [] }
}

/** Real paths, except for `homeName`. */
type Rules = { home: string; homeName: string; writable: readonly string[]; closed: readonly string[] }

/**
 * Which folders of the person's PATH an agent's command gets, and what of the home is shown for them. Worked out for each
 * command, because programs come and go. The content of a folder is read again when the folder has changed.
 */
export function createUserToolchain({ readPath, signal, writable, dataDir, home: homeName = homedir() }: UserToolchainDeps) {
  const settingsIn = createSettingsFinder()
  const scans = new Map<string, { stamp: string; scan: Scan }>()
  let asked: Promise<{ login: LoginPath; folders: readonly string[] }> | null = null

  async function ask() {
    const rules = await rulesFor([])
    const agents = [...new Set([...rules.writable, ...writable()])]
    const isSafe = !(await canWriteShellFiles({ home: rules.home, homeName, folders: agents, env: process.env }))
    const login = isSafe ? await readPath(signal === undefined ? {} : { signal }) : await readPathUnasked()
    const folders = await Promise.all(login.folders.map(async (folder) => (isSafe ? resolveShims(folder, rules) : [folder])))
    return { login, folders: [...new Set(folders.flat())] }
  }

  async function rulesFor(closed: readonly string[]): Promise<Rules> {
    const allReal = (paths: readonly string[]) => Promise.all(paths.map(realOr))
    const [home, agents, kept] = await Promise.all([realOr(homeName), allReal(writable()), allReal([dataDir, ...closed])])
    return { home, homeName, writable: agents, closed: kept }
  }

  async function scanOf(folder: string, stats: Stats): Promise<Scan> {
    const stamp = `${stats.dev}:${stats.ino}:${stats.mtimeMs}`
    const known = scans.get(folder)
    if (known?.stamp === stamp) return known.scan
    const scan = await scanFolder(folder)
    scans.set(folder, { stamp, scan })
    return scan
  }

  /** `closed`: what rules keep from the agent, besides Deckhand's own data. */
  async function find(closed: readonly string[] = []): Promise<UserToolchain> {
    const rules = await rulesFor(closed)
    const path: string[] = []
    const leftOut: LeftOutFolder[] = []
    const takes: Take[] = []
    for (const folder of (await known()).folders) {
      const found = await look(folder, rules)
      if (found === 'missing') continue
      const take =
        typeof found === 'string' || found.isSystem
          ? found
          : await takeFolder(found.real, await scanOf(found.real, found.stats), rules, settingsIn)
      if (typeof take === 'string') leftOut.push({ folder, why: take })
      else if ('isSystem' in take) path.push(take.real)
      else {
        takes.push(take)
        path.push(take.folder)
      }
    }
    const everywhere = [...new Set([...path, ...programFolders()])]
    const kept: Take[] = []
    let shownCount = 0
    for (const take of takes) {
      const why = (await shadowsAnother(take, everywhere)) ? 'agents_write' : shownCount + take.shown.length > MAX_SHOWN ? 'too_much' : null
      if (why !== null) {
        leftOut.push({ folder: take.folder, why })
        continue
      }
      kept.push(take)
      shownCount += take.shown.length
    }
    const used = kept.map(({ folder }) => folder)
    return {
      path: everywhere.filter((folder) => used.includes(folder) || !takes.some((take) => take.folder === folder)),
      shown: outermost(kept.flatMap((take) => take.shown)),
      covered: [...new Map(kept.flatMap((take) => take.covered).map((place) => [place.path, place])).values()],
      links: rules.home === homeName || kept.length === 0 ? [] : [{ path: homeName, to: rules.home }],
      env: Object.assign({}, ...kept.map(({ env }) => env)) as Record<string, string>,
      used,
      leftOut,
      writable: rules.writable,
    }
  }

  /** A failure is not cached. */
  function known() {
    asked ??= ask().catch((thrown: unknown) => {
      asked = null
      throw thrown
    })
    return asked
  }

  return {
    find,
    /** Asks the person's shell again. Until it has answered, the earlier answer is used. */
    async refresh(): Promise<LoginPath> {
      const answer = asked === null ? await known() : await ask()
      asked = Promise.resolve(answer)
      return answer.login
    },
    login: async (): Promise<LoginPath> => (await known()).login,
    /** The well-known programs that are there. */
    async names(programs: UserToolchain): Promise<string[]> {
      const found = await Promise.all(WELL_KNOWN.map((name) => findByName(name, programs)))
      return WELL_KNOWN.filter((_, at) => found[at] !== null)
    },
  }
}

export type Startable = Pick<UserToolchain, 'path' | 'shown' | 'covered' | 'writable'>

/** On Windows a script (`npm.cmd`) needs a shell, which would parse its arguments again. */
const ENDINGS = process.platform === 'win32' ? ['', '.exe', '.com'] : ['']

/** The path of a program, found as a shell in the sandbox finds it; null: there is none. */
export async function findByName(name: string, programs: Startable): Promise<string | null> {
  for (const folder of programs.path) {
    for (const ending of ENDINGS) {
      const path = join(folder, name + ending)
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

async function look(folder: string, rules: Rules): Promise<LeftOutWhy | 'missing' | { real: string; isSystem: boolean; stats: Stats }> {
  if (!isAbsolute(folder) || normalize(folder).replace(/(.)\/$/, '$1') !== folder.replace(/(.)\/$/, '$1')) return 'relative'
  const real = await realpath(folder).catch(() => null)
  const stats = real === null ? null : await stat(real).catch(() => null)
  if (real === null || !stats?.isDirectory()) return 'missing'
  if (programFolders().includes(folder)) return { real: folder, isSystem: true, stats }
  if (isInside(real, rules.home)) return 'home_itself'
  // Its name counts as well: an agent that can write there can make the name lead elsewhere.
  if (overlaps(rules.writable, folder) || overlaps(rules.writable, real)) return 'agents_write'
  if (isIn(SYSTEM_PLACES, real)) return { real, isSystem: true, stats }
  const isHomebrew = (path: string) => homebrewParts(`${path}/`, rules.home).length > 0
  const looksOwn = isInHome(folder, rules) || isHomebrew(folder) || /^\/run\/user\/\d+\//.test(folder)
  const isOwn = isInHome(real, rules) || isHomebrew(real)
  if (!isOwn && !looksOwn) return 'elsewhere'
  if (!isOwn || !looksOwn) return 'leads_out'
  if ((stats.mode & constants.S_IWOTH) !== 0) return 'others_write'
  if (managerOf(real, rules) !== undefined) return 'no_choice'
  return objectionTo(real, rules) ?? { real, isSystem: false, stats }
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

type Scan = {
  /** Programs that are links, with their targets. */
  links: { name: string; real: string }[]
  others: { name: string; kind: 'file' | 'folder' }[]
  isTooLarge: boolean
}

async function scanFolder(folder: string): Promise<Scan> {
  const scan: Scan = { links: [], others: [], isTooLarge: false }
  const entries: Dirent[] = []
  for await (const entry of await opendir(folder, { bufferSize: 512 })) {
    if (entries.push(entry) > MAX_ENTRIES) return { ...scan, isTooLarge: true }
  }
  for (let at = 0; at < entries.length && scan.others.length <= MAX_COVERED; at += SIDE_BY_SIDE)
    await Promise.all(entries.slice(at, at + SIDE_BY_SIDE).map((entry) => scanEntry(folder, entry, scan)))
  return { ...scan, isTooLarge: scan.others.length > MAX_COVERED }
}

async function scanEntry(folder: string, entry: Dirent, scan: Scan): Promise<void> {
  const path = join(folder, entry.name)
  if (entry.isSymbolicLink()) {
    const real = await realpath(path).catch(() => null)
    if (real !== null && (await isMarkedExecutable(real))) scan.links.push({ name: entry.name, real })
  } else if (entry.isDirectory()) scan.others.push({ name: entry.name, kind: 'folder' })
  else if (!(await isMarkedExecutable(path))) scan.others.push({ name: entry.name, kind: 'file' })
}

/** Cheaper than `isProgram`: there may be thousands of them. */
async function isMarkedExecutable(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null)
  return stats !== null && stats.isFile() && (stats.mode & 0o111) !== 0
}

export async function isProgram(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null)
  return stats !== null && stats.isFile() && (await isAccessible(path, constants.X_OK))
}

async function isAccessible(path: string, mode?: number): Promise<boolean> {
  return access(path, mode).then(() => true, () => false) // prettier-ignore
}

type Take = {
  folder: string
  shown: string[]
  covered: Covered[]
  env: Record<string, string>
  /** Names whose links lead to where agents write. */
  tainted: string[]
}

/** What of the home must be shown so that the programs of a folder run. */
async function takeFolder(
  folder: string,
  scan: Scan,
  rules: Rules,
  settingsIn: ReturnType<typeof createSettingsFinder>,
): Promise<LeftOutWhy | Take> {
  if (scan.isTooLarge) return 'not_programs'
  const { home } = rules
  const ownRoot = rootOf(folder, home)
  const homebrew = homebrewParts(`${folder}/`, home)
  const companion = COMPANIONS.find((one) => join(home, one.folder) === folder)
  const isWhole = ownRoot !== null || homebrew.length > 0
  const inside = ownRoot ?? (homebrew.length > 0 ? dirname(folder) : folder)
  const tainted = scan.links.filter(({ real }) => overlaps(rules.writable, real)).map(({ name }) => name)
  const linked = scan.links.filter(({ name, real }) => !tainted.includes(name) && isInHome(real, rules) && !isInside(inside, real))
  const roots = new Set([
    ...(ownRoot === null ? [] : [ownRoot]),
    ...linked.map(({ real }) => rootOf(real, home) ?? real),
    ...(companion?.needs ?? []).map((need) => join(home, need)),
  ])
  await addInterpreters(roots, home)
  const shown = isWhole ? [] : [folder]
  for (const place of [...homebrew, ...roots]) if (objectionTo(place, rules) === null && (await isAccessible(place))) shown.push(place)
  if (ownRoot !== null && !shown.includes(ownRoot)) return objectionTo(ownRoot, rules) ?? 'closed'
  if (shown.length > MAX_SHOWN) return 'too_much'
  const settings = await settingsIn(shown)
  if (settings === null) return 'too_much'
  const others = scan.others.map(({ name, kind }) => ({ path: join(folder, name), kind })).filter(({ path }) => !shown.includes(path))
  return {
    folder,
    shown,
    covered: [...(isWhole ? [] : others), ...settings],
    env: Object.fromEntries(Object.entries(companion?.env ?? {}).map(([name, place]) => [name, join(home, place)])),
    tainted,
  }
}

function rootOf(place: string, home: string): string | null {
  const root = isInside(home, place) ? selfContainedRoot(relative(home, `${place}/x`)) : null
  return root === null ? null : join(home, root)
}

/** A Python environment runs on a Python elsewhere, which may do the same. */
async function addInterpreters(roots: Set<string>, home: string): Promise<void> {
  let fresh = [...roots]
  for (let depth = 0; depth < MAX_INTERPRETERS && fresh.length > 0; depth++) {
    const reals = await Promise.all(fresh.flatMap((root) => INTERPRETERS.map((name) => realOr(join(root, name)))))
    fresh = [...new Set(reals.map((real) => rootOf(real, home)))].filter((root) => root !== null && !roots.has(root)) as string[]
    for (const root of fresh) roots.add(root)
  }
}

/** In the sandbox a tainted name would hide another program of that name, so its folder is not used. */
async function shadowsAnother({ folder, tainted }: Take, path: readonly string[]): Promise<boolean> {
  if (tainted.length > MAX_TAINTED) return true
  const others = path.filter((other) => other !== folder)
  const hits = await Promise.all(tainted.flatMap((name) => others.map((other) => isProgram(join(other, name)))))
  return hits.includes(true)
}

async function realOr(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

function managerOf(folder: string, { home }: Rules) {
  return VERSION_MANAGERS.find(({ shims }) => join(home, shims) === folder)
}

/** Replaces a folder of shims by the folders of the chosen versions. If none is chosen it stays, and `look` leaves it out. */
async function resolveShims(folder: string, rules: Rules): Promise<string[]> {
  const manager = managerOf(await realOr(folder), rules)
  if (manager === undefined) return [folder]
  const installs = join(rules.home, manager.installs)
  const text = await readFile(join(rules.home, manager.chosenIn), 'utf8').catch(() => '')
  const chosen = [...text.slice(0, MAX_CHOICE_CHARS).matchAll(manager.line)].flatMap(({ groups }) =>
    (groups!['versions']!.match(/\w[\w.+@-]*/g) ?? []).map((version) => join(installs, groups!['tool'] ?? '', version, 'bin')),
  )
  const bins = await Promise.all(chosen.map((bin) => realpath(bin).catch(() => '')))
  const found = bins.filter((bin) => bin !== installs && isInside(installs, bin))
  return found.length === 0 ? [folder] : found
}
