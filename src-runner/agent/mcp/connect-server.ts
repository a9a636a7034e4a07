import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { z } from 'zod'
import type { RunningProgram } from '../../platform/sandbox/start-sandboxed.ts'
import { bounded } from '../../platform/net/checked-connection.ts'
import { GuardedFetchError } from '../../platform/net/guarded-fetch.ts'
import { TOO_LONG, type GuardedStreamFetch } from '../../platform/net/guarded-stream.ts'
import { messageOf } from '../../lib/errors.ts'
import { cutText } from '../../lib/text.ts'
import { visibleText } from '../../lib/visible-text.ts'
import { limitMessages } from './message-limit.ts'
import { limitStreams } from './stream-limit.ts'
import { createProgramTransport } from './program-transport.ts'
import { MAX_TOOLS, readTools, type ServerTool } from './read-tools.ts'
import { readSampling, type Sampled, type Sampling } from './sampling.ts'

/** `unauthorized`: the server wants a sign-in. `gone`: the connection ended, so nobody knows what became of a call. */
export type McpTrouble = 'unauthorized' | 'gone' | 'timeout' | 'refused'

/** The message is of the server or about it. It is untrusted text. */
export class McpServerError extends Error {
  override readonly name = 'McpServerError'
  readonly kind: McpTrouble

  constructor(kind: McpTrouble, message: string, options?: ErrorOptions) {
    super(cutText(visibleText(message), 2_000), options)
    this.kind = kind
  }
}

export type CallProgress = { progress: number; total: number | null; message: string | null }
/** What a server asks the person, as it wrote it. `url`: the person does something at an address. */
export type Elicitation = { mode: 'form'; message: string; schema: Record<string, unknown> } | { mode: 'url'; message: string; url: string }
export type ElicitationAnswer =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel' }

export type CallOptions = {
  signal: AbortSignal
  onProgress?: (progress: CallProgress) => void
}

export type McpConnection = {
  /** What the server calls itself, with its version. */
  version: string | null
  listTools(signal: AbortSignal): Promise<ServerTool[]>
  /** The content of the result as the server sent it. Throws McpServerError, or the signal's reason. */
  call(name: string, args: Record<string, unknown>, options: CallOptions): Promise<unknown>
  /** Whether it responds before the signal aborts. */
  ping(signal: AbortSignal): Promise<boolean>
  /** Resolves when the connection has ended, however. */
  closed: Promise<void>
  close(): Promise<void>
}

export type ConnectOptions = {
  way: { kind: 'program'; program: RunningProgram } | { kind: 'http' | 'sse'; url: URL; fetch: GuardedStreamFetch }
  /** Folders that the person gave, as file addresses. */
  roots: readonly { uri: string; name: string }[]
  monotonic(): number
  onToolsChanged(): void
  /** Answers a question of the server while a call runs. */
  onElicitation(question: Elicitation): Promise<ElicitationAnswer>
  /** Asks the agent's model for the server. Throws SamplingRefused. Absent: the server may not ask, and is told so at the start. */
  onSampling?: (sampling: Sampling, signal: AbortSignal) => Promise<Sampled>
  /** For the log of the server. */
  note(text: string): void
  signal: AbortSignal
  limits?: Partial<McpLimits>
}

export type McpLimits = { startMs: number; callMs: number; callTotalMs: number }
const DEFAULT_LIMITS: McpLimits = { startMs: 30_000, callMs: 5 * 60_000, callTotalMs: 30 * 60_000 }
const MAX_PAGES = 50
const END_SESSION_MS = 1_000
/** A question may wait for a person for hours. */
const MAX_QUESTION_CHARS = 100_000

const ListedTools = z.looseObject({ tools: z.array(z.unknown()).max(5_000), nextCursor: z.string().max(10_000).optional() })
const AnyResult = z.looseObject({})

/** Connects and introduces itself. Throws McpServerError, or the signal's reason; the way is closed then. */
export async function connectServer(options: ConnectOptions): Promise<McpConnection> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const [{ Client }, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ])
  const ended = Promise.withResolvers<void>()
  const closed = new AbortController()
  const transport = limitMessages(await openTransport(options, closed.signal), options.monotonic, () =>
    options.note('It sends too many messages, so it was stopped.'),
  )
  /** The timers of the calls in progress. */
  const timers = new Set<CallTimer>()
  const client: Client = new Client(
    { name: 'deckhand', version: '1' },
    {
      capabilities: { roots: {}, elicitation: { form: {}, url: {} }, ...(options.onSampling !== undefined && { sampling: {} }) },
      // The library would compile schemas of the server. Results are read without them.
      jsonSchemaValidator: { getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }) },
    },
  )
  client.onclose = () => ended.resolve()
  client.onerror = (error) => {
    options.note(`[${messageOf(error)}]`)
    // Otherwise the request would wait for its time limit.
    if (messageOf(error).includes(TOO_LONG)) void close()
  }
  answerRequests(client, types, options, timers)
  client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => options.onToolsChanged())
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => {
    options.note(`[${params.level}] ${typeof params.data === 'string' ? params.data : JSON.stringify(params.data)}`)
  })
  const close = async () => {
    await endSession(transport)
    await client.close().catch(() => {})
    await transport.close().catch(() => {})
    closed.abort()
    ended.resolve()
  }
  try {
    // The library's own limit does not cover opening the connection.
    const connecting = client.connect(transport, { timeout: limits.startMs, signal: options.signal })
    const tooSlow = () => new McpServerError('timeout', `It did not start within ${limits.startMs / 1000} s.`)
    await bounded(connecting, limits.startMs, options.signal, tooSlow)
  } catch (thrown) {
    await close()
    options.signal.throwIfAborted()
    throw asServerError(thrown)
  }
  const about = client.getServerVersion()

  async function request<Shape extends z.ZodType>(
    method: string,
    params: Record<string, unknown>,
    shape: Shape,
    more: { signal: AbortSignal; timeout: number } & Partial<Parameters<Client['request']>[2]>,
  ): Promise<z.output<Shape>> {
    // The library never stops listening, and would cancel requests that were answered long ago.
    const own = new AbortController()
    const stop = () => own.abort(more.signal.reason)
    try {
      more.signal.throwIfAborted()
      more.signal.addEventListener('abort', stop, { once: true })
      // The types of the library know only its own methods and schemas.
      return await client.request({ method, params }, shape as never, { ...more, signal: own.signal })
    } catch (thrown) {
      more.signal.throwIfAborted()
      throw asServerError(thrown)
    } finally {
      more.signal.removeEventListener('abort', stop)
    }
  }

  async function* pagesOfTools(signal: AbortSignal): AsyncGenerator<unknown[]> {
    let listed = 0
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const { tools, nextCursor } = await request('tools/list', params, ListedTools, { signal, timeout: limits.startMs })
      yield tools
      listed += tools.length
      if (nextCursor === undefined || nextCursor === cursor || listed >= MAX_TOOLS) return
      cursor = nextCursor
    }
  }

  return {
    version: about === undefined ? null : cutText(visibleText(`${about.title ?? about.name} ${about.version}`), 200),
    async listTools(signal) {
      if (client.getServerCapabilities()?.tools === undefined) return []
      return readTools(pagesOfTools(signal))
    },
    async call(name, args, { signal, onProgress }) {
      const timer = startTimer(limits)
      timers.add(timer)
      try {
        return await request('tools/call', { name, arguments: args }, AnyResult, {
          signal: AbortSignal.any([signal, timer.over]),
          timeout: NO_LIMIT_MS,
          onprogress: ({ progress, total = null, message }) => {
            timer.progressed()
            onProgress?.({ progress, total, message: message === undefined ? null : cutText(visibleText(message), 500) })
          },
        })
      } finally {
        timers.delete(timer)
        timer.end()
      }
    },
    ping: (signal) =>
      request('ping', {}, AnyResult, { signal, timeout: NO_LIMIT_MS }).then(
        () => true,
        // A server that does not know the request responds.
        (thrown: unknown) => thrown instanceof McpServerError && thrown.kind === 'refused',
      ),
    closed: ended.promise,
    close,
  }
}

/** What the server may ask for itself. */
function answerRequests(
  client: Client,
  types: typeof import('@modelcontextprotocol/sdk/types.js'),
  { roots, onElicitation, onSampling }: ConnectOptions,
  timers: ReadonlySet<CallTimer>,
): void {
  // Nobody knows how long a person or a model takes.
  const held = async <T>(answer: () => Promise<T>): Promise<T> => {
    // Calls that begin meanwhile are not held, so they are not released either.
    const underWay = [...timers]
    for (const timer of underWay) timer.hold()
    try {
      return await answer()
    } finally {
      for (const timer of underWay) timer.release()
    }
  }
  client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: [...roots] }))
  client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
    if (JSON.stringify(params).length > MAX_QUESTION_CHARS) throw new Error('The question is too long.')
    const { message } = params
    const question: Elicitation =
      params.mode === 'url' ? { mode: 'url', message, url: params.url } : { mode: 'form', message, schema: params.requestedSchema }
    return held(() => onElicitation(question))
  })
  if (onSampling === undefined) return
  client.setRequestHandler(types.CreateMessageRequestSchema, ({ params }, { signal }) =>
    held(async () => {
      const { text, model, isCut } = await onSampling(readSampling(params), signal)
      return { role: 'assistant' as const, model, content: { type: 'text' as const, text }, stopReason: isCut ? 'maxTokens' : 'endTurn' }
    }),
  )
}

async function openTransport({ way, monotonic, note }: ConnectOptions, closed: AbortSignal): Promise<Transport> {
  if (way.kind === 'program') {
    const { JSONRPCMessageSchema } = await import('@modelcontextprotocol/sdk/types.js')
    return createProgramTransport(way.program, { onNoise: note, parse: (value) => JSONRPCMessageSchema.parse(value), monotonic })
  }
  const { url } = way
  const fetch = limitStreams(way.fetch, monotonic, closed)
  if (way.kind === 'sse') {
    const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js')
    return new SSEClientTransport(url, { fetch, eventSourceInit: { fetch } })
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  return new StreamableHTTPClientTransport(url, { fetch })
}

/** A server keeps a session over HTTP until it is told. One that does not answer holds up nobody. */
async function endSession(transport: Transport & Partial<Pick<StreamableHTTPClientTransport, 'terminateSession'>>): Promise<void> {
  const ended = transport.terminateSession?.()
  const { signal } = new AbortController()
  if (ended !== undefined) await bounded(ended, END_SESSION_MS, signal, () => new Error('no answer')).catch(() => {})
}

const CONNECTION_CLOSED = -32_000
const REQUEST_TIMEOUT = -32_001

/** The longest that a timer of Node can wait. */
const NO_LIMIT_MS = 2 ** 31 - 1

type CallTimer = ReturnType<typeof startTimer>

/** Ends a call that shows no progress, or takes too long in all. It stands still while a person is asked. */
function startTimer({ callMs, callTotalMs }: McpLimits) {
  const over = new AbortController()
  let holds = 0
  let leftMs = callTotalMs
  let startedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const start = () => {
    startedAt = performance.now()
    const ms = Math.max(0, Math.min(callMs, leftMs))
    timer = setTimeout(() => over.abort(new McpServerError('timeout', 'It took too long.')), ms)
  }
  const stop = () => {
    clearTimeout(timer)
    leftMs -= performance.now() - startedAt
  }
  start()
  return {
    over: over.signal,
    end() {
      isOver = true
      stop()
    },
    progressed() {
      if (holds > 0) return
      stop()
      start()
    },
    /** It stands still until each `hold` has had its `release`. */
    hold() {
      if (holds === 0) stop()
      holds++
    },
    release() {
      holds--
      if (holds === 0 && !isOver) start()
    },
  }
}

function asServerError(thrown: unknown): McpServerError {
  if (thrown instanceof McpServerError) return thrown
  return new McpServerError(troubleOf(thrown), messageOf(thrown).replace(/^MCP error -?\d+: /, ''), { cause: thrown })
}

/** How the library describes its own errors. A server may use the same codes for what it refuses, and its connection goes on. */
const OF_THE_LIBRARY = /: (Connection closed|Request timed out|Maximum total timeout exceeded|Request was cancelled)$/

/** Codes are those of JSON-RPC, of the library, or of HTTP. */
function troubleOf(thrown: unknown): McpTrouble {
  if (thrown instanceof GuardedFetchError) return thrown.maybeSent ? 'gone' : 'refused'
  const { code } = thrown as { code?: unknown }
  if (code === 401 || (thrown as Error).name === 'UnauthorizedError') return 'unauthorized'
  if ((thrown as Error).name === 'McpError' && !OF_THE_LIBRARY.test((thrown as Error).message)) return 'refused'
  if (code === REQUEST_TIMEOUT) return 'timeout'
  // 404: the server has forgotten the session. From 500: nobody knows how far the request got.
  return typeof code !== 'number' || code === CONNECTION_CLOSED || code === 404 || code >= 500 ? 'gone' : 'refused'
}
