import type { Readable } from 'node:stream'

/** Limits cookies over HTTPS to this host and to HTTPS. */
const SECURE_PREFIX = '__Host-'
const JSON_TYPE = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i
const MAX_BODY_BYTES = 16_384

/** A request from the app's own window over its scheme, or over HTTP. */
export type DashboardRequest = {
  via: 'window' | 'http'
  method: string
  /** Path and query as received. */
  target: string
  /** The value of a header, by its lower-case name. */
  header(name: string): string | undefined
  authorizations: readonly string[]
  /** The socket's address. Headers that name another one are never read. */
  address: string
  /** Whether it came over HTTPS. */
  isSecure: boolean
  /** null: none was sent. */
  body: Readable | null
  /** Aborted when the client is gone. */
  signal: AbortSignal
}

/**
 * The cookies of people who signed in. Over HTTPS they have a prefix, which browsers accept only with `Secure`: a cookie without it
 * may have been read or set on the network. The names differ because a browser keeps a secure cookie from being replaced over HTTP,
 * so nobody could sign in again after encryption was turned off.
 */
export function cookiesOf(request: DashboardRequest): string | undefined {
  const cookies = request.header('cookie')
  if (cookies === undefined || !request.isSecure) return cookies
  const secure = cookies.split(/; */).filter((cookie) => cookie.startsWith(SECURE_PREFIX))
  return secure.length === 0 ? undefined : secure.map((cookie) => cookie.slice(SECURE_PREFIX.length)).join('; ')
}

/** A cookie as `cookiesOf` reads it over HTTPS. */
export function secured(cookie: string): string {
  return `${SECURE_PREFIX}${cookie}; Secure`
}

/** A program of this machine. Only the socket tells; headers about the sender can be made up. */
export function isLocalProgram(request: DashboardRequest): boolean {
  return request.via === 'http' && /^(::ffff:)?127\.|^::1$/i.test(request.address) && !isFromBrowser(request)
}

/** Every browser adds one of these; a page cannot remove them. Node's fetch sends `sec-fetch-mode` alone. */
export function isFromBrowser(request: DashboardRequest): boolean {
  return ['origin', 'sec-fetch-site', 'sec-fetch-dest'].some((name) => request.header(name) !== undefined)
}

export function isPlainJson(request: DashboardRequest): boolean {
  const encoding = request.header('content-encoding') ?? 'identity'
  return encoding.toLowerCase() === 'identity' && JSON_TYPE.test(request.header('content-type') ?? '')
}

/** Whether the body ends without a byte. What it reads is lost. */
export function isEmpty(body: Readable): Promise<boolean> {
  return new Promise((resolve) => {
    body
      .once('data', () => resolve(false))
      .once('end', () => resolve(true))
      .once('close', () => resolve(false))
  })
}

/** null: it is too large. */
export async function readBody(body: Readable | null): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += (chunk as Buffer).length
    if (bytes > MAX_BODY_BYTES) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString()
}
