/**
 * A file's name as every disk might read it. Some disks ignore case, some ignore characters that cannot be seen, Windows
 * drops dots and spaces at the end, a stream after a colon, and knows `.git` as `git~1`. A place that is protected under one
 * spelling is protected under all of them; a name that only looks like one costs no more than a question.
 */
export function foldName(name: string): string {
  if (/^[\w.-]*[\w-]$/.test(name)) return name.toLowerCase()
  const plain = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  // Upper case first: disks that ignore case take `ß` for `ss`.
  const folded = plain.toUpperCase().toLowerCase().normalize('NFKC')
  const [bare = ''] = folded.replace(/^(.+?)[. ]+$/, '$1').split(/(?<=.):/)
  const ended = bare.replace(/:$/, '').replace(/^(.+?)[. ]+$/, '$1')
  return ended.replace(/^(git|gi[0-9a-f]{4})~\d$/, '.git')
}

/** The parts of an absolute path, folded. */
export function foldParts(path: string): string[] {
  return path
    .split(/[\\/]/)
    .filter((part) => part !== '')
    .map(foldName)
}

/** `.config/gh`, `*.code-workspace`, `home/*\/bin`: parts one after another; in each, a `*` stands for any text. */
export type Patterns = ReadonlyMap<string, readonly RegExp[][]> & { readonly open: readonly RegExp[][] }

export function patternsOf(list: readonly string[]): Patterns {
  const closed = new Map<string, RegExp[][]>()
  const open: RegExp[][] = []
  for (const text of list) {
    const names = text.split('/').map((part) => part.split('*').map(foldNameOfPattern).join('*'))
    const parts = names.map((part) => new RegExp(`^${part.split('*').map(escaped).join('.*')}$`, 'su'))
    if (names[0]!.includes('*')) open.push(parts)
    else closed.set(names[0]!, [...(closed.get(names[0]!) ?? []), parts])
  }
  return Object.assign(closed, { open })
}

/** How many parts from the beginning reach the end of the first match; null: none matches. `only`: it has to begin there. */
export function matchOf(parts: readonly string[], patterns: Patterns, only?: number): number | null {
  const last = only === undefined ? parts.length : only + 1
  for (let at = only ?? 0; at < last; at++) {
    for (const pattern of [...(patterns.get(parts[at]!) ?? []), ...patterns.open]) {
      if (at + pattern.length > parts.length) continue
      if (pattern.every((part, i) => part.test(parts[at + i]!))) return at + pattern.length
    }
  }
  return null
}

/** Only letters: the dot before a star is no dot at the end. */
function foldNameOfPattern(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase()
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
