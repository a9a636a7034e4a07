/** Removes secrets anywhere in a text. A filter by field would miss a secret in a message or a URL. */
export type Scrubber = {
  /** From now on this value is replaced, in any encoding that a log may hold. */
  add(secret: string): void
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
  const { add, scrub } = createMask()
  return {
    add,
    scrub: (text) => BY_PLACE.reduce((clean, [place, replacement]) => clean.replace(place, replacement), scrub(text)),
  }
}

/** Replaces only what was added. For text that is not a log, in which other tokens have a meaning. */
export function createMask(): Scrubber {
  const spellings = new Set<string>()
  let pattern: RegExp | null = null

  return {
    add(secret) {
      if (secret.length < SHORTEST_SECRET) return
      const before = spellings.size
      for (const spelling of spellingsOf(secret)) spellings.add(spelling)
      if (spellings.size === before) return
      // The longest first, so that a secret inside another leaves no rest.
      const alternatives = [...spellings].sort((a, b) => b.length - a.length).map((spelling) => RegExp.escape(spelling))
      pattern = new RegExp(alternatives.join('|'), 'g')
    },
    scrub: (text) => (pattern === null ? text : text.replace(pattern, MASK)),
  }
}

/** Plain, in JSON, in JSON within JSON, in a URL, and in hex and base64. */
function spellingsOf(secret: string): string[] {
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
