import { constants, type Dirent, type Stats } from 'node:fs'
import { access, opendir, readFile, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, normalize, relative } from 'node:path'
import type { LeftOutFolder, LeftOutWhy } from '../../contract/doctor.ts'
import { outermost } from '../box/box-folders.ts'
import type { ShownPrograms } from '../box/box-types.ts'
import { BUBBLEWRAP_SYSTEM } from '../box/find-box.ts'
import { programFolders } from '../box/launch.ts'
import { SEATBELT_SYSTEM } from '../box/seatbelt-profile.ts'
import { isInside, secretPlaceOf, secretsOfHome } from '../protected-places/protected-places.ts'
import { answerOf, readPathUnasked, type LoginPath } from './login-path.ts'
import { canWriteShellFiles } from './shell-files.ts'
import { createSettingsFinder, type Covered } from './program-settings.ts'
import { COMPANIONS, homebrewParts, NEVER_SHOWN, selfContainedRoot, SHIMS, WELL_KNOWN, type Shims } from './program-places.ts'

/** What a person has installed for themselves, as far as programs of agents may have it. */
export type OwnPrograms = ShownPrograms & {
  /** Folders of the person's PATH that are not the system's, and are shown. */
  used: readonly string[]
  leftOut: readonly LeftOutFolder[]
  /** Where agents write. */
  writable: readonly string[]
}

export type OwnProgramsDeps = {
  readPath: (options: { signal?: AbortSignal }) => Promise<LoginPath>
  /** Ends what is being asked. */
  signal?: AbortSignal
  /** Places that agents write to: what lies there is no program of the person's, whatever its name. */
  writable: () => readonly string[]
  /** Deckhand's own data. */
  dataDir: string
  home?: string
}

/** Folders of the system that every box shows. */
const SYSTEM_PLACES = process.platform === 'darwin' ? SEATBELT_SYSTEM : BUBBLEWRAP_SYSTEM

const MAX_ENTRIES = 20_000
const SIDE_BY_SIDE = 64
/** Of things in one folder that are no programs. A folder with more is something else. */
const MAX_COVERED = 100
/** Of names in one folder that lead to agents. */
const MAX_TAINTED = 50
/** Of all that is shown: each is a mount of its own, for each command. */
const MAX_SHOWN = 300
const MAX_CHOICE_BYTES = 64 * 1024
const ASK_MS = 3_000
/** How far a program is followed to the interpreter that it runs on, and that one to its own. */
const INTERPRETERS = ['bin/python3', 'bin/python', 'bin/node', 'bin/ruby']
const MAX_INTERPRETERS = 3

/** The system's programs and no others. */
export function systemPrograms(): OwnPrograms {
  return { path: programFolders(), shown: [], covered: [], links: [], env: {}, used: [], leftOut: [], writable: [] }
}

type Asked = { login: LoginPath; folders: readonly string[] }

/** All of them real paths, but for how the home is called. */
type Rules = { home: string; homeName: string; writable: readonly string[]; closed: readonly string[] }

/**
 * Which folders of the PATH programs of agents have, and what of the home is shown for them. Looked at anew for each
 * command, since programs come and go; what a folder holds is read again when the folder has changed.
 */
export function createOwnPrograms({ readPath, signal, writable, dataDir, home: homeName = homedir() }: OwnProgramsDeps) {
  const settingsIn = createSettingsFinder()
  const scans = new Map<string, { stamp: string; scan: Scan }>()
  let asked: Promise<Asked> | null = null

  async function ask(): Promise<Asked> {
    const rules = await rulesFor([])
    const agents = [...new Set([...rules.writable, ...writable()])]
    const isSafe = !(await canWriteShellFiles({ home: rules.home, homeName, folders: agents, env: process.env }))
    const login = isSafe ? await readPath(signal === undefined ? {} : { signal }) : await readPathUnasked()
    const folders: string[] = []
    for (const folder of login.folders) {
      // What doors lead to may be looked up by a program that reads settings of the home.
      if (isSafe) folders.push(...(await behindShims(folder, login.folders, rules, signal)))
      else folders.push(folder)
    }
    return { login, folders: [...new Set(folders)] }
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
  async function find(closed: readonly string[] = []): Promise<OwnPrograms> {
    const rules = await rulesFor(closed)
    const { folders } = await known()
    const path: string[] = []
    const leftOut: LeftOutFolder[] = []
    const takes: Take[] = []
    for (const folder of folders) {
      const found = await look(folder, rules)
      if (found === 'missing') continue
      if (typeof found === 'string') leftOut.push({ folder, why: found })
      else if (found.isSystem) path.push(found.real)
      else {
        const take = await takeFolder(found.real, await scanOf(found.real, found.stats), rules, settingsIn)
        if (typeof take === 'string') leftOut.push({ folder, why: take })
        else {
          takes.push(take)
          path.push(take.folder)
        }
      }
    }
    const everywhere = [...new Set([...path, ...programFolders()])]
    const shadowed = await Promise.all(takes.map((take) => shadowsAnother(take, everywhere)))
    const kept = takes.filter((_, at) => !shadowed[at])
    for (const { folder } of takes.filter((_, at) => shadowed[at])) leftOut.push({ folder, why: 'agents_write' })
    while (kept.reduce((sum, { shown }) => sum + shown.length, 0) > MAX_SHOWN) leftOut.push({ folder: kept.pop()!.folder, why: 'too_much' })
    const used = kept.map(({ folder }) => folder)
    const shown = outermost(kept.flatMap((take) => take.shown))
    const covered = kept.flatMap((take) => take.covered)
    return {
      path: everywhere.filter((folder) => used.includes(folder) || !takes.some((take) => take.folder === folder)),
      shown,
      covered: [...new Map(covered.map((place) => [place.path, place])).values()],
      links: rules.home === homeName || kept.length === 0 ? [] : [{ path: homeName, to: rules.home }],
      env: Object.assign({}, ...kept.map(({ env }) => env)) as Record<string, string>,
      used,
      leftOut,
      writable: rules.writable,
    }
  }

  /** A failure is not remembered: the next one asks again. */
  function known(): Promise<Asked> {
    asked ??= ask().catch((thrown: unknown) => {
      asked = null
      throw thrown
    })
    return asked
  }

  return {
    find,
    /** Asks the person's shell again; what was known is used until it has answered. */
    async refresh(): Promise<LoginPath> {
      if (asked === null) return (await known()).login
      const anew = await ask()
      asked = Promise.resolve(anew)
      return anew.login
    },
    login: async (): Promise<LoginPath> => (await known()).login,
    /** Of the well-known programs those that are there. */
    async names(programs: OwnPrograms): Promise<string[]> {
      const isThere = await Promise.all(WELL_KNOWN.map((name) => findByName(name, programs)))
      return WELL_KNOWN.filter((_, at) => isThere[at] !== null)
    },
  }
}

export type Startable = Pick<OwnPrograms, 'path' | 'shown' | 'covered' | 'writable'>

/** On Windows a script (`npm.cmd`) can only be started by a shell, which would read its arguments a second time. */
const ENDINGS = process.platform === 'win32' ? ['', '.exe', '.com'] : ['']

/** The path of a program by its name, as a shell in the box finds it; null: there is none. */
export async function findByName(name: string, programs: Startable): Promise<string | null> {
  for (const folder of programs.path) {
    for (const ending of ENDINGS) {
      const path = join(folder, name + ending)
      if (await mayStart(path, programs)) return path
    }
  }
  return null
}

/**
 * Whether it is a program, and what its name leads to is the system's, or among what is shown of the person's. A link in a
 * folder of programs may lead anywhere, also to where an agent writes.
 */
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

type Looked = { real: string; isSystem: boolean; stats: Stats }

async function look(folder: string, rules: Rules): Promise<LeftOutWhy | 'missing' | Looked> {
  if (!isAbsolute(folder) || normalize(folder).replace(/(.)\/$/, '$1') !== folder.replace(/(.)\/$/, '$1')) return 'relative'
  const real = await realpath(folder).catch(() => null)
  const stats = real === null ? null : await stat(real).catch(() => null)
  if (real === null || !stats?.isDirectory()) return 'missing'
  if (programFolders().includes(folder)) return { real: folder, isSystem: true, stats }
  if (real === rules.home || isInside(real, rules.home)) return 'home_itself'
  // Also how it is called: whoever can write there can make the name lead elsewhere.
  if (overlaps(rules.writable, folder) || overlaps(rules.writable, real)) return 'agents_write'
  if (isIn(SYSTEM_PLACES, real)) return { real, isSystem: true, stats }
  const looksOwn = isInHome(folder, rules) || /^\/run\/user\/\d+\//.test(folder)
  const isOwn = isInHome(real, rules) || homebrewParts(`${real}/`, rules.home).length > 0
  if (!isOwn) return looksOwn ? 'leads_out' : 'elsewhere'
  if (!looksOwn && homebrewParts(`${folder}/`, rules.home).length === 0) return 'leads_out'
  if ((stats.mode & constants.S_IWOTH) !== 0) return 'others_write'
  if (shimsAt(real, rules) !== undefined) return 'no_choice'
  return objectionTo(real, rules) ?? { real, isSystem: false, stats }
}

function isInHome(path: string, { home, homeName }: Rules): boolean {
  // Where the whole disk is somebody's home, nothing tells what is theirs.
  return home !== '/' && (isInside(home, path) || isInside(homeName, path))
}

/** Why a place in the home is not shown. */
function objectionTo(place: string, { home, writable, closed }: Rules): LeftOutWhy | null {
  if (overlaps(writable, place)) return 'agents_write'
  if (overlaps(closed, place)) return 'closed'
  if (place === home || isInside(place, home)) return 'home_itself'
  const inHome = relative(home, place)
  const secrets = [...NEVER_SHOWN.map((name) => join(home, name)), ...secretsOfHome(home)]
  const isSecret = secretPlaceOf(place) !== null || secrets.some((secret) => isInside(place, secret) || isInside(secret, place))
  return isSecret && selfContainedRoot(`${inHome}/x`) === null ? 'secrets' : null
}

type Scan = {
  /** Programs, and where those are that are links: their last name is not what runs. */
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
  return scan
}

async function scanEntry(folder: string, entry: Dirent, scan: Scan): Promise<void> {
  const path = join(folder, entry.name)
  if (entry.isSymbolicLink()) {
    // One that leads nowhere, or round and round, is no program.
    const real = await realpath(path).catch(() => null)
    if (real !== null && (await mayBeProgram(real))) scan.links.push({ name: entry.name, real })
  } else if (entry.isDirectory()) scan.others.push({ name: entry.name, kind: 'folder' })
  else if (!(await mayBeProgram(path))) scan.others.push({ name: entry.name, kind: 'file' })
}

/** Told from what the file itself says, since there may be thousands of them. */
async function mayBeProgram(path: string): Promise<boolean> {
  return stat(path).then((stats) => stats.isFile() && (stats.mode & 0o111) !== 0, () => false) // prettier-ignore
}

export async function isProgram(path: string): Promise<boolean> {
  const isFile = await stat(path).then((stats) => stats.isFile(), () => false) // prettier-ignore
  return isFile && access(path, constants.X_OK).then(() => true, () => false) // prettier-ignore
}

type SettingsFinder = ReturnType<typeof createSettingsFinder>

type Take = {
  folder: string
  shown: string[]
  covered: Covered[]
  env: Record<string, string>
  /** Names that lead to where agents write. */
  tainted: string[]
}

/** What of the home has to be shown so that the programs of a folder run. */
async function takeFolder(folder: string, scan: Scan, rules: Rules, settingsIn: SettingsFinder): Promise<LeftOutWhy | Take> {
  if (scan.isTooLarge || scan.others.length > MAX_COVERED) return 'not_programs'
  const { home } = rules
  const homebrew = await Promise.all(
    homebrewParts(`${folder}/`, home).map(async (part) => (objectionTo(part, rules) === null && (await isThere(part)) ? [part] : [])),
  )
  const shown = new Set<string>(homebrew.flat())
  const tainted: string[] = []
  const ownRoot = rootOf(folder, home)
  const roots = new Set<string>(ownRoot === null ? [] : [ownRoot])
  const isWhole = ownRoot !== null || shown.size > 0
  if (!isWhole) shown.add(folder)
  for (const { name, real } of scan.links) {
    if (overlaps(rules.writable, real)) tainted.push(name)
    else if (isInHome(real, rules) && !isIn([...shown], real)) roots.add(rootOf(real, home) ?? real)
  }
  const companion = COMPANIONS.find((one) => join(home, one.folder) === folder)
  for (const need of companion?.needs ?? []) roots.add(join(home, need))
  await addInterpreters(roots, home)
  for (const root of roots) if (objectionTo(root, rules) === null && (await isThere(root))) shown.add(root)
  if (ownRoot !== null && !shown.has(ownRoot)) return objectionTo(ownRoot, rules) ?? 'closed'
  if (shown.size > MAX_SHOWN) return 'too_much'
  const besides = scan.others.map(({ name, kind }) => ({ path: join(folder, name), kind })).filter(({ path }) => !shown.has(path))
  const settings = await settingsIn([...shown])
  if (settings === null) return 'too_much'
  return {
    folder,
    shown: [...shown],
    covered: [...(isWhole ? [] : besides), ...settings],
    env: Object.fromEntries(Object.entries(companion?.env ?? {}).map(([name, place]) => [name, join(home, place)])),
    tainted,
  }
}

function rootOf(place: string, home: string): string | null {
  if (!isInside(home, place)) return null
  const root = selfContainedRoot(relative(home, `${place}/x`))
  return root === null ? null : join(home, root)
}

/** An environment of Python runs on a Python that lies elsewhere, which may in turn. */
async function addInterpreters(roots: Set<string>, home: string): Promise<void> {
  let fresh = [...roots]
  for (let depth = 0; depth < MAX_INTERPRETERS && fresh.length > 0; depth++) {
    const found = await Promise.all(
      fresh.flatMap((root) => INTERPRETERS.map((name) => realpath(join(root, name)).then((real) => rootOf(real, home), () => null))), // prettier-ignore
    )
    fresh = [...new Set(found)].filter((root): root is string => root !== null && !roots.has(root))
    for (const root of fresh) roots.add(root)
  }
}

/** A name that leads to where agents write is not used; where it would hide a program of the same name, neither is its folder. */
async function shadowsAnother({ folder, tainted }: Take, path: readonly string[]): Promise<boolean> {
  if (tainted.length > MAX_TAINTED) return true
  const others = path.filter((other) => other !== folder)
  const hits = await Promise.all(tainted.flatMap((name) => others.map((other) => isProgram(join(other, name)))))
  return hits.includes(true)
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(() => true, () => false) // prettier-ignore
}

async function realOr(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

/** What doors lead to, in place of their folder. Where nobody says what was chosen it stays, and is left out later. */
async function behindShims(folder: string, path: readonly string[], rules: Rules, signal?: AbortSignal): Promise<string[]> {
  const shims = shimsAt(await realOr(folder), rules)
  if (shims === undefined) return [folder]
  const chosen = shims.chosenBy === 'file' ? await chosenInFile(shims, rules.home) : await chosenByProgram(shims, path, rules, signal)
  const root = join(rules.home, shims.chosenBy === 'file' ? shims.installs : dirname(shims.folder))
  const found = await Promise.all(chosen.filter(isAbsolute).map((bin) => realpath(bin).catch(() => '')))
  const bins = found.filter((bin) => isInside(root, bin) && bin !== root)
  return bins.length === 0 ? [folder] : bins
}

function shimsAt(folder: string, { home }: Rules): Shims | undefined {
  return SHIMS.find((one) => join(home, one.folder) === folder)
}

async function chosenInFile({ file, installs, lineNames }: Extract<Shims, { chosenBy: 'file' }>, home: string): Promise<string[]> {
  const text = await readFile(join(home, file), 'utf8').catch(() => '')
  const lines = text.slice(0, MAX_CHOICE_BYTES).split('\n').map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== '') // prettier-ignore
  const isName = (name: string | undefined): name is string => name !== undefined && /^[\w][\w.+@-]*$/.test(name)
  return lines.flatMap((line) => {
    const words = line.split(/\s+/)
    if (lineNames === 'version') return words.filter(isName).map((version) => join(home, installs, version, 'bin'))
    const [tool, ...versions] = words
    return isName(tool) ? versions.filter(isName).map((version) => join(home, installs, tool, version, 'bin')) : []
  })
}

async function chosenByProgram(
  { program, args }: Extract<Shims, { chosenBy: 'program' }>,
  path: readonly string[],
  rules: Rules,
  signal?: AbortSignal,
): Promise<string[]> {
  // It may look for helpers there.
  const reals = await Promise.all(path.map(realOr))
  const safe = path.filter((folder, at) => isAbsolute(folder) && !overlaps(rules.writable, folder) && !overlaps(rules.writable, reals[at]!))
  for (const folder of safe) {
    const file = join(folder, program)
    if (!(await isProgram(file)) || overlaps(rules.writable, await realOr(file))) continue
    const env = { HOME: rules.home, PATH: safe.join(':') }
    const said = await answerOf(file, { args, env, cwd: rules.home, timeoutMs: ASK_MS, signal }).catch(() => '')
    return said.split('\n').map((line) => line.trim()).filter((line) => line !== '') // prettier-ignore
  }
  return []
}
