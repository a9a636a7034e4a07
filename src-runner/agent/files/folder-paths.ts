import { posix, win32 } from 'node:path'

/** One of the agent's folders, with the name that the model uses. */
export type NamedFolder = { name: string; path: string; closed: readonly string[] }

/** A place in a folder. No part is empty, `.` or `..`. */
export type Place = { folder: NamedFolder; parts: string[] }

/** The message is for the model. */
export class PathRefused extends Error {
  override readonly name = 'PathRefused'
  /** A folder on the way is missing. */
  readonly missing: boolean

  constructor(sentence: string, { missing = false }: { missing?: boolean } = {}) {
    super(sentence)
    this.missing = missing
  }
}

const MAX_PATH_CHARS = 4096

export const PATH_HELP =
  "A path begins with the name of one of the agent's folders, for example 'Documents/plans/may.md'. An absolute path inside a folder also works."

/** A folder's name is the last part of its path, with a number if the name is taken. */
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

/** null: all folders. Only reads the text; opening the place proves that it is inside. Throws PathRefused. */
export function parsePath(text: string, folders: readonly NamedFolder[], platform: NodeJS.Platform = process.platform): Place | null {
  if (folders.length === 0) throw new PathRefused('This agent has no folders. A person can give it some in its settings.')
  if (text.includes('\0')) throw new PathRefused('A path cannot hold a NUL character.')
  if (text.length > MAX_PATH_CHARS) throw new PathRefused(`A path has at most ${MAX_PATH_CHARS} characters; this one has ${text.length}.`)
  const plain = unescapeName(text)
  const path = platform === 'win32' ? win32 : posix
  if (path.isAbsolute(plain)) return placeOfAbsolute(plain, text, folders, platform)
  const parts = partsOf(plain, text, platform)
  if (parts.length === 0) return null
  const folder = folders.find((f) => f.name === parts[0]) ?? folders.find((f) => f.name.normalize() === parts[0]!.normalize())
  if (folder !== undefined) return { folder, parts: parts.slice(1) }
  // Small models forget the name of the only folder.
  if (folders.length === 1) return { folder: folders[0]!, parts }
  throw new PathRefused(`'${showName(text)}' does not begin with the name of a folder. ${listOf(folders)}`)
}

function placeOfAbsolute(plain: string, text: string, folders: readonly NamedFolder[], platform: NodeJS.Platform): Place | null {
  const path = platform === 'win32' ? win32 : posix
  let best: Place | null = null
  for (const folder of folders) {
    const relative = path.relative(folder.path, plain)
    if (relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative)) continue
    // The innermost of nested folders.
    if (best === null || folder.path.length > best.folder.path.length) best = { folder, parts: partsOf(relative, text, platform) }
  }
  if (best === null && path.normalize(plain) === path.parse(plain).root) return null
  if (best === null) throw new PathRefused(`'${showName(text)}' is outside of the agent's folders. ${listOf(folders)}`)
  return best
}

function partsOf(plain: string, text: string, platform: NodeJS.Platform): string[] {
  const parts: string[] = []
  for (const part of plain.split(platform === 'win32' ? /[\\/]/ : '/')) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      // Nothing leads above the folder, which is the first part.
      if (parts.length <= 1) throw new PathRefused(`'${showName(text)}' leads out of the agent's folders.`)
      parts.pop()
      continue
    }
    if (platform === 'win32' && !isOrdinaryOnWindows(part))
      throw new PathRefused(`'${showName(part)}' is not the name of a file on Windows.`)
    parts.push(part)
  }
  return parts
}

/** Refuses streams (`a.txt:b`), devices (`NUL`) and names whose end Windows drops: they open something else. */
function isOrdinaryOnWindows(part: string): boolean {
  return !/[:<>"|?*]/.test(part) && !/[. ]$/.test(part) && !/^(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)(\..*)?$/i.test(part)
}

function listOf(folders: readonly NamedFolder[]): string {
  return `The folders are: ${folders.map((f) => `${showName(f.name)} (${showName(f.path)})`).join(', ')}.`
}

/** For the model, which can use it as a path. */
export function showPlace({ folder, parts }: Place): string {
  return showName([folder.name, ...parts].join('/'))
}

/** Escapes invisible characters and those that change the direction of text, so that a name cannot fake a listing. */
export function showName(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\\(?=u\{)/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
}

export function unescapeName(text: string): string {
  return text.replace(/\\u\{([0-9a-f]{1,6})\}/gi, (escape, hex: string) => {
    const code = Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : escape
  })
}
