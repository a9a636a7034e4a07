import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { respondToBrokenRequest, fixedBody, JSON_TYPE } from '../../platform/net/fixed-responses.ts'
import { respondUnread } from '../../platform/net/unread-body.ts'
import { limitConnectionsFromNetwork } from '../../contract/connection-limit.ts'
import { acceptTlsOn, createNodeServer, type Deadlines } from '../../platform/net/node-http.ts'
import type { Services } from '../../platform/services.ts'
import { ERROR_STATUS, type ErrorCode } from '../../contract/errors.ts'
import type { TlsPair } from '../../contract/encryption.ts'
import { ROUTES, type Route, type RouteName } from '../../contract/routes.ts'
import type { Log } from '../../lib/log.ts'
import { errorBody, toAppError } from './error-response.ts'
import { createAuth, type AuthConfig, type Identify } from './auth.ts'
import { MAX_BODY_BYTES, parseJson, requireJson } from './body.ts'
import { createFront, pathOf, type FrontRules, type TakeDelivery } from './request-gate.ts'
import { clientOf, type Caller } from './caller.ts'
import type { Call, Handlers, OpenStream } from './handler.ts'
import { createMcpEndpoint, MCP_ROUTE, type McpEndpointDeps } from './mcp/mcp-endpoint.ts'
import { createPerform, type Confine, type PerformDeps } from './perform-route.ts'
import { createStreams, type StreamOptions } from './stream.ts'

export type HttpServer = ReturnType<typeof createHttpServer>

type Guarded = Pick<Route, 'access' | 'reach' | 'method'>

export type LimitedCallers = {
  /** Who presents a bearer that is not the secret. */
  identify: Identify
  confine: Confine
}

/** The server listens nowhere any more. `cause` is the system's error for the address where it did before. */
export class ListenerLost extends Error {
  override readonly name = 'ListenerLost'
  readonly address: { host: string; port: number }

  constructor(address: { host: string; port: number }, cause: unknown) {
    super(`cannot listen on port ${address.port} of ${address.host} again`, { cause })
    this.address = address
  }
}

export type HttpServerDeps = Pick<Services, 'clock' | 'log'> & {
  handlers: Handlers
  /** Both are read for every request. */
  auth: AuthConfig
  gate: FrontRules
  /** Callers that are limited to a workspace, in `bearer-token` mode. Absent: there are none. */
  limited?: LimitedCallers
  /** Handles webhook deliveries before the gate and the router. */
  takeDelivery?: TakeDelivery
  /** Called for every request that the gate lets in. */
  passedGate?: (req: IncomingMessage) => void
  untilWritable?: PerformDeps['untilWritable']
  /** What `/mcp` needs besides the handlers. Absent: there is no `/mcp`. */
  mcp?: Pick<McpEndpointDeps, 'liveStreams' | 'answersApprovals' | 'newSessionId'>
  deadlines?: Deadlines
  /** For tests: a response that does not match its schema becomes a 500. */
  checkResponses?: boolean
}

export function createHttpServer(deps: HttpServerDeps) {
  const { log } = deps
  const streams = createStreams(deps.clock)
  const { admit, callerOf, watchCaller } = createAdmission(createAuth(deps.auth, deps.limited?.identify))
  const perform = createPerform({ handlers: deps.handlers, confine: deps.limited?.confine, untilWritable: deps.untilWritable })

  const app = Fastify({
    logger: false,
    return503OnClosing: false,
    clientErrorHandler: respondToBrokenRequest,
    frameworkErrors: (_error, _request, reply) => sendFixed(reply, 'not_found'),
    // A long parameter is refused by its schema. Fastify's own response would repeat the path.
    routerOptions: { maxParamLength: 65_536 },
    serverFactory: (handle) =>
      createNodeServer(createFront(deps.gate, handle, deps.takeDelivery ?? (() => false), deps.passedGate), deps.deadlines),
  })

  const tls = acceptTlsOn(app.server)
  limitConnectionsFromNetwork(app.server)
  app.removeAllContentTypeParsers()
  const asBuffer = { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES } as const
  app.addContentTypeParser('application/json', asBuffer, async (_request: FastifyRequest, bytes: Buffer) => parseJson(bytes))
  app.setErrorHandler((thrown, request, reply) => answerError(thrown, request, reply, log))
  answerUnknownPaths(app)
  for (const name of Object.keys(ROUTES) as RouteName[]) addRoute(name)
  if (deps.mcp !== undefined) addMcp(deps.mcp)

  function addRoute(name: RouteName): void {
    const route: Route = ROUTES[name]
    app.route({
      bodyLimit: route.maxBodyBytes ?? MAX_BODY_BYTES,
      method: methodsOf(route),
      url: route.path,
      // Would make a second route of each, which takes a fifth of the time in which the server is created.
      exposeHeadRoute: false,
      onRequest: (request, reply) => admit(route, request, reply),
      async handler(request, reply) {
        const caller = callerOf(request)
        const { params, query, body } = request
        const call = callOf(request, reply, route, caller)
        if (route.stream === true) {
          const leave = streams.reserve(clientOf(caller))
          const opened = await perform(name, { params, query, body }, call).catch((thrown: unknown) => {
            leave()
            throw thrown
          })
          const mayContinue = watchCaller(route, request)
          return startStream(opened as OpenStream, reply, { isRepeatable: route.method === 'GET', mayContinue, leave })
        }
        const answer: unknown = await perform(name, { params, query, body }, call)
        if (deps.checkResponses === true) assertResponse(name, route, answer)
        return reply.header('content-type', JSON_TYPE).send(JSON.stringify(answer))
      },
    })
  }

  function addMcp(mcp: NonNullable<HttpServerDeps['mcp']>): void {
    const serve = createMcpEndpoint({ ...mcp, perform, clock: deps.clock })
    app.route({
      method: MCP_ROUTE.method,
      url: MCP_ROUTE.path,
      onRequest: (request, reply) => admit(MCP_ROUTE, request, reply),
      async handler(request, reply) {
        const caller = callerOf(request)
        const leave = streams.reserve(clientOf(caller))
        let isStream = false
        try {
          const { status, headers, json, stream } = await serve({ headers: request.headers, body: request.body, caller })
          if (stream !== undefined) {
            isStream = true
            return await startStream(stream, reply, { isRepeatable: false, mayContinue: watchCaller(MCP_ROUTE, request), leave })
          }
          reply.code(status).headers(headers)
          return json === undefined ? await reply.send() : await reply.header('content-type', JSON_TYPE).send(json)
        } finally {
          if (!isStream) leave()
        }
      },
    })
  }

  function startStream(open: OpenStream, reply: FastifyReply, options: StreamOptions): FastifyReply {
    reply.hijack()
    try {
      streams.open(reply.raw, open, options)
    } catch (error) {
      options.leave()
      log.error({ error }, 'a stream broke off')
      reply.raw.destroy()
    }
    return reply
  }

  return {
    /** Resolves when connections are accepted. Rejects with the system's error (`EADDRINUSE`, `EACCES`, …). */
    async listen(host: string, port: number): Promise<{ host: string; port: number }> {
      await app.listen({ host, port })
      const address = app.server.address() as AddressInfo
      return { host: address.address, port: address.port }
    },
    /**
     * Listens on another address of the same port. Open connections stay. If that fails, listens where it did before and
     * rejects with the system's error, or with ListenerLost if another program has taken the port in between.
     */
    async changeHost(host: string): Promise<void> {
      const { address, port } = app.server.address() as AddressInfo
      app.server.close()
      try {
        await listenOn(app.server, host, port)
      } catch (error) {
        await listenOn(app.server, address, port).catch((cause: unknown) => {
          throw new ListenerLost({ host: address, port }, cause)
        })
        throw error
      }
    },
    endStreams: streams.close,
    /** Encrypts connections from the network from now on; null: no longer. Open connections stay. */
    useTls: (pair: TlsPair | null) => tls.use(pair),
    /** Ends all streams, gives responses in progress `graceMs` to finish, then closes every connection. */
    async close(graceMs = 2000): Promise<void> {
      streams.close()
      const timer = setTimeout(() => {
        app.server.closeAllConnections()
        tls.closeAll()
      }, graceMs)
      try {
        await app.close()
      } finally {
        clearTimeout(timer)
      }
    },
    /** The number of open streams. */
    streams: streams.count,
  }
}

/** Who sends each request. */
function createAdmission(authorize: ReturnType<typeof createAuth>) {
  const callers = new WeakMap<IncomingMessage, Caller>()
  const callerOf = ({ raw }: FastifyRequest) => callers.get(raw)!
  return {
    /** Lets a request in, or answers it. For `onRequest`, before the body is read. */
    async admit(route: Guarded, request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const caller = await authorize(route, request.raw)
      if (typeof caller === 'string') return sendFixed(reply, caller)
      callers.set(request.raw, caller)
      if (route.method !== 'GET') await requireJson(request.raw)
    },
    callerOf,
    /** Whether a limited caller of a stream is still who it was: tokens are revoked, and sessions end. */
    watchCaller(route: Guarded, request: FastifyRequest): StreamOptions['mayContinue'] {
      const { entityId } = callerOf(request)
      if (entityId === undefined) return undefined
      return async () => {
        const now = await authorize(route, request.raw)
        return typeof now !== 'string' && now.entityId === entityId
      }
    },
  }
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}

function callOf(request: FastifyRequest, reply: FastifyReply, route: Route, caller: Caller): Call {
  reply.code(route.status)
  const lastEventId = request.headers['last-event-id']
  return {
    caller,
    lastEventId: typeof lastEventId === 'string' && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null,
    get gone() {
      return signalWhenGone(reply.raw)
    },
    setStatus: (status) => void reply.code(status),
  }
}

function signalWhenGone(res: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (res.destroyed) controller.abort()
  else res.once('close', () => controller.abort())
  return controller.signal
}

function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): void {
  const error = toAppError(thrown)
  // The route's pattern, not its URL: a path may hold a secret.
  if (error.status >= 500) log.error({ error: error.cause ?? error, route: request.routeOptions.url, method: request.method }, error.code)
  refuse(reply, error.status, JSON.stringify(errorBody(error)))
}

/** Bypasses Fastify, which would close the connection while more of the body arrives. */
function refuse(reply: FastifyReply, status: number, body: string): void {
  reply.hijack()
  const headers = { ...(reply.getHeaders() as OutgoingHttpHeaders), 'content-type': JSON_TYPE, 'content-length': Buffer.byteLength(body) }
  respondUnread(reply.raw, status, headers, body)
}

function sendFixed(reply: FastifyReply, code: ErrorCode): void {
  if (code === 'unauthorized') reply.header('www-authenticate', 'Bearer')
  refuse(reply, ERROR_STATUS[code], fixedBody(code))
}

/** A known path with the wrong method is a 405 that names the right ones. Everything else is the same 404. */
function answerUnknownPaths(app: FastifyInstance): void {
  const known = pathPatterns()
  // In onRequest, so that the body is not read and its type is not checked.
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    const allowed = request.method === 'OPTIONS' ? [] : allowedMethods(request.raw, known)
    if (allowed.length === 0) return sendFixed(reply, 'not_found')
    sendFixed(reply.header('allow', allowed.join(', ')), 'method_not_allowed')
  })
  app.setNotFoundHandler((_request, reply) => sendFixed(reply, 'not_found'))
}

type PathPattern = { pattern: RegExp; method: string }

function pathPatterns(): PathPattern[] {
  return [...Object.values<Route>(ROUTES), { ...MCP_ROUTE, stream: undefined }].flatMap((route) => {
    const pattern = new RegExp(`^${route.path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`)
    return methodsOf(route).map((method) => ({ pattern, method }))
  })
}

function methodsOf({ method, stream }: Pick<Route, 'method' | 'stream'>): string[] {
  return method === 'GET' && stream !== true ? ['GET', 'HEAD'] : [method]
}

function allowedMethods(req: IncomingMessage, known: PathPattern[]): string[] {
  const path = pathOf(req.url ?? '')
  return [...new Set(known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
}

/** Parsing drops fields that the schema does not name, so the comparison also finds a field too many. */
function assertResponse(name: RouteName, route: Route, answer: unknown): void {
  const sent: unknown = JSON.parse(JSON.stringify(answer))
  const parsed = route.answer.safeParse(sent)
  if (!parsed.success) throw new Error(`the response of ${name} does not match the route table: ${parsed.error.message}`)
  if (!isDeepStrictEqual(parsed.data, sent)) {
    throw new Error(`the response of ${name} has fields that the route table does not name: ${JSON.stringify(sent).slice(0, 500)}`)
  }
}
