import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Agent, Client, Dispatcher, buildConnector } from 'undici'

export type OutboundTrouble = 'bad_url' | 'dns' | 'refused' | 'unreachable' | 'tls' | 'reset' | 'protocol' | 'redirect'

/** Why a request has no response. Callers decide by `kind` and write their own sentence for people. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly kind: OutboundTrouble
  /**
   * The code of Node or undici (`ECONNREFUSED`), for the log. Not named `code`: libraries that look for `code` would replace this
   * error.
   */
  readonly systemCode: string | null

  constructor(kind: OutboundTrouble, message: string, systemCode: string | null = null) {
    super(message)
    this.kind = kind
    this.systemCode = systemCode
  }
}

/** The part of `fetch` that the product uses. Request bodies are text or bytes. */
export type OutboundFetch = (input: string | URL | Request, init?: OutboundInit) => Promise<Response>

/** `onBytes` receives the size of each piece of the response body. If it throws, the response ends with that error. */
export type OutboundInit = RequestInit & { onBytes?: (count: number) => void }

export type Outbound = {
  fetch: OutboundFetch
  /** Closes idle connections. Requests in flight end by their own signal. */
  close(): void
}

/** Loads with the first request: loading takes about 70 ms of CPU, which the start does not have to pay. */
let undici: Promise<typeof import('undici')> | undefined
export const loadUndici = () => (undici ??= import('undici'))

export const MAX_HEADER_BYTES = 32_768
const IDLE_CONNECTION_MS = 30_000
const CONNECT_TIMEOUT_MS = 20_000
/** A connection that the server had already closed fails within a round trip of the first bytes. */
const CLOSED_BEFORE_MS = 1000
const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** A request that carries one of these headers never leaves the origin it was meant for. */
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'cookie', 'proxy-authorization']

/**
 * Requests to services that the person chose: models, chat services, the public address. Tools use `createGuardedFetch`.
 * It has its own agent, so no proxy from the environment and no other code's state affects it. Time limits are the
 * caller's, through the signal.
 */
export function createOutbound({ connectTimeoutMs = CONNECT_TIMEOUT_MS }: { connectTimeoutMs?: number } = {}): Outbound {
  let kept: Agent | null = null

  const optionsFor = ({ buildConnector: build }: typeof import('undici')): Client.Options => ({
    ...ONLY_HTTP_1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    connect: datingErrors(build({ timeout: connectTimeoutMs, allowH2: false })),
  })

  async function send(url: URL, call: Call): Promise<Dispatcher.ResponseData> {
    const undici = await loadUndici()
    kept ??= new undici.Agent(optionsFor(undici))
    const request = { ...call, origin: url.origin, path: url.pathname + url.search }
    const startedAt = performance.now()
    try {
      return await kept.request(request)
    } catch (error) {
      if (!isFromOlderConnection(error, startedAt)) throw error
      // The server closed an idle connection just as this request took it. If that shows late, the server may have acted on the
      // request, so only a safe one is repeated: https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.2
      const isSafe = call.method === 'GET' || call.method === 'HEAD'
      if (!isSafe && performance.now() - startedAt > CLOSED_BEFORE_MS) throw error
    }
    const fresh = new undici.Client(url.origin, optionsFor(undici))
    const sent = fresh.request({ ...request, reset: true })
    void fresh.close()
    return sent
  }

  return {
    async fetch(input, init = {}) {
      const call = readCall(init)
      let url = readUrl(input)
      for (let hop = 0; ; hop++) {
        call.signal?.throwIfAborted()
        const response = await send(url, call).catch((error: unknown) => {
          throw call.signal?.aborted ? call.signal.reason : troubleFrom(error)
        })
        response.body.on('error', () => {})
        const target = redirectTarget(response, url)
        if (target === null || init.redirect === 'manual') return toResponse(response, call.signal, init.onBytes)
        response.body.destroy()
        if (init.redirect === 'error') throw new OutboundError('redirect', `it redirects to ${target.origin}`)
        if (hop === MAX_REDIRECTS) throw new OutboundError('redirect', `it redirects more than ${MAX_REDIRECTS} times`)
        checkRedirect(response.statusCode, call, url, target)
        url = target
      }
    },
    close() {
      void kept?.close()
      kept = null
    },
  }
}

export const ONLY_HTTP_1 = { allowH2: false, maxHeaderSize: MAX_HEADER_BYTES }

type Call = { method: Dispatcher.HttpMethod; headers: Record<string, string>; body: string | Uint8Array | null; signal: AbortSignal | null }

/** Errors of a connection say when it was opened. */
function datingErrors(connect: buildConnector.connector): buildConnector.connector {
  return (options, done) =>
    connect(options, (...[error, socket]: buildConnector.CallbackArgs) => {
      if (error !== null) return done(error, null)
      const openedAt = performance.now()
      socket.prependListener('error', (broken: Error) => Object.assign(broken, { openedAt }))
      done(null, socket)
    })
}

/** A connection that was open before the request began was opened for an earlier one. */
function isFromOlderConnection(error: unknown, startedAt: number): boolean {
  const { code, openedAt = Infinity } = error as { code?: string; openedAt?: number }
  return (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') && openedAt < startedAt
}

function readUrl(input: string | URL | Request): URL {
  const text = input instanceof Request ? input.url : input
  if (!URL.canParse(String(text))) throw new OutboundError('bad_url', 'the address cannot be read')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundError('bad_url', 'only http and https addresses are opened')
  if (url.username !== '' || url.password !== '') throw new OutboundError('bad_url', 'the address must not contain a user name or password')
  return url
}

function readCall({ body, headers, method = 'GET', signal }: OutboundInit): Call {
  if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('a request body must be text or bytes')
  }
  return {
    method: method.toUpperCase(),
    // Compression would only make servers hold back the tokens of a stream.
    headers: { accept: '*/*', 'accept-encoding': 'identity', ...Object.fromEntries(new Headers(headers)) },
    body: body ?? null,
    signal: signal ?? null,
  }
}

export function headerOf({ headers }: Pick<Dispatcher.ResponseData, 'headers'>, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Where a response redirects to; null: it does not. Throws OutboundError `redirect` when `read` refuses the address. */
export function redirectTarget(
  response: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>,
  from: URL,
  read: (url: URL) => URL = readUrl,
): URL | null {
  const location = headerOf(response, 'location')
  if (!REDIRECTS.has(response.statusCode) || location === undefined) return null
  try {
    return read(new URL(location, from))
  } catch {
    response.body.destroy()
    throw new OutboundError('redirect', 'it redirects to an address that cannot be opened')
  }
}

/**
 * Neither a credential nor a body follows a redirect to another origin. 301 to 303 would turn a POST into a GET, which
 * no API means: such a redirect shows that the base address is wrong.
 */
function checkRedirect(status: number, call: Call, from: URL, to: URL): void {
  const hasCredential = CREDENTIAL_HEADERS.some((name) => name in call.headers)
  if (to.origin !== from.origin && (hasCredential || call.body !== null)) {
    throw new OutboundError('redirect', `it redirects to ${to.origin}, and keys and conversations are not sent to another address`)
  }
  if (call.method !== 'GET' && call.method !== 'HEAD' && status !== 307 && status !== 308) {
    throw new OutboundError('redirect', `the address has moved to ${to.origin}${to.pathname}`)
  }
}

function toResponse(response: Dispatcher.ResponseData, signal: AbortSignal | null, onBytes?: (count: number) => void): Response {
  const { statusCode: status, body } = response
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one)
  }
  if (status < 200 || status > 599) {
    body.destroy()
    throw new OutboundError('protocol', `it returned status ${status}`)
  }
  // A status text may hold bytes that `Response` refuses.
  const init = { status, statusText: response.statusText.replace(/[^\t\x20-\x7e]/g, ''), headers }
  if (status !== 204 && status !== 205 && status !== 304) return new Response(streamOf(decompressed(response), signal, onBytes), init)
  body.resume()
  return new Response(null, init)
}

/** Reads a piece only when it is wanted, so that a fast server waits for a slow reader. */
function streamOf(bytes: Readable, signal: AbortSignal | null, onBytes?: (count: number) => void): ReadableStream<Uint8Array> {
  const pieces = bytes[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next().catch((error: unknown) => {
          throw signal?.aborted ? signal.reason : troubleFrom(error)
        })
        if (done) {
          // undici reuses the connection one turn later. A request that follows at once should find it.
          await new Promise((resolve) => setImmediate(resolve))
          return controller.close()
        }
        try {
          onBytes?.(value.byteLength)
        } catch (error) {
          bytes.destroy()
          throw error
        }
        controller.enqueue(value)
      },
      cancel: () => void bytes.destroy(),
    },
    { highWaterMark: 0 },
  )
}

/** Some servers compress unasked. A body with an unknown encoding stays as it is. */
export function decompressed(response: Pick<Dispatcher.ResponseData, 'headers' | 'body'>): Readable {
  const through = (decoder: NodeJS.ReadWriteStream) => pipeline(response.body, decoder, () => {}) as unknown as Readable
  switch (headerOf(response, 'content-encoding')?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return through(createGunzip())
    case 'deflate':
      return through(createInflate())
    case 'br':
      return through(createBrotliDecompress())
    default:
      return response.body
  }
}

const TROUBLES: [pattern: RegExp, kind: OutboundTrouble, message: string][] = [
  [/^ECONNREFUSED$/, 'refused', 'the connection was refused'],
  [/^(ENOTFOUND|EAI_\w+)$/, 'dns', 'the host name was not found'],
  [
    /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/,
    'unreachable',
    'the host cannot be reached',
  ],
  [/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_OSSL|EPROTO)/, 'tls', 'the secure connection failed'],
  [
    /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_INVALID_ARG)/,
    'protocol',
    'the response is not valid HTTP',
  ],
  [/^Z_|^ERR_(BROTLI|ZLIB)|^ERR__ERROR_FORMAT/, 'protocol', 'the response is damaged'],
]

export function troubleFrom(thrown: unknown): OutboundError {
  if (thrown instanceof OutboundError) return thrown
  const error = thrown as NodeJS.ErrnoException
  // Node tries all addresses of a name and then throws one error that holds the single ones.
  const single = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException | undefined) : undefined
  const code = error.code ?? single?.code ?? null
  if (code === null) return new OutboundError('protocol', error.message)
  // undici's messages for an unexpected 101 or 100.
  if (/^bad (upgrade|response)$/.test(error.message)) return new OutboundError('protocol', 'the response is not HTTP', code)
  const [, kind, message] = TROUBLES.find(([pattern]) => pattern.test(code)) ?? [null, 'reset' as const, 'the connection was lost']
  return new OutboundError(kind, kind === 'tls' ? `${message} (${code})` : message, code)
}
