/** Removes secrets anywhere in a text. A filter by field would miss a secret in a message or a URL. */
export type Scrubber = {
  /** From now on this value is replaced, in any encoding that a log may hold. */
  add(secret: string): void
  /** Takes back one `add` of it. */
  remove(secret: string): void
  scrub(text: string): string
}

/** Shorter values would replace ordinary words. */
const SHORTEST_SECRET = 6

const MASK = '***'

/** Secrets that are recognized by their place. */
const BY_PLACE: [RegExp, string][] = [
  [/(\/webhooks\/[^/\s"?#]+\/)[^/\s"?#\\]+/g, `$1${MASK}`],
  // An access token of our own.
  [/\bdkh_[0-9a-f]{16,}/g, MASK],
  // A Telegram bot token, which is part of every address of the Bot API.
  [/(?<!\d)(\d{6,12}:)[\w-]{30,}/g, `$1${MASK}`],
  [/\b(Bearer|Basic)(\s+|%20)[\w.~+/=-]+/gi, `$1$2${MASK}`],
  [/([?&](?:key|api_?key|token|access_token|refresh_token|secret|client_secret|code|password)=)[^&\s"#\\]+/gi, `$1${MASK}`],
  // Names of schemes are short. Without a bound, a line like `a.a.a…` would be read from each of its letters to its end.
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^/\s"@\\]+@/gi, `$1${MASK}@`],
]

export function createScrubber(): Scrubber {
  const { scrub, ...mask } = createMask()
  return {
    ...mask,
    scrub: (text) => BY_PLACE.reduce((clean, [place, replacement]) => clean.replace(place, replacement), scrub(text)),
  }
}

/** Replaces only what was added. For text that is not a log, in which other tokens have a meaning. */
export function createMask(): Scrubber {
  /** By their first characters, the longest first, so that a secret inside another leaves no rest. */
  const byStart = new Map<string, string[]>()
  /** How often each spelling was added. */
  const added = new Map<string, number>()
  /** A hash of the first two characters. Few places in a text pass it, however many secrets there are. */
  const begins = new Uint8Array(2 ** 16)

  return {
    add(secret) {
      for (const spelling of spellingsOf(secret)) {
        const times = added.get(spelling) ?? 0
        added.set(spelling, times + 1)
        if (times > 0) continue
        const start = startOf(spelling, 0)
        byStart.set(
          start,
          [...(byStart.get(start) ?? []), spelling].sort((a, b) => b.length - a.length),
        )
        begins[hashOf(spelling, 0)] = 1
      }
    },
    remove(secret) {
      for (const spelling of spellingsOf(secret)) {
        const times = added.get(spelling) ?? 0
        if (times > 1) added.set(spelling, times - 1)
        if (times !== 1) continue
        added.delete(spelling)
        const start = startOf(spelling, 0)
        const others = byStart.get(start)!.filter((one) => one !== spelling)
        if (others.length > 0) byStart.set(start, others)
        else byStart.delete(start)
      }
    },
    scrub(text) {
      if (byStart.size === 0) return text
      let clean = ''
      let [from, at] = [0, 0]
      while (at <= text.length - SHORTEST_SECRET) {
        const found = begins[hashOf(text, at)] === 0 ? undefined : spellingAt(text, at)
        if (found === undefined) {
          at++
          continue
        }
        clean += text.slice(from, at) + MASK
        at += found.length
        from = at
      }
      return clean + text.slice(from)
    },
  }

  function spellingAt(text: string, at: number): string | undefined {
    return byStart.get(startOf(text, at))?.find((spelling) => text.startsWith(spelling, at))
  }
}

function startOf(text: string, at: number): string {
  return text.slice(at, at + SHORTEST_SECRET)
}

function hashOf(text: string, at: number): number {
  return (text.charCodeAt(at) * 257 + text.charCodeAt(at + 1)) & 0xffff
}

/** Plain, in JSON, in JSON within JSON, in a URL, and in hex and base64; none of a short value. */
function spellingsOf(secret: string): string[] {
  if (secret.length < SHORTEST_SECRET) return []
  const bytes = Buffer.from(secret, 'utf8')
  const json = JSON.stringify(secret).slice(1, -1)
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...[0, 1, 2].map((offset) => base64Core(bytes, offset)),
    ...[0, 1, 2].map((offset) => base64Core(bytes, offset).replaceAll('+', '-').replaceAll('/', '_')),
  ].filter((spelling) => spelling.length >= SHORTEST_SECRET)
}

/** The part of the base64 text that does not depend on what is before the secret (`offset` bytes) and after it. */
function base64Core(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  const firstOwn = Math.ceil((offset * 8) / 6)
  const lastOwn = Math.floor(((offset + bytes.length) * 8) / 6)
  return text.slice(firstOwn, lastOwn)
}
