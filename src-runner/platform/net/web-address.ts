import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'

/** The message is a sentence for a model or a person. */
export class WebAddressRefused extends Error {
  override readonly name = 'WebAddressRefused'
}

const MAX_ADDRESS_CHARS = 8_000

/**
 * The blocked ports of the Fetch standard: a mail or database server could read a request as commands.
 * https://fetch.spec.whatwg.org/#port-blocking
 */
const BLOCKED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115, 117,
  119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636,
  989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080,
])

/**
 * The one spelling of an address that rules are compared with and connections are made to: the host in lower case and
 * Punycode, IPv4 as four decimal numbers, no trailing dot, no needless percent escapes, no fragment. Throws WebAddressRefused.
 */
export function readWebAddress(text: string | URL): URL {
  const chars = String(text).length
  if (chars > MAX_ADDRESS_CHARS)
    throw new WebAddressRefused(`An address has at most ${MAX_ADDRESS_CHARS} characters; this one has ${chars}.`)
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new WebAddressRefused('This is not a web address. Give the whole address, for example https://example.com/page.')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new WebAddressRefused(`Only http and https addresses are opened, not ${url.protocol}`)
  if (url.username !== '' || url.password !== '')
    throw new WebAddressRefused('The address holds a user name or a password. Leave it out: nothing is signed in to.')
  if (url.hostname.endsWith('.')) {
    url.hostname = url.hostname.replace(/\.+$/, '')
    if (url.hostname.endsWith('.')) throw new WebAddressRefused('This is not a web address: its host name is broken.')
  }
  const port = portOf(url)
  if (BLOCKED_PORTS.has(port)) throw new WebAddressRefused(`Port ${port} is not one that web pages are served from.`)
  url.hash = ''
  url.pathname = url.pathname.replace(/%([2-7][0-9a-f])/gi, (escape, hex: string) => {
    const char = String.fromCharCode(parseInt(hex, 16))
    return /[A-Za-z0-9\-_~]/.test(char) ? char : escape
  })
  return url
}

export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
}

/** The host as resolvers take it: an IPv6 address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

const LOCAL_SUFFIX = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home\.arpa)$/

/** Names that only this machine or its network resolves. A name without a dot is one of them. */
export function isLocalName(host: string): boolean {
  return LOCAL_SUFFIX.test(host) || (!host.includes('.') && !host.includes(':'))
}

/** A person's base address for webhooks, without a trailing slash, or what is wrong with it. A path is allowed, for proxies. */
export function readPublicBase(given: string): { url: string } | { url: null; problem: Message } {
  const refuse = (problem: Message) => ({ url: null, problem })
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return refuse(createMessage('base_not_whole'))
  if (url.username !== '' || url.password !== '') return refuse(createMessage('base_with_user'))
  if (/[?#]/.test(given)) return refuse(createMessage('base_with_query'))
  if (/\/webhooks(\/|$)/.test(url.pathname)) return refuse(createMessage('base_with_path'))
  return { url: url.href.replace(/\/+$/, '') }
}
