import { isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector, Client, Dispatcher } from 'undici'
import { addressesOfThisMachine, createAddressGuard } from './address-guard.ts'
import { bounded, ClosedAddress, connectChecked, connected, type ConnectOptions } from './checked-connection.ts'
import { decompressed, loadUndici, ONLY_HTTP_1, redirectTarget, troubleFrom, type OutboundTrouble } from './outbound.ts'
import { hostOf, portOf, readWebAddress, WebAddressRefused } from './web-address.ts'

/** `closed_address`: the address is not on the internet, and the person has not opened it. */
export type GuardedTrouble = OutboundTrouble | 'closed_address' | 'timeout'

/** The message is a sentence that a model or a person can act on. It names no inner address. */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError'
  readonly kind: GuardedTrouble
  /** The host was connected, so it may have received the request and acted on it. */
  readonly maybeSent: boolean

  constructor(kind: GuardedTrouble, message: string, { maybeSent = true } = {}) {
    super(message)
    this.kind = kind
    this.maybeSent = maybeSent
  }
}

/** `headers` has only the first value of a repeated header. */
export type ResponseHead = { url: URL; status: number; headers: Record<string, string | undefined> }

export type GuardedResponse = ResponseHead & {
  /** The addresses that redirected here, the requested one first. */
  cameFrom: readonly URL[]
  /** Where the response redirects to, if that was not followed. */
  sendsTo: URL | null
  /** Decompressed, at most `maxBytes`. */
  body: Buffer
  /** There was more than `maxBytes`. */
  isCut: boolean
  /** An address on the way was this machine or in its network, so the content is private. */
  isNear: boolean
}

export type RequestMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type GuardedRequest = {
  /** Default: GET. */
  method?: RequestMethod
  /** Sent only to the origin of the requested address, so they may hold a key. */
  headers?: Record<string, string>
  body?: string | Uint8Array
  signal?: AbortSignal
  maxBytes?: number
  /** Called before a redirect is followed. false returns the response with `sendsTo`. Only GET and HEAD are redirected. */
  follows?: (to: URL, from: URL) => boolean
  /** Called with the head of the response. false leaves the body unread. */
  readsBody?: (head: ResponseHead) => boolean
  /** An origin that the person typed in a setting: open for this request as if `opened` held it. */
  openedOrigin?: string
}

/** Throws GuardedFetchError, or the reason of the signal. */
export type GuardedFetch = (address: string | URL, request?: GuardedRequest) => Promise<GuardedResponse>

export type GuardedFetchOptions = Pick<ConnectOptions, 'resolve' | 'dial'> & {
  /** Hosts and ranges of this machine and its network that the person opened (`isOpening`). */
  opened?: readonly string[]
  /** Deckhand's own ports, closed on this machine even if `opened` names them. */
  closedPorts?: readonly number[]
  ownAddresses?: () => readonly string[]
  /** Certificate authorities instead of Node's own. */
  ca?: string
  caps?: Partial<GuardedCaps>
}

export type GuardedCaps = { connectMs: number; firstByteMs: number; totalMs: number }

const DEFAULT_CAPS: GuardedCaps = { connectMs: 8_000, firstByteMs: 15_000, totalMs: 30_000 }
const MAX_BODY_BYTES = 5_000_000
const MAX_REDIRECTS = 5
const UNREAD = { body: Buffer.alloc(0), isCut: false }

/**
 * Requests of tools, whose addresses may come from untrusted text. Each hop uses `connectChecked`. No connection and no cookie
 * is kept between two requests, and no proxy from the environment is used.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const caps = { ...DEFAULT_CAPS, ...options.caps }
  const openConnection = createGuardedConnect(options, caps.connectMs)

  async function run(first: URL, request: GuardedRequest, signal: AbortSignal): Promise<GuardedResponse> {
    const cameFrom: URL[] = []
    let isNear = false
    const { method = 'GET' } = request
    const mayRedirect = method === 'GET' || method === 'HEAD'
    for (let url = first; ;) {
      let client: Client | undefined
      let socket: Socket | undefined
      try {
        const opened = await openConnection(url, request.openedOrigin, signal)
        socket = opened.socket
        isNear ||= opened.isNear
        client = await createClient(url, socket)
        const sent = client.request({
          method,
          path: url.pathname + url.search,
          headers: {
            'user-agent': 'Mozilla/5.0 (compatible; Deckhand)',
            accept: '*/*',
            'accept-encoding': 'gzip, br',
            ...(url.origin === first.origin ? request.headers : {}),
          },
          body: request.body ?? null,
          reset: true,
          signal,
        })
        const response = await bounded(
          sent,
          caps.firstByteMs,
          signal,
          () => new GuardedFetchError('timeout', `${url.host} did not begin to respond within ${seconds(caps.firstByteMs)}.`),
        )
        // Its body may stay unread, and the connection may break all the same.
        response.body.on('error', () => {})
        const head: ResponseHead = { url, status: response.statusCode, headers: firstOfEach(response.headers) }
        const to = redirectTarget(response, url, readWebAddress)
        const follows = to !== null && mayRedirect && (request.follows?.(to, url) ?? true)
        if (!follows) {
          const wanted = to === null && (request.readsBody?.(head) ?? true)
          const body = wanted ? await readBounded(response, request.maxBytes ?? MAX_BODY_BYTES, signal) : UNREAD
          return { ...head, ...body, cameFrom, sendsTo: to, isNear }
        }
        cameFrom.push(url)
        if (cameFrom.length > MAX_REDIRECTS)
          throw new GuardedFetchError('redirect', `${first.host} redirects more than ${MAX_REDIRECTS} times.`)
        url = to
      } catch (error) {
        signal.throwIfAborted()
        throw asGuarded(error, url.host)
      } finally {
        void client?.destroy()
        socket?.destroy()
      }
    }
  }

  return async (address, request = {}) => {
    request.signal?.throwIfAborted()
    const url = readOrRefuse(address)
    const over = new AbortController()
    const timer = setTimeout(() => {
      over.abort(new GuardedFetchError('timeout', `${url.host} did not finish its response within ${seconds(caps.totalMs)}.`))
    }, caps.totalMs)
    try {
      return await run(url, request, request.signal === undefined ? over.signal : AbortSignal.any([over.signal, request.signal]))
    } finally {
      clearTimeout(timer)
    }
  }
}

type OpenConnection = (url: URL, openedOrigin: string | undefined, signal: AbortSignal) => Promise<{ socket: Socket; isNear: boolean }>

/** Opens connections to addresses that are not closed. Throws like `createGuardedFetch`. */
export function createGuardedConnect(options: GuardedFetchOptions, timeoutMs = DEFAULT_CAPS.connectMs): OpenConnection {
  const closedPorts = new Set(options.closedPorts)

  const guardFor = (url: URL, openedOrigin: string | undefined) =>
    createAddressGuard(url, {
      opened: [...(options.opened ?? []), ...(openedOrigin === url.origin ? [url.host] : [])],
      closedPorts,
      ownAddresses: (options.ownAddresses ?? addressesOfThisMachine)(),
    })

  return async (url, openedOrigin, signal) => {
    const host = hostOf(url)
    const guard = guardFor(url, openedOrigin)
    const tooSlow = () => new GuardedFetchError('timeout', `No connection to ${host} within ${seconds(timeoutMs)}.`, { maybeSent: false })
    const secure = async (socket: Socket, ms: number) => {
      const ca = options.ca === undefined ? {} : { ca: options.ca }
      const over = connectTls({ socket, host, ...(isIP(host) > 0 ? {} : { servername: host }), ALPNProtocols: ['http/1.1'], ...ca })
      await connected(over, 'secureConnect', ms, signal, tooSlow)
      return over
    }
    try {
      if (guard.nameRefusal !== null) throw new ClosedAddress(guard.nameRefusal)
      const { socket, address } = await connectChecked({
        host,
        port: portOf(url),
        refusalOf: guard.refusalOf,
        timeoutMs,
        tooSlow,
        signal,
        resolve: options.resolve,
        dial: options.dial,
        upgrade: url.protocol === 'https:' ? secure : undefined,
      })
      return { socket, isNear: guard.isNear(address) }
    } catch (error) {
      signal.throwIfAborted()
      throw asGuarded(error, host, { maybeSent: false })
    }
  }
}

/** A client for one connection, which is open already. Time limits are the caller's. */
export async function createClient(url: URL, socket: Socket): Promise<Client> {
  const undici = await loadUndici()
  const connect: buildConnector.connector = (_, done) =>
    // undici loses a connection that is handed over within the call.
    queueMicrotask(() => done(null, socket))
  return new undici.Client(url.origin, { ...ONLY_HTTP_1, headersTimeout: 0, bodyTimeout: 0, connect })
}

/** Limits the decompressed bytes, which stops a bomb, and the bytes on the wire, since compressed bytes may decompress to nothing. */
async function readBounded(
  response: Dispatcher.ResponseData,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ body: Buffer; isCut: boolean }> {
  const source = decompressed(response)
  let wireBytes = 0
  if (source !== response.body) {
    response.body.on('data', (chunk: Buffer) => {
      wireBytes += chunk.length
      if (wireBytes > maxBytes) source.destroy(new Error('the response is too large'))
    })
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    signal.throwIfAborted()
    chunks.push(chunk)
    length += chunk.length
    if (length > maxBytes) break
  }
  return { body: Buffer.concat(chunks, Math.min(length, maxBytes)), isCut: length > maxBytes }
}

function firstOfEach(headers: Dispatcher.ResponseData['headers']): ResponseHead['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]))
}

function readOrRefuse(address: string | URL): URL {
  try {
    return readWebAddress(address)
  } catch (error) {
    throw error instanceof WebAddressRefused ? new GuardedFetchError('bad_url', error.message, { maybeSent: false }) : error
  }
}

export function asGuarded(error: unknown, host: string, sending: { maybeSent?: boolean } = {}): Error {
  if (error instanceof GuardedFetchError) return error
  if (error instanceof ClosedAddress) return new GuardedFetchError('closed_address', error.message, sending)
  const { kind, message, systemCode } = troubleFrom(error)
  if (kind === 'dns') return new GuardedFetchError(kind, `There is no host named ${host}.`, sending)
  if (kind === 'tls') return new GuardedFetchError(kind, `The secure connection to ${host} failed (${systemCode}).`, sending)
  return new GuardedFetchError(kind, `${host}: ${message}.`, sending)
}

function seconds(ms: number): string {
  return `${ms / 1000} s`
}
