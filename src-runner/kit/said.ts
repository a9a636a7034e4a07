import { isServiceName } from '../contract/channels.ts'
import { SAID_CODES, SENTENCES, type Facts, type Said, type SaidCode } from '../contract/said.ts'

/** The sentence of a code in English. */
export function say<C extends SaidCode>(code: C, ...[facts]: keyof Facts<C> extends never ? [] : [facts: Facts<C>]): string {
  const given = (facts ?? {}) as Record<string, string | number>
  return SENTENCES[code].replace(SLOT, (_, name: string, kind: string) => {
    const fact = given[name]!
    if (kind === '@') return isServiceName(String(fact)) ? String(fact) : `${OWN_SERVER}${fact}`
    return MONEY.test(name) ? Number(fact).toFixed(2) : String(fact)
  })
}

/**
 * What a sentence of ours says, by code and facts. Sentences are kept where they were said, in rows that outlive versions, so
 * the code is read from them instead of being kept a second time. null: it is of somebody else, or of another version.
 */
export function readSaid(text: string): Said | null {
  const known = read.get(text)
  if (known !== undefined) return known
  const said = readAnew(text)
  if (read.size >= MOST_KEPT) read.clear()
  read.set(text, said)
  return said
}

/** For a field beside the sentence, which is left out where there is nothing to tell. */
export function saidAs<K extends string>(field: K, text: string | null | undefined): { [F in K]?: Said } {
  const said = text ? readSaid(text) : null
  return (said === null ? {} : { [field]: said }) as { [F in K]?: Said }
}

const SLOT = /\{(\w+)([#@]?)\}/g
const MONEY = /Usd$/
const OWN_SERVER = 'The server at '
const MOST_KEPT = 500
const BETWEEN_SENTENCES = /[.?!)](?= )/g
const read = new Map<string, Said | null>()

/** What others said may be several sentences. Nobody who is quoted can end the quotation (thinking/models/failures.ts). */
const WORDS = '(.+?)'
const QUOTED_WORDS = '([^“”]+?)'
/** A name ends within its sentence, and begins no aside. */
const NAME = String.raw`((?!\()(?:(?![.?!] ).)+?)`
/** Before a colon somebody else is named, whose words are no sentence of ours. */
const FIRST_NAME = String.raw`((?!\()(?:(?![.?!:] )[^“”])+?)`

type Reader = { code: SaidCode; form: RegExp; slots: { name: string; kind: string }[] }

/** Those with the most words of their own first: a form with few would take what another one says better. */
const READERS: readonly Reader[] = SAID_CODES.map(readerOf).sort((a, b) => wordsOf(b.code) - wordsOf(a.code))

function wordsOf(code: SaidCode): number {
  return SENTENCES[code].replace(SLOT, '').length
}

function readerOf(code: SaidCode): Reader {
  const slots: Reader['slots'] = []
  const form = SENTENCES[code].split(SLOT).flatMap((part, at, parts) => {
    if (at % 3 === 0) return [part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)]
    if (at % 3 === 2) return []
    const kind = parts[at + 1]!
    slots.push({ name: part, kind })
    if (kind === '#') return [String.raw`(-?\d+(?:\.\d+)?)`]
    if (part === 'words') return [parts[at - 1]!.endsWith('“') ? QUOTED_WORDS : WORDS]
    return [at === 1 && parts[0] === '' ? FIRST_NAME : NAME]
  })
  return { code, slots, form: new RegExp(`^${form.join('')}$`, 's') }
}

/** One sentence, or several after one another. */
function readAnew(text: string): Said | null {
  const whole = readOne(text)
  if (whole !== null) return whole
  for (const { index } of text.matchAll(BETWEEN_SENTENCES)) {
    const first = readOne(text.slice(0, index + 1))
    const rest = first === null ? null : readAnew(text.slice(index + 2))
    if (first === null || rest === null) continue
    const { more = [], ...second } = rest
    return { ...first, more: [second, ...more] }
  }
  return null
}

function readOne(text: string): Said | null {
  for (const { code, form, slots } of READERS) {
    const found = form.exec(text)
    if (found === null) continue
    const facts = slots.map(({ name, kind }, at) => [name, factOf(kind, found[at + 1]!)] as const)
    if (facts.every(([, fact]) => fact !== null)) return { code, facts: Object.fromEntries(facts) } as Said
  }
  return null
}

/** null: it is none of that kind. */
function factOf(kind: string, text: string): string | number | null {
  if (kind === '#') return Number(text)
  if (kind !== '@') return text
  if (isServiceName(text)) return text
  return text.startsWith(OWN_SERVER) ? text.slice(OWN_SERVER.length) : null
}
