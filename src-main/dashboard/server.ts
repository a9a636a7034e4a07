import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import fastify from 'fastify'
import { limitConnectionsFromNetwork, MAX_CONNECTIONS } from '../../src-runner/contract/connection-limit.ts'
import { acceptTls, isPlainFromNetwork, type TlsPair } from '../../src-runner/contract/encryption.ts'
import { isHostOfOrigin, refuseAtGate, type GateConfig } from '../../src-runner/contract/gate.ts'
import type { AuthMode } from '../../src-runner/contract/port.ts'
import { messageOf, type Log } from '../log/log.ts'
import { isOwnPeer } from '../net/own-peer.ts'
import { boundNamesOf, namesOf, urlOf, type ReadInterfaces } from '../net/address.ts'
import { FROM_OTHER_SITES } from '../oauth/oauth.ts'
import type { Dashboard } from './dashboard.ts'
import { API_HEADERS } from './hardening.ts'
import { redirection, refusal, type DashboardResponse } from './responses.ts'

export type DashboardServer = {
  url: string
  port: number
  /** The dashboard's own origins, as a browser sends them in `Origin`. They change with the network. */
  origins(): readonly string[]
  close(): Promise<void>
}

export type DashboardServerOptions = {
  dashboard: Dashboard
  host: string
  /** 0 lets the system choose. */
  port: number
  /** Called for every request. */
  authMode: () => AuthMode
  appUrl: string | null
  /** For connections from the network; null: they are not encrypted. */
  tls: TlsPair | null
  /** Left out: those of the system. */
  interfaces?: ReadInterfaces
  /** Left out: half a minute. */
  deadlines?: Deadlines
  log: Log
}

export class PortTakenError extends Error {
  override readonly name = 'PortTakenError'
  readonly port: number

  constructor(port: number) {
    super(`port ${port} is taken`)
    this.port = port
  }
}

/** Serves the dashboard over HTTP. Rejects with a PortTakenError if another program uses the port. */
export async function startDashboardServer(options: DashboardServerOptions): Promise<DashboardServer> {
  const { dashboard, host, log, tls, deadlines = DEFAULT_DEADLINES } = options
  // Known once the port is. Until then every request is refused.
  let bound: { host: string; port: number } | null = null
  const gateNow = () => gateConfigFor(options, bound)

  const receive = async (request: IncomingMessage, response: ServerResponse, route: Route): Promise<void> => {
    const { httpVersion, rawHeaders } = request
    const gate = { ...gateNow(), fromOtherSites: FROM_OTHER_SITES }
    const refusedAtGate = refuseAtGate({ method: request.method!, path: pathOf(request), httpVersion, rawHeaders }, gate)
    const isForeign = refusedAtGate === null && gate.authMode === 'local-trust' && !(await isOwnPeer(request.socket))
    const refused = isForeign ? 'forbidden_account' : refusedAtGate
    // An absolute target names an authority that the gate did not check. Upgrades are not supported (h2c is only an offer).
    const isPlain = tls !== null && isPlainFromNetwork(request.socket)
    const unreadable = !request.url!.startsWith('/') || (request.headers.upgrade ?? 'h2c').toLowerCase() !== 'h2c'
    if (refused === null && !unreadable && !isPlain) {
      if (bound === null || !isUnderAnotherName(request, gate)) return route(request, response)
      return send(response, request.method!, redirection(urlOf(bound.host, bound.port) + request.url!))
    }
    response.setHeader('connection', 'close')
    if (isPlain && bound !== null && refused === null && !unreadable && opensPage(request))
      return send(response, request.method!, redirection(encryptedUrlOf(request, bound.port)))
    // To the browser, a page that was open before encryption was turned on belongs to another site.
    if (tls !== null && !isPlain && refused === 'forbidden_origin' && opensPage(request))
      return send(response, request.method!, await dashboard.openAgainPage())
    send(response, request.method!, refusal(isPlain ? 'https_required' : (refused ?? 'invalid_request')))
  }

  const app = fastify({
    logger: false,
    forceCloseConnections: true,
    // The gate runs before the router, so that a path the router cannot parse is refused like any other.
    serverFactory: (route) =>
      createHttpServer((request, response) => {
        // Nobody else catches what it throws, and any client can send a request.
        receive(request, response, route).catch((error: unknown) => {
          log.error({ error: messageOf(error) }, 'a request could not be received')
          response.destroy()
        })
      }, deadlines),
    clientErrorHandler(error, socket) {
      // A browser keeps spare connections. A response on one would be shown as that of its next request.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy()
      if (!socket.writable) return
      const headers = { ...API_HEADERS, 'content-type': 'application/json', connection: 'close' }
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n{"error":"invalid_request"}`)
    },
    frameworkErrors: (_error, request, reply) => {
      reply.hijack()
      send(reply.raw, request.raw.method!, refusal('invalid_request'))
    },
  })
  const tlsFront = acceptTls<Socket, Socket>(app.server, (serve) =>
    createTlsServer({ ALPNProtocols: ['http/1.1'], handshakeTimeout: 10_000 }, serve).on('tlsClientError', (_error, socket) =>
      socket.destroy(),
    ),
  )
  tlsFront.use(tls)
  limitConnectionsFromNetwork(app.server)
  // Bodies are not parsed here: they go to the runner unchanged, or are refused by their type.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const serve = (request: IncomingMessage, response: ServerResponse) => void respondOverHttp(dashboard, request, response, log)
  app.all('/*', (request, reply) => {
    reply.hijack()
    serve(request.raw, reply.raw)
  })
  app.setNotFoundHandler((request, reply) => {
    reply.hijack()
    serve(request.raw, reply.raw)
  })
  app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
    reply.hijack()
    send(reply.raw, request.raw.method!, refusal(error.statusCode === 415 ? 'unsupported_media_type' : 'invalid_request'))
  })

  async function close(): Promise<void> {
    tlsFront.closeAll()
    await app.close()
  }

  try {
    await app.listen({ host, port: options.port })
  } catch (error) {
    await app.close()
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw new PortTakenError(options.port)
    throw error
  }
  const { address, port } = app.server.address() as AddressInfo
  // localhost may be 127.0.0.1 or [::1].
  bound = { host: host === 'localhost' ? address : host, port }
  return { url: urlOf(bound.host, port), port, origins: () => [...gateNow().origins], close }
}

/** The gate for the current mode and the current addresses of this machine. */
function gateConfigFor(
  { authMode, appUrl, tls, interfaces }: DashboardServerOptions,
  bound: { host: string; port: number } | null,
): GateConfig {
  if (bound === null) return { authMode: authMode(), hosts: new Set(), origins: new Set() }
  const { host, port } = bound
  const app = appUrl === null || isLoopbackName(new URL(appUrl)) ? null : new URL(appUrl)
  return {
    authMode: authMode(),
    hosts: new Set([...namesOf(host, interfaces), ...(app ? [app.hostname.toLowerCase()] : [])]),
    // Browsers leave out the default port of a scheme.
    origins: new Set([
      ...boundNamesOf(host, interfaces).flatMap((name) =>
        schemesFor(name, tls).map((scheme) => new URL(`${scheme}://${name}:${port}`).origin),
      ),
      ...(app ? [app.origin] : []),
    ]),
  }
}

/** Loopback accepts HTTP and HTTPS, the network only HTTPS. */
function schemesFor(name: string, tls: TlsPair | null): string[] {
  if (tls === null) return ['http']
  return /^(127\.|\[::1\])/.test(name) ? ['http', 'https'] : ['https']
}

function isLoopbackName({ hostname }: URL): boolean {
  return /^(.+\.)?localhost\.?$/.test(hostname)
}

/** For pages opened at `localhost` or at another loopback address than the bound one. */
function isUnderAnotherName(request: IncomingMessage, { origins }: GateConfig): boolean {
  return opensPage(request) && !isHostOfOrigin(request.headers.host!.trim(), origins)
}

function opensPage(request: IncomingMessage): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  if (request.headers['sec-fetch-site'] !== undefined) return request.headers['sec-fetch-mode'] === 'navigate'
  // Not a browser of today. What a program reads outside of the API is a page.
  return (request.headers.accept ?? '').includes('text/html') || !/^\/api(\/|$)/.test(pathOf(request))
}

/** The same page over HTTPS, under the host name that the gate has checked. The gate reads no port, so it may be none: `:99999`. */
function encryptedUrlOf(request: IncomingMessage, port: number): string {
  return `https://${request.headers.host!.trim().replace(/:\d+$/, '')}:${port}${request.url!}`
}

type Route = (request: IncomingMessage, response: ServerResponse) => void

/** By which a request has to arrive, in Node's names. Responses have no limit. */
type Deadlines = { requestTimeout: number; headersTimeout: number; connectionsCheckingInterval: number }
const DEFAULT_DEADLINES: Deadlines = { requestTimeout: 30_000, headersTimeout: 15_000, connectionsCheckingInterval: 5_000 }

function createHttpServer(listener: Route, deadlines: Deadlines): Server {
  // The gate refuses a missing Host with a body; Node would send none.
  const server = process.getBuiltinModule('node:http').createServer({ ...deadlines, requireHostHeader: false }, listener)
  server.maxConnections = MAX_CONNECTIONS
  return server
}

async function respondOverHttp(dashboard: Dashboard, request: IncomingMessage, response: ServerResponse, log: Log): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  try {
    const result = await dashboard.respond({
      via: 'http',
      method: request.method!,
      target: request.url!,
      header: (name) => request.headers[name]?.toString(),
      authorizations: valuesOf(request.rawHeaders, 'authorization'),
      address: request.socket.remoteAddress ?? '',
      isSecure: 'encrypted' in request.socket,
      body: request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0 ? request : null,
      signal: gone.signal,
    })
    send(response, request.method!, result)
  } catch (error) {
    log.error({ error: messageOf(error) }, 'the dashboard could not respond')
    if (!response.headersSent) send(response, request.method!, refusal('internal'))
    else response.destroy()
  }
}

function send(response: ServerResponse, method: string, { status, headers, body }: DashboardResponse): void {
  if (response.destroyed) {
    if (body !== null && !Buffer.isBuffer(body)) body.destroy()
    return
  }
  response.writeHead(status, headers)
  if (body === null || Buffer.isBuffer(body)) return void response.end(method === 'HEAD' ? undefined : (body ?? undefined))
  // Send the head at once: an event stream may stay silent for a while.
  response.flushHeaders()
  // If the runner dies midway, the client must see a cut connection, not a complete response.
  pipeline(body, response, () => undefined)
}

function pathOf(request: IncomingMessage): string {
  const target = request.url!
  const queryAt = target.indexOf('?')
  return queryAt === -1 ? target : target.slice(0, queryAt)
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name)
}
