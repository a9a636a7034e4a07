/** Takes secrets out of text, wherever they stand in it: field filters do not see a secret inside a message or a URL. */
export type Scrubber = {
  /** From now on this value, in any of the spellings a log may hold, is replaced. */
  add(secret: string): void
  scrub(text: string): string
}

/** Shorter values would blank ordinary words, and are no secrets anybody could keep. */
const SHORTEST_SECRET = 6

const MASK = '***'

/** What is secret by its place, even if nobody told us the value. */
const BY_PLACE: [RegExp, string][] = [
  // The slug may show; the secret behind it is a password.
  [/(\/webhooks\/[^/\s"?#]+\/)[^/\s"?#\\]+/g, `$1${MASK}`],
  // The token of a Telegram bot, which is a part of every address of its interface.
  [/(?<!\d)(\d{6,12}:)[\w-]{30,}/g, `$1${MASK}`],
  [/\b(Bearer|Basic)(\s+|%20)[\w.~+/=-]+/gi, `$1$2${MASK}`],
  [/([?&](?:key|api_?key|token|access_token|refresh_token|secret|client_secret|code|password)=)[^&\s"#\\]+/gi, `$1${MASK}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^/\s"@\\]+@/gi, `$1${MASK}@`],
]

export function createScrubber(): Scrubber {
  const spellings = new Set<string>()
  let pattern: RegExp | null = null

  return {
    add(secret) {
      if (secret.length < SHORTEST_SECRET) return
      const before = spellings.size
      for (const spelling of spellingsOf(secret)) spellings.add(spelling)
      if (spellings.size === before) return
      // The longest first, so that one secret inside another leaves no rest of the longer one.
      const alternatives = [...spellings].sort((a, b) => b.length - a.length).map((spelling) => RegExp.escape(spelling))
      pattern = new RegExp(alternatives.join('|'), 'g')
    },
    scrub(text) {
      let clean = pattern === null ? text : text.replace(pattern, MASK)
      for (const [place, replacement] of BY_PLACE) clean = clean.replace(place, replacement)
      return clean
    },
  }
}

/** As it is, in JSON, in JSON within JSON, in a URL, and in the three encodings people print bytes in. */
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
    // Without the end, which depends on what follows: 'YWJj' stands in 'YWJjZA==' as well.
    ...[0, 1, 2].map((offset) => base64Core(bytes, offset)),
    ...[0, 1, 2].map((offset) => base64Core(bytes, offset).replaceAll('+', '-').replaceAll('/', '_')),
  ].filter((spelling) => spelling.length >= SHORTEST_SECRET)
}

/** The part of the base64 text that is the same whatever stands before (`offset` bytes of it) and behind the secret. */
function base64Core(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
  const firstOwn = Math.ceil((offset * 8) / 6)
  const lastOwn = Math.floor(((offset + bytes.length) * 8) / 6)
  return text.slice(firstOwn, lastOwn)
}
