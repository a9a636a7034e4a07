import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { anthropicMessages } from './anthropic-messages.ts'
import { googleGenerate } from './google-generate.ts'
import { createOllamaEngine, ollamaChat, type OllamaOptions, WEIGHTS_DIGEST } from './ollama-chat.ts'
import { openAiChat, TOO_LONG } from './openai-chat.ts'
import { openAiResponses } from './openai-responses.ts'
import type { Frame, Protocol } from './protocol.ts'
import type { ServedFault, ServedReply } from './reply.ts'

export type ReceivedRequest = { method: string; path: string; headers: Record<string, string>; body: unknown }

export type ModelServerOptions = {
  port?: number
  /** The reply when none is queued. A function decides by the request alone, as a model does. */
  fallback?: ServedReply | ((request: unknown) => ServedReply)
  models?: string[]
  /** Which product it looks like at / and in its lists of models. */
  looksLike?: 'any' | 'ollama' | 'lm-studio' | 'llama.cpp' | 'gateway' | 'proxy that imitates ollama'
  /**
   * How many tokens the models hold. What is longer is refused as the protocol's own servers refuse it; of those that speak
   * chat completions, as this one does.
   */
  window?: { tokens: number; says?: keyof typeof TOO_LONG }
  /** How Ollama truncates prompts. Default: its models hold everything. */
  ollama?: OllamaOptions
}

/** The tokenizer of these models: four characters of the request are a token. */
export function servedTokensOf(asked: unknown): number {
  return Math.ceil(JSON.stringify(asked).length / 4)
}

export type ModelServer = {
  url: string
  port: number
  /** All requests so far, in order, except those about a model's details. */
  received: ReceivedRequest[]
  /** How many requests were refused for their length. */
  refused(): number
  /** The window of each load of a model in Ollama, and how many prompts it truncated silently. */
  loads: readonly number[]
  cuts(): number
  /** Replies to the next requests with these, one each. */
  play(...replies: ServedReply[]): void
  /** Resolves when this many requests have come in. */
  untilReceived(count: number): Promise<void>
  /** Resolves when a stalled or held reply has sent everything that it will send. */
  untilQuiet(): Promise<void>
  /** Resolves when the client has closed the connection of an unfinished reply. */
  untilHungUp(): Promise<void>
  /** How many frames were sent. */
  sent(): number
  /** From now on each reply waits before the frame of this number until `release`. */
  holdBefore(frame: number): { release(): void }
  /** How many connections were opened. */
  connections(): number
  close(): Promise<void>
}

const DEFAULT_REPLY: ServedReply = { text: ['Hello', ' from', ' the', ' server.'], usage: { input: 12, output: 5 } }

/**
 * A local server that speaks the protocols of all providers, with the replies and faults that a test chooses. It plays what is
 * outside the machine, and only that; everything on our side of the wire is the product.
 */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const { fallback = DEFAULT_REPLY, models = ['small', 'large'], looksLike = 'any' } = options
  const received: ReceivedRequest[] = []
  const queue: ServedReply[] = []
  const quiet = createSignal()
  const hungUp = createSignal()
  const arrivals = createSignal()
  let hold: { frame: number; released: Promise<void> } | null = null
  let connections = 0
  let refused = 0
  let sentPieces = 0
  const engine = createOllamaEngine(options.ollama ?? { trainedTokens: 1_000_000 }, servedTokensOf)

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request)
    const path = request.url ?? '/'
    const asked = safeJson(body)
    if (path === '/api/show') return json(response, 200, engine.show())
    if (path === `/api/blobs/sha256:${WEIGHTS_DIGEST}`) {
      return void response.writeHead(looksLike === 'any' || looksLike === 'ollama' ? 200 : 404).end()
    }
    if (path === '/api/ps') return json(response, 200, engine.running(models[0]!))
    if (path === '/api/v0/models' || path === '/props' || path === '/api/version') return answerGet(path, response)
    received.push({ method: request.method ?? '', path, headers: request.headers as Record<string, string>, body: asked })
    arrivals.raise()
    response.on('close', () => {
      if (!response.writableFinished) hungUp.raise()
    })
    if (path.startsWith('/control/')) return control(path, asked, response)
    if (request.method === 'GET') return answerGet(path, response)
    const protocol = protocolOf(path)
    if (protocol === null) return json(response, 404, { error: { message: 'no such path' } })
    const taken = take(protocol, asked)
    if ('refusal' in taken) {
      if (taken.refusal.status < 500) refused++
      return json(response, taken.refusal.status, taken.refusal.body)
    }
    const reply = queue.shift() ?? (typeof fallback === 'function' ? fallback(taken.request) : fallback)
    await answer(protocol, reply, modelOf(path, asked), response)
  }
  /** The text of a request that a model reads. */
  function take(protocol: Protocol, asked: unknown): { request: unknown } | { refusal: { status: number; body: unknown } } {
    if (protocol === ollamaChat) {
      const taken = engine.take(asked ?? {})
      if ('noMemory' in taken) return { refusal: { status: 500, body: { error: taken.noMemory } } }
      return 'request' in taken ? taken : { refusal: protocol.tooLong(taken.sent, taken.window) }
    }
    const { tokens = Infinity, says } = options.window ?? {}
    const sent = tokens === Infinity ? 0 : servedTokensOf(asked)
    if (sent <= tokens) return { request: asked }
    const tooLong = protocol === openAiChat && says !== undefined ? TOO_LONG[says] : protocol.tooLong
    return { refusal: tooLong(sent, tokens) }
  }
  const server = createServer((request, response) => void serve(request, response))
  server.on('connection', () => connections++)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo

  /** For a server in a process of its own, which a test controls over HTTP. */
  function control(path: string, asked: unknown, response: ServerResponse): void {
    if (path === '/control/play' && Array.isArray(asked)) {
      queue.push(...(asked as ServedReply[]))
      return json(response, 200, { queued: queue.length })
    }
    if (path === '/control/received')
      return json(
        response,
        200,
        received.filter((one) => !one.path.startsWith('/control/')),
      )
    json(response, 404, {})
  }

  function answerGet(path: string, response: ServerResponse): void {
    const route = path.split('?')[0]!
    const next = queue[0]
    if (next?.fault !== undefined && /^\/v1(beta)?\/models$|tags/.test(route)) {
      queue.shift()
      const protocol = route.startsWith('/v1beta') ? googleGenerate : openAiChat
      return void answer(protocol, next, '', response)
    }
    if (looksLike !== 'ollama' && route === '/v1beta/models') {
      return json(response, 200, {
        models: models.map((name) => ({
          name: `models/${name}`,
          displayName: name,
          inputTokenLimit: options.window?.tokens ?? 1_000_000,
          supportedGenerationMethods: ['generateContent'],
        })),
      })
    }
    const speaksOllama = ['any', 'ollama', 'proxy that imitates ollama'].includes(looksLike)
    if (speaksOllama && route === '/api/tags') {
      const facts = { size: 270_898_672, digest: '9'.repeat(64), details: { format: 'gguf', family: 'llama' } }
      return json(response, 200, { models: models.map((name) => ({ name, model: name, ...facts })) })
    }
    if (speaksOllama && route === '/api/version') return json(response, 200, { version: '0.30.0' })
    if (looksLike === 'lm-studio' && route === '/api/v0/models') {
      const loaded = options.window === undefined ? {} : { max_context_length: 1_000_000, loaded_context_length: options.window.tokens }
      return json(response, 200, {
        object: 'list',
        data: models.map((id) => ({ id, object: 'model', type: 'llm', state: 'loaded', ...loaded })),
      })
    }
    if (looksLike === 'llama.cpp' && route === '/props' && options.window !== undefined)
      return json(response, 200, { default_generation_settings: { n_ctx: options.window.tokens }, total_slots: 1 })
    if (looksLike === 'llama.cpp' && route === '/health') return json(response, 200, { status: 'ok' })
    if (route === '/v1/models') {
      const owner = looksLike === 'llama.cpp' ? 'llamacpp' : looksLike === 'lm-studio' ? 'organization_owner' : 'library'
      return json(response, 200, {
        object: 'list',
        data: models.map((id) => ({ id, object: 'model', created: 1, owned_by: owner, display_name: id })),
      })
    }
    if (route === '/' && speaksOllama) return void response.writeHead(200, { 'content-type': 'text/plain' }).end('Ollama is running')
    json(response, 404, { error: { message: 'no such path' } })
  }

  async function answer(protocol: Protocol, reply: ServedReply, model: string, response: ServerResponse): Promise<void> {
    const { fault } = reply
    if (fault?.kind === 'status') {
      const text = fault.body ?? JSON.stringify(protocol.errorBody(fault.status, fault.error ?? { message: 'it went wrong' }))
      response.writeHead(fault.status, { 'content-type': fault.contentType ?? 'application/json', ...fault.headers }).end(text)
      return
    }
    if (fault?.kind === 'redirect') {
      response.writeHead(fault.status, { location: fault.to }).end()
      return
    }
    const gate = hold
    const pieces = bytesOf(protocol, reply, model)
    if (fault === undefined && gate === null && reply.frameDelayMs === undefined && reply.flushed === undefined) {
      response.writeHead(200, headOf(protocol, fault))
      for (const piece of pieces) response.write(piece)
      response.end()
      return
    }
    let sent = 0
    for (const piece of pieces) {
      if (gate !== null && sent === gate.frame) {
        quiet.raise()
        await gate.released
      }
      if ((fault?.kind === 'reset' || fault?.kind === 'stall' || fault?.kind === 'end_early') && sent === fault.afterFrames) break
      if (response.destroyed) return
      if (sent === 0) response.writeHead(200, headOf(protocol, fault))
      await writeFlushed(response, piece)
      sentPieces++
      if (reply.frameDelayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, reply.frameDelayMs))
      sent++
    }
    switch (fault?.kind) {
      case 'reset':
        response.destroy()
        break
      case 'stall':
        quiet.raise()
        break
      default:
        if (!response.headersSent) response.writeHead(200, headOf(protocol, fault))
        response.end()
    }
  }

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    refused: () => refused,
    sent: () => sentPieces,
    loads: engine.loads,
    cuts: engine.cuts,
    play: (...replies) => void queue.push(...replies),
    async untilReceived(count) {
      while (received.length < count) await arrivals.next()
    },
    untilQuiet: () => quiet.next(),
    untilHungUp: () => hungUp.next(),
    holdBefore(frame) {
      let release!: () => void
      hold = { frame, released: new Promise((resolve) => (release = resolve)) }
      return {
        release() {
          hold = null
          release()
        },
      }
    },
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function protocolOf(path: string): Protocol | null {
  const route = path.split('?')[0]!
  if (route.endsWith('/chat/completions')) return openAiChat
  if (route.endsWith('/api/chat')) return ollamaChat
  if (route.endsWith('/responses')) return openAiResponses
  if (route.endsWith('/messages')) return anthropicMessages
  if (route.includes(':streamGenerateContent')) return googleGenerate
  return null
}

function modelOf(path: string, body: unknown): string {
  const named = (body as { model?: unknown } | null)?.model
  return typeof named === 'string' ? named : (/models\/([^:]+):/.exec(path)?.[1] ?? 'model')
}

function headOf(protocol: Protocol, fault: ServedFault | undefined): Record<string, string> {
  return {
    'content-type': fault?.kind === 'content_type' ? fault.contentType : (protocol.contentType ?? 'text/event-stream; charset=utf-8'),
    'cache-control': 'no-cache',
    ...(fault?.kind === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
  }
}

/** The writes of one reply, including faults. */
function bytesOf(protocol: Protocol, reply: ServedReply, model: string): Buffer[] {
  const { fault } = reply
  if (reply.recorded !== undefined) return reply.recorded.map((event) => Buffer.from(event))
  let frames = protocol.frames(reply, model)
  const endAt = frames.findIndex((frame) => frame.part === 'end')
  const lineBreak = fault?.kind === 'crlf' ? '\r\n' : '\n'
  const encode = (frame: Frame) => Buffer.from(frame.lines.join(lineBreak) + lineBreak + lineBreak)
  switch (fault?.kind) {
    case 'error_in_stream':
      return [...frames.slice(0, endAt), ...protocol.errorFrames(fault.error)].map(encode)
    case 'no_done':
      return frames.filter((frame) => frame.part !== 'done').map(encode)
    case 'bad_json':
      frames = frames.toSpliced(endAt, 0, { part: 'content', lines: ['data: {"half": '] })
      return frames.map(encode)
    case 'unknown_event':
      return frames.toSpliced(endAt, 0, { part: 'content', lines: ['event: weather', 'data: {"type":"weather","sun":1}'] }).map(encode)
    case 'huge_line':
      return frames.toSpliced(endAt, 0, protocol.textFrame('x'.repeat(fault.bytes))).map(encode)
    case 'comments':
      return frames.flatMap((frame) => [Buffer.from(': still here\n\n'), encode(frame)])
    case 'half_event': {
      const kept = frames.slice(0, endAt).map(encode)
      const last = kept.pop()!
      return [...kept, last.subarray(0, Math.floor(last.length / 2))]
    }
    case 'cut_tool_call': {
      const cut = frames.findIndex((frame) => frame.part === 'tool_args')
      // If the protocol sends a call in one piece, it is cut inside it.
      const whole = frames.slice(0, cut).map(encode)
      const half = encode(frames[cut]!)
      const inPieces = frames[cut + 1]?.part === 'content'
      return [...whole, inPieces ? half : half.subarray(0, half.length - 20)]
    }
    case 'torn_bytes':
      return Array.from(Buffer.concat(frames.map(encode)), (byte) => Buffer.from([byte]))
    case 'bad_utf8': {
      const odd = encode(protocol.textFrame('before MARK after'))
      const at = odd.indexOf('MARK')
      const broken = Buffer.concat([odd.subarray(0, at), Buffer.from([0xc3, 0x28, 0xff]), odd.subarray(at + 4)])
      return [...frames.slice(0, endAt).map(encode), broken, ...frames.slice(endAt).map(encode)]
    }
    case 'gzip':
      return [gzipSync(Buffer.concat(frames.map(encode)))]
    default:
      return frames.map(encode)
  }
}

function writeFlushed(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve()
    response.write(bytes, () => resolve())
  })
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A repeated event. One that nobody waits for is kept for the next waiter. */
function createSignal(): { raise(): void; next(): Promise<void> } {
  let pending = 0
  const waiting: (() => void)[] = []
  return {
    raise() {
      const next = waiting.shift()
      if (next === undefined) pending++
      else next()
    },
    next() {
      if (pending > 0) {
        pending--
        return Promise.resolve()
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
  }
}
