/** A message for people; see `MessageLike`. */
export type LookAlike =
  | { code: 'approval_look_alike'; params: { word: string; letter: string; point: string } }
  | { code: 'approval_host'; params: { host: string; ascii: string } }

const MAX_WARNINGS = 3
const MAX_WORD_CHARS = 60

/** Alphabets with letters that look like Latin ones, and that nobody mixes with them. Greek and Cyrillic letters stand in formulas. */
const RELATED = String.raw`\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}`
/** Cyrillic and Greek letters that cannot be told from Latin ones in most fonts. */
const TWINS =
  '\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455\u0501\u04cf\u04bb\u051b\u051d\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0423\u0406\u0408\u0405' +
  '\u03bf\u03bd\u03b9\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7'

/** What people read as one thing: an argument, a part of a path or of a host. */
const PART = /[^\s/\\'"`“”„«»<>|;,()[\]{}]+/g
const LETTERS = /[\p{L}\p{M}]+/gu
const LATIN = /\p{Script=Latin}/u
const RELATED_LETTER = new RegExp(`[${TWINS}${RELATED}]`, 'u')
const ALL_TWINS = new RegExp(`^[${TWINS}]+$`, 'u')
/** Styled letters, and other characters for a slash and a dot. Signs that Chinese and Japanese texts use are not among them. */
const STYLED = /[\uff0f\u2044\u2215\u2024\uff21-\uff3a\uff41-\uff5a\u{1d400}-\u{1d7ff}\u2100-\u2121\u2123-\u214f]/u
const ADDRESS = /\bhttps?:\/\/[^\s/?#\\'"`<>]+/gi

/**
 * Warns of what can look like something else in the parts of an approval: a word that mixes alphabets, a part of Latin letters
 * with a piece that only seems to be Latin, and a host that is not ASCII, with its real name. Text in one alphabet is no reason.
 * Every surface that shows an approval shows these.
 */
export function lookAlikesIn(shown: unknown): LookAlike[] {
  const found = new Map<string, LookAlike>()
  for (const text of textsIn(shown)) {
    if (!/[^\0-\x7f]/.test(text)) continue // oxlint-disable-line no-control-regex -- ASCII
    for (const warning of warningsOf(text)) {
      if (found.size >= MAX_WARNINGS) return [...found.values()]
      found.set(JSON.stringify(warning), warning)
    }
  }
  return [...found.values()]
}

function* warningsOf(text: string): Generator<LookAlike> {
  const named = new Set<string>()
  for (const [address] of text.matchAll(ADDRESS)) {
    const ascii = hostOf(address)
    const host = address.slice(address.indexOf('//') + 2).replace(/^.*@|:\d*$/g, '')
    if (ascii === null || !ascii.includes('xn--') || ascii === host.toLowerCase()) continue
    named.add(host)
    yield { code: 'approval_host', params: { host: cut(host), ascii } }
  }
  for (const [part] of text.matchAll(PART)) {
    const letter = letterToName(part)
    if (letter === null || [...named].some((host) => part.startsWith(host))) continue
    const point = letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    yield { code: 'approval_look_alike', params: { word: cut(part), letter, point: `U+${point}` } }
  }
}

function letterToName(part: string): string | null {
  if (!/[^\0-\x7f]/.test(part) || !LATIN.test(part)) return null // oxlint-disable-line no-control-regex -- ASCII
  const styled = STYLED.exec(part)
  if (styled !== null) return styled[0]
  for (const [word] of part.matchAll(LETTERS)) {
    const related = RELATED_LETTER.exec(word)
    if (related !== null && (LATIN.test(word) || ALL_TWINS.test(word))) return related[0]
  }
  return null
}

function hostOf(address: string): string | null {
  try {
    return new URL(address).hostname
  } catch {
    return null
  }
}

/** The call itself shows what is hidden; here it would only turn our sentence. */
function cut(text: string): string {
  const characters = [...text.slice(0, 4 * MAX_WORD_CHARS).replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')]
  return characters.length <= MAX_WORD_CHARS ? characters.join('') : `${characters.slice(0, MAX_WORD_CHARS - 1).join('')}…`
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const [name, inner] of Object.entries(value)) yield* [name, ...textsIn(inner)]
}
