/**
 * One spelling for all that some disk treats as the same name: disks ignore case or invisible characters, and Windows drops
 * trailing dots and spaces, a stream after a colon, and knows `.git` as `git~1`. A false match only costs a question.
 */
export function foldName(name: string): string {
  if (/^[\w.-]*[\w-]$/.test(name)) return name.toLowerCase()
  const plain = name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  // Upper case first: such disks treat `ß` as `ss`.
  const folded = plain.toUpperCase().toLowerCase().normalize('NFKC')
  const [bare = ''] = withoutTrailing(folded).split(/(?<=.):/)
  const ended = withoutTrailing(bare.replace(/:$/, ''))
  return ended.replace(/^(git|gi[0-9a-f]{4})~\d$/, '.git')
}

/** Without dots and spaces at the end. An expression would take the square of the length, and others choose names. */
function withoutTrailing(name: string): string {
  let end = name.length
  while (end > 1 && (name[end - 1] === '.' || name[end - 1] === ' ')) end--
  return name.slice(0, end)
}

export function foldParts(path: string): string[] {
  return path
    .split(/[\\/]/)
    .filter((part) => part !== '')
    .map(foldName)
}

/** Like `.config/gh`, `*.code-workspace` or `home/*\/bin`. A `*` stands for any text within a part. */
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

/** The index after the last part of the first match; null: no match. `only`: the match must begin there. */
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

/** `foldName` would drop the dot before a star. */
function foldNameOfPattern(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase()
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
