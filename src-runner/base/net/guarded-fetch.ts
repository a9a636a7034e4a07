import { lookup } from 'node:dns/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as connectTls } from 'node:tls'
import { canonicalAddress, kindOfAddress, NEAR_KINDS, OPENABLE_KINDS, parseRange, type AddressKind } from './address-kind.ts'
import { readBounded } from './bounded-body.ts'
import { http } from './node-http.ts'
import { troubleFrom, type OutboundTrouble } from './outbound.ts'
import { hostOf, isLocalName, portOf, readWebAddress, WebAddressRefused } from './web-address.ts'

/** `closed_address`: it leads to this machine, its network or nowhere, and nobody opened it. */
export type GuardedTrouble = OutboundTrouble | 'closed_address' | 'timeout'

/** Why there is no answer. The message is a sentence that a model or a person can act on, and names no inner address. */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError'
  readonly kind: GuardedTrouble

  constructor(kind: GuardedTrouble, message: string) {
    super(message)
    this.kind = kind
  }
}

export type AnswerHead = { url: URL; status: number; headers: IncomingHttpHeaders }

export type GuardedAnswer = AnswerHead & {
  /** What was asked, when the answer came from elsewhere: every address on the way, the first one first. */
  cameFrom: readonly URL[]
  /** Where the server sends us on, when that was not followed. */
  sendsTo: URL | null
  /** Decompressed, at most `maxBytes`. */
  body: Buffer
  /** There was more than `maxBytes`. */
  isCut: boolean
  /** Something on the way was this machine or in its network: what is there is not for everybody. */
  isNear: boolean
}

export type GuardedRequest = {
  method?: 'GET' | 'POST'
  /** Go to the origin that was asked for and to no other, so they may hold a key. */
  headers?: Record<string, string>
  body?: string
  signal?: AbortSignal
  maxBytes?: number
  /** Asked before a redirect is followed; false hands back the answer with `sendsTo`. A POST never follows. */
  follows?: (to: URL, from: URL) => boolean
  /** Asked when the head of the answer is there; false leaves the body unread. */
  wantsBody?: (head: AnswerHead) => boolean
  /** An origin that the person typed in a setting: opened for this request as by `opened`. */
  openedOrigin?: string
}

/** Throws GuardedFetchError, or the reason of the signal. */
export type GuardedFetch = (address: string | URL, request?: GuardedRequest) => Promise<GuardedAnswer>

export type GuardedFetchOptions = {
  /**
   * What the person opened on this machine or in its network: `nas.local`, `192.168.1.5:8080`, or a range like
   * `198.18.0.0/15`.
   */
  opened?: readonly string[]
  /** Deckhand's own ports: shut on all addresses of this machine, also where `opened` says otherwise. */
  closedPorts?: readonly number[]
  /** All addresses of a name. */
  resolve?: (host: string) => Promise<readonly string[]>
  /** Opens a TCP connection to an address that has been checked. */
  dial?: (address: string, port: number) => Socket
  /** This machine's addresses: it may have public ones. */
  ownAddresses?: () => readonly string[]
  /** Certificate authorities instead of those that come with Node. */
  ca?: string
  caps?: Partial<GuardedCaps>
}

export type GuardedCaps = {
  connectMs: number
  firstByteMs: number
  totalMs: number
  headerBytes: number
  bodyBytes: number
  redirects: number
}

const DEFAULT_CAPS: GuardedCaps = {
  connectMs: 8_000,
  firstByteMs: 15_000,
  totalMs: 30_000,
  headerBytes: 32_768,
  bodyBytes: 5_000_000,
  redirects: 5,
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * The one way out for tools, whose addresses somebody else may have chosen. A name is resolved once for each hop, the
 * answers are judged, and the connection is made to one of those very addresses; the address at the other end of the
 * socket is judged again before a byte is sent. Nothing is kept between two requests: no connection, no cookie. Built on
 * sockets of our own, so no proxy from the environment and no agent stands in between.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const caps = { ...DEFAULT_CAPS, ...options.caps }
  const resolve = options.resolve ?? resolveBySystem
  const dial = options.dial ?? ((address, port) => connect({ host: address, port, family: isIP(address) }))
  const ownAddresses = options.ownAddresses ?? addressesOfThisMachine
  const closedPorts = new Set(options.closedPorts)

  /** The guard of one hop: judges addresses for the host and port of its URL. */
  const guardFor = (url: URL, alsoOpened: readonly string[]) => {
    const host = hostOf(url)
    const port = portOf(url)
    const opened = openingsFor([...(options.opened ?? []), ...alsoOpened], host, port)
    const own = new Set(ownAddresses().map(canonicalAddress))
    if (isIP(host) === 0 && isLocalName(host) && !opened.byName)
      throw new GuardedFetchError('closed_address', `${host} is a name of this machine or its network. ${NOT_OPENED}`)
    const kindOf = (address: string) => (own.has(canonicalAddress(address)) ? 'own' : kindOfAddress(address))
    return {
      host,
      port,
      isNear: (address: string) => NEAR_KINDS.has(kindOf(address)),
      /** null: may be connected to. */
      refusalOf(address: string): AddressKind | null {
        const kind = kindOf(address)
        if (kind === 'public') return null
        if (!OPENABLE_KINDS.has(kind)) return kind
        if ((kind === 'own' || kind === 'loopback') && closedPorts.has(port)) return kind
        return opened.byName || opened.ranges.some((holds) => holds(address)) ? null : kind
      },
    }
  }

  const openConnection = async (url: URL, request: GuardedRequest, signal: AbortSignal): Promise<Opened> => {
    const guard = guardFor(url, request.openedOrigin === url.origin ? [url.host] : [])
    const until = performance.now() + caps.connectMs
    const tooSlow = () => new GuardedFetchError('timeout', `No connection to ${guard.host} within ${seconds(caps.connectMs)}.`)
    const addresses = isIP(guard.host) > 0 ? [guard.host] : await bounded(resolve(guard.host), caps.connectMs, signal, tooSlow)
    const usable = addresses.filter((address) => guard.refusalOf(address) === null)
    if (addresses.length === 0) throw new GuardedFetchError('dns', `There is no host named ${guard.host}.`)
    if (usable.length === 0) throw closed(guard.host, guard.refusalOf(addresses[0]!)!)
    let trouble: Error = tooSlow()
    for (const [index, address] of usable.entries()) {
      // An address that does not answer must leave time for the next one.
      const ms = Math.max(1, (until - performance.now()) / (usable.length - index))
      const socket = dial(address, guard.port)
      try {
        await connected(socket, 'connect', ms, signal, tooSlow)
        const refusal = guard.refusalOf(socket.remoteAddress ?? '')
        if (refusal !== null) throw closed(guard.host, refusal)
        const isNear = guard.isNear(socket.remoteAddress ?? '')
        return { socket: url.protocol === 'https:' ? await secured(socket, guard.host, until, signal, tooSlow) : socket, isNear }
      } catch (error) {
        socket.destroy()
        signal.throwIfAborted()
        trouble = asGuarded(error, guard.host)
        if (trouble instanceof GuardedFetchError && trouble.kind === 'closed_address') throw trouble
      }
    }
    throw trouble
  }

  const secured = async (socket: Socket, host: string, until: number, signal: AbortSignal, tooSlow: () => Error): Promise<Socket> => {
    const secure = connectTls({
      socket,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ['http/1.1'],
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    })
    await connected(secure, 'secureConnect', Math.max(1, until - performance.now()), signal, tooSlow)
    return secure
  }

  const ask = (url: URL, socket: Socket, request: GuardedRequest, isFirst: boolean, signal: AbortSignal): Promise<IncomingMessage> => {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      const sent = http.request({
        createConnection: () => socket,
        method: request.method ?? 'GET',
        path: url.pathname + url.search,
        headers: {
          host: url.host,
          'user-agent': 'Mozilla/5.0 (compatible; Deckhand)',
          accept: '*/*',
          'accept-encoding': 'gzip, br',
          ...(isFirst ? request.headers : {}),
          connection: 'close',
          ...(request.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(request.body)) }),
        },
        maxHeaderSize: caps.headerBytes,
      })
      sent.on('response', (answer) => {
        // Its body may be left unread, and the connection under it may break all the same.
        answer.on('error', () => {})
        resolve(answer)
      })
      sent.on('error', reject)
      sent.on('upgrade', () => reject(new GuardedFetchError('protocol', `${url.host} answered in another protocol than HTTP.`)))
      sent.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
      sent.end(request.body)
    })
    return bounded(answered, caps.firstByteMs, signal, () => {
      return new GuardedFetchError('timeout', `${url.host} did not begin to answer within ${seconds(caps.firstByteMs)}.`)
    })
  }

  const run = async (first: URL, request: GuardedRequest, signal: AbortSignal): Promise<GuardedAnswer> => {
    const cameFrom: URL[] = []
    let isNear = false
    for (let url = first; ;) {
      let socket: Socket | undefined
      try {
        const opened = await openConnection(url, request, signal)
        socket = opened.socket
        isNear ||= opened.isNear
        const answer = await ask(url, socket, request, url.origin === first.origin, signal)
        const head: AnswerHead = { url, status: answer.statusCode ?? 0, headers: answer.headers }
        const to = targetOf(head)
        const follows = to !== null && request.method !== 'POST' && (request.follows?.(to, url) ?? true)
        if (!follows) {
          const wanted = to === null && (request.wantsBody?.(head) ?? true)
          const body = wanted ? await readBounded(answer, request.maxBytes ?? caps.bodyBytes, signal) : UNREAD
          return { ...head, ...body, cameFrom, sendsTo: to, isNear }
        }
        cameFrom.push(url)
        if (cameFrom.length > caps.redirects)
          throw new GuardedFetchError('redirect', `${first.host} sends us on and on: more than ${caps.redirects} times.`)
        url = to
      } catch (error) {
        signal.throwIfAborted()
        throw asGuarded(error, url.host)
      } finally {
        socket?.destroy()
      }
    }
  }

  return async (address, request = {}) => {
    request.signal?.throwIfAborted()
    const url = readOrRefuse(address)
    const whole = new AbortController()
    const timer = setTimeout(() => {
      whole.abort(new GuardedFetchError('timeout', `${url.host} did not finish its answer within ${seconds(caps.totalMs)}.`))
    }, caps.totalMs)
    const stop = () => whole.abort(request.signal!.reason)
    request.signal?.addEventListener('abort', stop, { once: true })
    try {
      return await run(url, request, whole.signal)
    } finally {
      clearTimeout(timer)
      request.signal?.removeEventListener('abort', stop)
    }
  }
}

type Opened = { socket: Socket; isNear: boolean }

const UNREAD = { body: Buffer.alloc(0), isCut: false }

async function resolveBySystem(host: string): Promise<string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)
}

function addressesOfThisMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address))
}

/** What of the openings is for this host and port. */
function openingsFor(opened: readonly string[], host: string, port: number) {
  const ranges: ((address: string) => boolean)[] = []
  let byName = false
  for (const entry of opened) {
    const range = parseRange(entry)
    if (range !== null) ranges.push(range)
    else byName ||= isNamed(entry, host, port)
  }
  return { byName, ranges }
}

/** Whether `opened` can make sense of it: a host, a host with a port, or a range of addresses. */
export function isOpening(entry: string): boolean {
  const text = entry.trim()
  if (parseRange(text) !== null) return true
  if (!/^[^/\\?#@\s]+$/.test(text) || !URL.canParse(`http://${text}`)) return false
  return new URL(`http://${text}`).hostname !== ''
}

function isNamed(entry: string, host: string, port: number): boolean {
  const text = entry.trim()
  if (!URL.canParse(`http://${text}`)) return false
  const url = new URL(`http://${text}`)
  if (hostOf(url).replace(/\.+$/, '') !== host) return false
  // The URL drops `:80`, which is a port that was named all the same.
  const named = /:(\d+)$/.exec(text.replace(/^\[.*\]/, ''))
  return named === null || Number(named[1]) === port
}

const NOT_OPENED = 'Tools do not open those unless the person has opened this host for them.'

const LEADS_TO: Partial<Record<AddressKind, string>> = {
  own: 'to this machine itself',
  loopback: 'to this machine itself',
  private: 'to a private address',
  shared: 'to a private address (of a provider)',
  benchmark:
    'into 198.18.0.0/15, where no server is. A proxy that answers with made-up addresses ("fake IP", as Clash, Surge and sing-box do) uses it: ' +
    'whoever runs one can open 198.18.0.0/15 for tools',
}

function closed(host: string, kind: AddressKind): GuardedFetchError {
  const where = LEADS_TO[kind] ?? 'to an address that is not on the internet'
  return new GuardedFetchError(
    'closed_address',
    `${host} leads ${where}. ${OPENABLE_KINDS.has(kind) ? NOT_OPENED : 'Tools never open those.'}`,
  )
}

function readOrRefuse(address: string | URL): URL {
  try {
    return readWebAddress(address)
  } catch (error) {
    throw error instanceof WebAddressRefused ? new GuardedFetchError('bad_url', error.message) : error
  }
}

function targetOf({ url, status, headers }: AnswerHead): URL | null {
  if (!REDIRECTS.has(status) || headers.location === undefined) return null
  try {
    return readWebAddress(new URL(headers.location, url))
  } catch {
    throw new GuardedFetchError('redirect', `${url.host} sends us on to an address that cannot be opened.`)
  }
}

/** Waits for the event; fails with the socket, with the signal, or when the time is over. */
function connected(socket: Socket, event: string, ms: number, signal: AbortSignal, tooSlow: () => Error): Promise<void> {
  const done = new Promise<void>((resolve, reject) => {
    socket.once(event, () => resolve())
    // Stays for the life of the socket: what comes later is heard by whoever reads from it.
    socket.on('error', reject)
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  })
  return bounded(done, ms, signal, tooSlow)
}

/** The work, or an error when the signal or the clock is first. What the work does afterwards is nobody's business. */
async function bounded<T>(work: Promise<T>, ms: number, signal: AbortSignal, tooSlow: () => Error): Promise<T> {
  signal.throwIfAborted()
  const { promise: over, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(tooSlow()), ms)
  const stop = () => reject(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

function asGuarded(error: unknown, host: string): Error {
  if (error instanceof GuardedFetchError) return error
  const { kind, message, systemCode } = troubleFrom(error as NodeJS.ErrnoException)
  switch (kind) {
    case 'dns':
      return new GuardedFetchError(kind, `There is no host named ${host}.`)
    case 'tls':
      return new GuardedFetchError(kind, `The secure connection to ${host} failed (${systemCode}).`)
    case 'bad_url':
    case 'refused':
    case 'unreachable':
    case 'reset':
    case 'protocol':
    case 'redirect':
      return new GuardedFetchError(kind, `${host}: ${message}.`)
  }
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}
