import { posix, win32 } from 'node:path'
import { say } from '../../kit/said.ts'

/** One of the agent's folders under the name by which a model calls it. */
export type NamedFolder = { name: string; path: string; closed: readonly string[] }

/** A place in a folder. No part is empty, `.` or `..`. */
export type Place = { folder: NamedFolder; parts: string[] }

/** A sentence for the model about a path that it may not or cannot use. */
export class PathRefused extends Error {
  override readonly name = 'PathRefused'
  /** The way to the place ends early: nothing can be there. */
  readonly missing: boolean

  constructor(sentence: string, { missing = false }: { missing?: boolean } = {}) {
    super(sentence)
    this.missing = missing
  }
}

const MAX_PATH_CHARS = 4096

/** How tools that take a path explain it, in the same words everywhere. */
export const PATH_HELP =
  "A path begins with the name of one of the agent's folders, for example 'Documents/plans/may.md'. An absolute path inside a folder is understood too."

/**
 * The name of a folder is the last part of its path. Folders of the same name are told apart by a number, in the
 * order in which the person gave them. `closedFolders` stay shut wherever they lie.
 */
export function nameFolders(
  folders: readonly string[],
  { closedFolders = [], platform = process.platform }: { closedFolders?: readonly string[]; platform?: NodeJS.Platform } = {},
): NamedFolder[] {
  const path = platform === 'win32' ? win32 : posix
  const taken = new Set<string>()
  return folders.map((folder) => {
    const base = path.basename(folder) || folder.replace(/[^\p{L}\p{N}]/gu, '') || 'root'
    let name = base
    for (let n = 2; taken.has(name); n++) name = `${base} (${n})`
    taken.add(name)
    return { name, path: folder, closed: closedFolders }
  })
}

/**
 * What a model wrote, as a place in one of the folders; null stands for all of them. Only the text is looked at
 * here: whether the place really lies inside is decided when it is opened.
 */
export function parsePath(text: string, folders: readonly NamedFolder[], platform: NodeJS.Platform = process.platform): Place | null {
  if (folders.length === 0) throw new PathRefused(say('path_no_folders'))
  if (text.includes('\0')) throw new PathRefused(say('path_nul'))
  if (text.length > MAX_PATH_CHARS) throw new PathRefused(`A path has at most ${MAX_PATH_CHARS} characters; this one has ${text.length}.`)
  const plain = unescapeName(text)
  const path = platform === 'win32' ? win32 : posix
  if (path.isAbsolute(plain)) return placeOfAbsolute(plain, text, folders, platform)
  const parts = partsOf(plain, text, platform)
  if (parts.length === 0) return null
  const folder = folders.find((f) => f.name === parts[0]) ?? folders.find((f) => f.name.normalize() === parts[0]!.normalize())
  if (folder !== undefined) return { folder, parts: parts.slice(1) }
  // With one folder there is no doubt which one is meant, and small models forget its name.
  if (folders.length === 1) return { folder: folders[0]!, parts }
  throw new PathRefused(`${say('path_unknown_folder', { path: showName(text) })} ${listOf(folders)}`)
}

function placeOfAbsolute(plain: string, text: string, folders: readonly NamedFolder[], platform: NodeJS.Platform): Place | null {
  const path = platform === 'win32' ? win32 : posix
  let best: Place | null = null
  for (const folder of folders) {
    const relative = path.relative(folder.path, plain)
    if (relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)) continue
    // Folders may lie inside each other: the innermost one is meant.
    if (best === null || folder.path.length > best.folder.path.length) best = { folder, parts: partsOf(relative, text, platform) }
  }
  if (best === null && path.normalize(plain) === path.parse(plain).root) return null
  if (best === null) throw new PathRefused(`${say('path_outside', { path: showName(text) })} ${listOf(folders)}`)
  return best
}

function partsOf(plain: string, text: string, platform: NodeJS.Platform): string[] {
  const parts: string[] = []
  for (const part of plain.split(platform === 'win32' ? /[\\/]/ : '/')) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      // The first part is the folder itself, and nothing leads above it.
      if (parts.length <= 1) throw new PathRefused(say('path_leads_out', { path: showName(text) }))
      parts.pop()
      continue
    }
    if (platform === 'win32' && !isOrdinaryOnWindows(part))
      throw new PathRefused(`'${showName(part)}' is not the name of a file on Windows.`)
    parts.push(part)
  }
  return parts
}

/** Streams (`a.txt:b`), devices (`NUL`, `COM1.txt`) and names whose end Windows drops would open something else. */
function isOrdinaryOnWindows(part: string): boolean {
  return !/[:<>"|?*]/.test(part) && !/[. ]$/.test(part) && !/^(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)(\..*)?$/i.test(part)
}

function listOf(folders: readonly NamedFolder[]): string {
  return say('path_folders_are', { words: folders.map((f) => `${showName(f.name)} (${showName(f.path)})`).join(', ') })
}

/** How a place is written for the model. What comes out can be given back as a path. */
export function showPlace({ folder, parts }: Place): string {
  return showName([folder.name, ...parts].join('/'))
}

/**
 * Line breaks, other control characters, half surrogates, and characters that change the direction of text or cannot
 * be seen are written as `\u{…}`: a file's name must not be able to draw a listing that is not there.
 */
export function showName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\\(?=u\{)/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}

export function unescapeName(text: string): string {
  return text.replace(/\\u\{([0-9a-f]{1,6})\}/gi, (whole, hex: string) => {
    const code = Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : whole
  })
}
