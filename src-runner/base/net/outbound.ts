import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { http, https } from './node-http.ts'

/**
 * Why a request did not get an answer. `code` is Node's own code (ECONNREFUSED, CERT_HAS_EXPIRED, ...) for the log;
 * callers decide by `kind` and write their own sentence for people.
 */
export type OutboundTrouble = 'bad_url' | 'dns' | 'refused' | 'unreachable' | 'tls' | 'reset' | 'protocol' | 'redirect'

export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  readonly kind: OutboundTrouble
  /** Named unlike Node's `code`, so that libraries which look for that one leave this error as it is. */
  readonly systemCode: string | null

  constructor(kind: OutboundTrouble, message: string, systemCode: string | null = null) {
    super(message)
    this.kind = kind
    this.systemCode = systemCode
  }
}

/**
 * The part of `fetch` that the product uses. Bodies are text or bytes, complete before the request starts. `onBytes`
 * hears of each piece of the answer's body as it arrives; what it throws ends the answer.
 */
export type OutboundFetch = (input: string | URL | Request, init?: OutboundInit) => Promise<Response>

export type OutboundInit = RequestInit & { onBytes?: (count: number) => void }

export type Outbound = {
  fetch: OutboundFetch
  /** Ends idle connections; requests in flight end by their own signal. */
  close(): void
}

export type OutboundOptions = {
  /** All header bytes of one answer together. */
  maxHeaderBytes?: number
  /** How long an unused connection is kept for the next request. */
  idleConnectionMs?: number
  connectTimeoutMs?: number
  maxRedirects?: number
}

/** Headers that open somebody's account. A request that carries one never leaves the origin it was meant for. */
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'cookie', 'proxy-authorization']

/**
 * The one way out of the runner for models. Built on node:http instead of the global fetch for three reasons: its
 * agents are ours alone (no proxy from the environment, no state shared with other code), header size and connection
 * reuse are options, and the check of the address that is really connected to (for tools that open pages somebody
 * else chose) has its natural place in the agents' `createConnection`.
 */
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const { maxHeaderBytes = 32_768, idleConnectionMs = 30_000, connectTimeoutMs = 20_000, maxRedirects = 5 } = options
  // `timeout` closes idle connections only (sooner when the server says so); a busy one has no listener for it.
  const agentOptions = {
    keepAlive: true,
    keepAliveMsecs: 15_000,
    maxFreeSockets: 8,
    scheduling: 'lifo' as const,
    timeout: idleConnectionMs,
  }
  const agents = { http: new http.Agent(agentOptions), https: new https.Agent(agentOptions) }

  const sendOnce = (url: URL, call: Call, fresh: boolean): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { signal } = call
      if (signal?.aborted) return reject(signal.reason as Error)
      const secure = url.protocol === 'https:'
      let answered = false
      const request = (secure ? https : http).request(url, {
        method: call.method,
        agent: fresh ? false : secure ? agents.https : agents.http,
        headers: call.headers,
        maxHeaderSize: maxHeaderBytes,
      })
      const connectTimer = setTimeout(() => {
        request.destroy(new OutboundError('unreachable', `no connection within ${connectTimeoutMs / 1000} s`, 'ETIMEDOUT'))
      }, connectTimeoutMs)
      const onAbort = () => request.destroy(signal!.reason as Error)
      signal?.addEventListener('abort', onAbort, { once: true })
      request.on('socket', (socket) => {
        if (!socket.connecting) return clearTimeout(connectTimer)
        socket.once(secure ? 'secureConnect' : 'connect', () => clearTimeout(connectTimer))
      })
      request.on('response', (answer) => {
        answered = true
        clearTimeout(connectTimer)
        answer.once('close', () => signal?.removeEventListener('abort', onAbort))
        resolve(answer)
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(connectTimer)
        signal?.removeEventListener('abort', onAbort)
        if (answered) return
        if (signal?.aborted) return reject(signal.reason as Error)
        reject(error instanceof OutboundError ? error : new StaleOrBroken(error, request.reusedSocket))
      })
      request.end(call.body)
    })

  const send = async (url: URL, call: Call): Promise<IncomingMessage> => {
    try {
      return await sendOnce(url, call, false)
    } catch (error) {
      if (!(error instanceof StaleOrBroken)) throw error
      // A server may close an idle connection in the moment it is taken for a new request. Nothing of that request
      // was read then, so it is sent once more over a fresh connection.
      if (!error.reused || error.cause.code !== 'ECONNRESET') throw troubleFrom(error.cause)
    }
    try {
      return await sendOnce(url, call, true)
    } catch (error) {
      throw error instanceof StaleOrBroken ? troubleFrom(error.cause) : error
    }
  }

  return {
    async fetch(input, init = {}) {
      const call = readCall(init)
      let url = readUrl(input)
      for (let hop = 0; ; hop++) {
        const answer = await send(url, call)
        const target = redirectTarget(answer, url)
        if (target === null || init.redirect === 'manual') return toResponse(answer, call)
        answer.destroy()
        if (init.redirect === 'error') throw new OutboundError('redirect', `it sends us on to ${target.origin}`)
        if (hop === maxRedirects) throw new OutboundError('redirect', 'it sends us on and on')
        checkRedirect(answer.statusCode ?? 0, call, url, target)
        url = target
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

type Call = {
  method: string
  headers: Record<string, string>
  body: string | Uint8Array | undefined
  signal: AbortSignal | null
  onBytes: ((count: number) => void) | undefined
}

class StaleOrBroken extends Error {
  override readonly cause: NodeJS.ErrnoException
  readonly reused: boolean
  constructor(cause: NodeJS.ErrnoException, reused: boolean) {
    super(cause.message)
    this.cause = cause
    this.reused = reused
  }
}

function readUrl(input: string | URL | Request): URL {
  let url: URL
  try {
    url = new URL(input instanceof Request ? input.url : input)
  } catch {
    throw new OutboundError('bad_url', 'the address cannot be read')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundError('bad_url', 'only http and https addresses are opened')
  if (url.username !== '' || url.password !== '') throw new OutboundError('bad_url', 'the address must not contain a user name or password')
  return url
}

function readCall(init: OutboundInit): Call {
  const { body } = init
  if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('a request body must be text or bytes')
  }
  // Streams are read as they come: asking for compression would only make servers hold tokens back.
  const headers: Record<string, string> = { accept: '*/*', 'accept-encoding': 'identity' }
  new Headers(init.headers).forEach((value, name) => {
    headers[name] = value
  })
  if (body) headers['content-length'] = String(Buffer.byteLength(body))
  return {
    method: (init.method ?? 'GET').toUpperCase(),
    headers,
    body: body ?? undefined,
    signal: init.signal ?? null,
    onBytes: init.onBytes,
  }
}

function redirectTarget(answer: IncomingMessage, from: URL): URL | null {
  const { statusCode, headers } = answer
  if (![301, 302, 303, 307, 308].includes(statusCode ?? 0) || headers.location === undefined) return null
  try {
    return readUrl(new URL(headers.location, from))
  } catch {
    answer.destroy()
    throw new OutboundError('redirect', 'it sends us on to an address that cannot be opened')
  }
}

/**
 * A body is a conversation and a credential is a key: neither follows a redirect to another origin. 301 to 303 would
 * turn a POST into a GET, which no API means; they point at a wrong base address instead.
 */
function checkRedirect(status: number, call: Call, from: URL, to: URL): void {
  const hasCredential = CREDENTIAL_HEADERS.some((name) => name in call.headers)
  if (to.origin !== from.origin && (hasCredential || call.body !== undefined)) {
    throw new OutboundError('redirect', `it sends us on to ${to.origin}, and keys and conversations are not sent to another address`)
  }
  if (call.method !== 'GET' && call.method !== 'HEAD' && status !== 307 && status !== 308) {
    throw new OutboundError('redirect', `the address has moved to ${to.origin}${to.pathname}`)
  }
}

function toResponse(answer: IncomingMessage, call: Call): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one)
  }
  const status = answer.statusCode ?? 0
  if (status < 200 || status > 599) {
    answer.destroy()
    throw new OutboundError('protocol', `it answered with status ${status}`)
  }
  const init = { status, statusText: printable(answer.statusMessage ?? ''), headers }
  if (status === 204 || status === 205 || status === 304) {
    answer.resume()
    return new Response(null, init)
  }
  return new Response(bodyOf(answer, call), init)
}

/** A status text may hold bytes that `Response` refuses. */
function printable(text: string): string {
  return text.replace(/[^\t\x20-\x7e]/g, '')
}

function bodyOf(answer: IncomingMessage, { signal, onBytes }: Call): ReadableStream<Uint8Array> {
  const bytes = decoded(answer)
  let ended = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: NodeJS.ErrnoException) => {
          if (ended) return
          ended = true
          controller.error(signal?.aborted ? signal.reason : troubleFrom(error))
        }
        bytes.on('data', (chunk: Buffer) => {
          if (ended) return
          try {
            onBytes?.(chunk.byteLength)
          } catch (error) {
            ended = true
            controller.error(error)
            return void answer.destroy()
          }
          controller.enqueue(chunk)
          if ((controller.desiredSize ?? 0) <= 0) bytes.pause()
        })
        bytes.on('end', () => {
          if (ended) return
          ended = true
          controller.close()
        })
        bytes.on('error', fail)
        answer.on('error', fail)
        answer.on('close', () => {
          if (!answer.complete) fail(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }))
        })
        bytes.pause()
      },
      pull() {
        bytes.resume()
      },
      cancel() {
        ended = true
        answer.destroy()
      },
    },
    { highWaterMark: 65_536, size: (chunk) => chunk.byteLength },
  )
}

/** We ask for plain bytes; some servers compress all the same. */
function decoded(answer: IncomingMessage): Readable {
  switch (answer.headers['content-encoding']?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return answer.pipe(createGunzip())
    case 'deflate':
      return answer.pipe(createInflate())
    case 'br':
      return answer.pipe(createBrotliDecompress())
    default:
      return answer
  }
}

const DNS_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME'])
const UNREACHABLE_CODES = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'EACCES', 'EPERM'])
const TLS_CODES = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_OSSL|EPROTO)/

export function troubleFrom(error: NodeJS.ErrnoException): OutboundError {
  if (error instanceof OutboundError) return error
  // Node tries all addresses of a name and reports one error that holds the single ones.
  const single = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException | undefined) : undefined
  const code = error.code ?? single?.code ?? null
  if (code === null) return new OutboundError('protocol', error.message)
  if (code === 'ECONNREFUSED') return new OutboundError('refused', 'the connection was refused', code)
  if (DNS_CODES.has(code)) return new OutboundError('dns', 'the host name was not found', code)
  if (UNREACHABLE_CODES.has(code)) return new OutboundError('unreachable', 'the host cannot be reached', code)
  if (TLS_CODES.test(code)) return new OutboundError('tls', `the secure connection failed (${code})`, code)
  if (code.startsWith('HPE_')) return new OutboundError('protocol', 'the answer is not valid HTTP', code)
  if (/^Z_|^ERR_(BROTLI|ZLIB)|^ERR__ERROR_FORMAT/.test(code)) return new OutboundError('protocol', 'the answer is damaged', code)
  return new OutboundError('reset', 'the connection was lost', code)
}
