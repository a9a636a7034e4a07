import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, sep } from 'node:path'
import { foldName, foldParts, matchOf, patternsOf, type Patterns } from './path-patterns.ts'
import {
  CODE,
  CODE_OF_HOMES,
  CODE_OF_PROJECTS,
  CODE_OF_SYSTEM,
  CODE_OF_WINDOWS,
  DEPENDENCIES,
  HIDDEN_OF_HOMES,
  PROGRAM_SETTINGS,
  SECRETS,
  SECRETS_OF_HOMES,
} from './place-lists.ts'

const PATTERNS = {
  code: patternsOf(CODE),
  codeOfProjects: patternsOf(CODE_OF_PROJECTS),
  codeOfHomes: patternsOf(CODE_OF_HOMES),
  hiddenOfHomes: patternsOf(HIDDEN_OF_HOMES),
  codeOfSystem: patternsOf(CODE_OF_SYSTEM),
  codeOfWindows: patternsOf(CODE_OF_WINDOWS),
  secrets: patternsOf(SECRETS),
  secretsOfHomes: patternsOf(SECRETS_OF_HOMES),
  settings: patternsOf(PROGRAM_SETTINGS),
}
const LAST_OF_SETTINGS = patternsOf(PROGRAM_SETTINGS.map((text) => text.split('/').at(-1)!))
const LAST_PARTS = patternsOf(
  [...CODE, ...CODE_OF_WINDOWS, ...CODE_OF_PROJECTS, ...CODE_OF_HOMES, ...HIDDEN_OF_HOMES, ...SECRETS, ...SECRETS_OF_HOMES].map((text) =>
    text.split('/').at(-1)!,
  ),
)
const LAST_WITH_STAR = anyOf(LAST_PARTS)
const LAST_OF_SETTINGS_WITH_STAR = anyOf(LAST_OF_SETTINGS)
const HOMES = patternsOf(['home/*', 'users/*', 'root', 'var/root'])

/** One expression, since a search tests every name. */
function anyOf(patterns: Patterns): RegExp {
  return new RegExp(patterns.open.map(([part]) => part!.source).join('|'), 'su')
}

export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** The secret place that a path lies in; null: none. */
export function secretPlaceOf(path: string): string | null {
  const parts = foldParts(path)
  return cut(path, matchOf(parts, PATTERNS.secrets) ?? matchInHome(parts, PATTERNS.secretsOfHomes))
}

/** The secret places of a home without a `*`, whether they exist or not. */
export function secretsOfHome(home = homedir()): string[] {
  return [...SECRETS, ...SECRETS_OF_HOMES].filter((name) => !name.includes('*')).map((name) => join(home, name))
}

/** The code place that a path lies in, from its text alone; null: none. */
export function codePlaceOf(path: string): string | null {
  const parts = foldParts(path)
  return cut(path, matchAnywhere(parts) ?? matchAtRoot(parts))
}

/** The protected place that a folder is or lies in; null: none. Such a folder cannot be given to an agent. */
export function placeAroundFolder(path: string): string | null {
  const parts = foldParts(path)
  return secretPlaceOf(path) ?? cut(path, matchAnywhere(parts))
}

/** Whether a path below a folder of programs is configuration that programs do not need. */
export function isProgramSetting(path: string): boolean {
  const last = foldName(path.slice(path.lastIndexOf(sep) + 1))
  if (!LAST_OF_SETTINGS.has(last) && !LAST_OF_SETTINGS_WITH_STAR.test(last)) return false
  return matchOf(foldParts(path), PATTERNS.settings) !== null
}

/** A path that an agent would write, in the agent's folder. Both are real paths. */
export type Written = { path: string; folder: string }

/** Whether a file written there runs by itself later, from its text alone. */
export function runsByItself({ path, folder }: Written): boolean {
  const parts = foldParts(path)
  if (matchCode(parts) !== null || matchInHome(parts, PATTERNS.codeOfHomes) !== null || matchAtRoot(parts) !== null) return true
  const end = matchOf(parts, PATTERNS.codeOfProjects)
  const isInProject = end !== null && !parts.slice(foldParts(folder).length, end).some((part) => DEPENDENCIES.has(part))
  return isInProject || isHiddenInHome(path, folder)
}

/** Hidden in a home, but not because the agent's own folder is. */
export function isHiddenInHome(path: string, folder: string): boolean {
  const end = matchInHome(foldParts(path), PATTERNS.hiddenOfHomes)
  return end !== null && end > foldParts(folder).length
}

/** A quick test for many names: whether a protected place may end in it. */
export function mayEndPlace(name: string): boolean {
  const folded = foldName(name)
  return folded.startsWith('.') || LAST_PARTS.has(folded) || LAST_WITH_STAR.test(folded)
}

function matchAnywhere(parts: readonly string[]): number | null {
  return matchCode(parts) ?? matchOf(parts, PATTERNS.codeOfProjects) ?? matchInHome(parts, PATTERNS.codeOfHomes)
}

/** Elsewhere such files are data, and the sandbox would rename them. */
function matchCode(parts: readonly string[]): number | null {
  return matchOf(parts, PATTERNS.code) ?? (process.platform === 'win32' ? matchOf(parts, PATTERNS.codeOfWindows) : null)
}

function matchAtRoot(parts: readonly string[]): number | null {
  return process.platform === 'win32' ? null : matchOf(parts, PATTERNS.codeOfSystem, 0)
}

/** In any home, since a folder of several homes may be opened. */
function matchInHome(parts: readonly string[], patterns: Patterns): number | null {
  const drive = process.platform === 'win32' ? 1 : 0
  const own = ownHomes().filter((home) => home.every((part, at) => part === parts[at])).map((home) => home.length) // prettier-ignore
  for (const end of new Set([...own, matchOf(parts, HOMES, drive)])) {
    const match = end === null || end >= parts.length ? null : matchOf(parts, patterns, end)
    if (match !== null) return match
  }
  return null
}

function ownHomes(): string[][] {
  const home = homedir()
  try {
    return [foldParts(home), foldParts(realpathSync(home))]
  } catch {
    return [foldParts(home)]
  }
}

function cut(path: string, parts: number | null): string | null {
  if (parts === null) return null
  const pieces = path.split(/(?<=[\\/])/)
  let end = 0
  for (let named = 0; named < parts; end++) if (!/^[\\/]*$/.test(pieces[end]!)) named++
  return pieces.slice(0, end).join('').replace(/(.)[\\/]$/, '$1') // prettier-ignore
}
