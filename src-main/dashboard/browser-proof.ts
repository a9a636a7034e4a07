import { createHmac, randomBytes } from 'node:crypto'
import { isSame } from './bearer.ts'
import { createOneTimeToken, type OneTimeTokens } from './one-time-tokens.ts'

/**
 * In `local-trust` nobody signs in, and a browser's Origin proves little: the tab of another program that used this port
 * before has the same origin. So a browser proves that a person opened it from Deckhand. A link that works once gives it
 * a strict, HttpOnly cookie, and the page a key that it keeps in the storage of its tab and sends with every request. A tab
 * that is left over has the cookie, because the browser adds it, but not the key.
 */
export type BrowserProof = {
  /** Takes the token of a link. null: it is wrong, used, or too old. */
  redeem(token: string): Opened | null
  /** The key of the page for the cookies of a request; null: this browser was not opened. */
  keyFor(cookies: string | undefined): string | null
}

/** `cookie`: for the header Set-Cookie. */
export type Opened = { cookie: string; key: string }

export type BrowserProofDeps = {
  tokens: OneTimeTokens
  /** Signs cookies. A rotated secret ends them all. null: not known yet. */
  secret: () => string | null
  /** Epoch ms. */
  now?: () => number
}

const COOKIE_LIVES_S = 30 * 24 * 3600
const NONCE_BYTES = 16

export function createBrowserProof({ tokens, secret, now = Date.now }: BrowserProofDeps): BrowserProof {
  /** Other programs of this machine set cookies for the same host, and so may a second Deckhand. */
  const nameOf = (known: string) => `deckhand_${sign(known, 'cookie name').slice(0, 8)}`

  return {
    redeem(token) {
      const known = secret()
      if (known === null || !tokens.take('open', token)) return null
      const until = `${Math.floor(now() / 1000) + COOKIE_LIVES_S}.${randomBytes(NONCE_BYTES).toString('base64url')}`
      const value = `${until}.${sign(known, `cookie ${until}`)}`
      return {
        cookie: `${nameOf(known)}=${value}; Path=/; Max-Age=${COOKIE_LIVES_S}; HttpOnly; SameSite=Strict`,
        key: sign(known, `page ${value}`),
      }
    },
    keyFor(cookies = '') {
      const known = secret()
      if (known === null) return null
      const start = `${nameOf(known)}=`
      for (const text of cookies.split(';')) {
        const cookie = text.trim()
        if (!cookie.startsWith(start)) continue
        const value = cookie.slice(start.length)
        const [until = '', nonce = '', signature = ''] = value.split('.')
        const isOurs = isSame(signature, sign(known, `cookie ${until}.${nonce}`))
        if (isOurs && Number(until) * 1000 > now()) return sign(known, `page ${value}`)
      }
      return null
    },
  }
}

/** The address that opens the dashboard in a browser. The token is behind the #, which browsers do not send, so no log has it. */
export function createBrowserLink(dashboardUrl: string, linkKey: string, now = Date.now()): string {
  return `${dashboardUrl}/#open=${createOneTimeToken(linkKey, 'open', now)}`
}

function sign(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}
