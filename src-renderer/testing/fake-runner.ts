import type { Message } from '../../src-runner/contract/messages.ts'
import { ERROR_STATUS, type ErrorCode, type ErrorIssue } from '../../src-runner/contract/errors.ts'
import { LIVE_EVENTS, type LiveEvent, type RecordedEvent } from '../../src-runner/contract/events.ts'
import type { ChatStreamEvent } from '../../src-runner/contract/jobs.ts'
import { ROUTES, type Route } from '../../src-runner/contract/routes.ts'
import type { InputOf } from '../../src-runner/contract/routes/route.ts'
import { DEFAULT_SETTINGS } from '../../src-runner/contract/settings.ts'
import { AUTH_ROUTES } from '../../src-main/contract/auth-api.ts'
import type { CallAnswer, CallName, JsonRoute } from '../api/client.ts'

const CALLS = { ...ROUTES, ...AUTH_ROUTES }

type CallInput<N extends CallName> = InputOf<(typeof CALLS)[N]>

/** An error response. */
export class Refusal {
  readonly code: ErrorCode
  readonly message: string | undefined
  readonly issues: ErrorIssue[] | undefined
  /** The runner's message, if it has one. */
  readonly detail: Message | undefined
  constructor(code: ErrorCode, message?: string, issues?: ErrorIssue[], detail?: Message) {
    this.code = code
    this.message = message
    this.issues = issues
    this.detail = detail
  }
}

export type Answers = {
  [N in JsonRoute]?: (input: CallInput<N>) => CallAnswer<N> | Refusal | Promise<CallAnswer<N> | Refusal>
}

export type FakeRunner = {
  fetch: typeof fetch
  /** Sets or replaces the responses of routes. */
  answer: (answers: Answers) => void
  /** The requests so far, the oldest first. */
  calls: { name: CallName; input: { params: unknown; query: unknown; body: unknown } }[]
  callsOf: <N extends CallName>(name: N) => CallInput<N>[]
  /** Sends an event to all event streams. */
  happen: (event: RecordedEvent | LiveEvent) => void
  /** The event streams so far, with the event id that each resumed after; null for a fresh one. */
  streams: { lastEventId: string | null; isOpen: boolean }[]
  /** Breaks all open event streams, as a restart does. */
  breakStreams: () => void
  /** While false, every request fails. */
  setReachable: (reachable: boolean) => void
  /** The frames of the next chat or job streams, each sent at once and then ended, or held streams. */
  streamFrames: (name: 'chatStream' | 'streamJob', connections: (string[] | HeldStream)[]) => void
}

/** A chat or job stream whose events the test sends. */
export type HeldStream = { body: ReadableStream<Uint8Array>; send: (...events: ChatStreamEvent[]) => void; break: () => void }

export function createHeldStream(): HeldStream {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({
    start(begun) {
      controller = begun
    },
  })
  return {
    body,
    send(...events) {
      for (const { type, ...data } of events) controller.enqueue(encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`))
    },
    break: () => controller.close(),
  }
}

const encoder = new TextEncoder()

/**
 * A runner for tests. It parses requests and responses with the schemas of the contract, so a test cannot pass with a shape
 * that the real runner would not send.
 */
export function createFakeRunner(first: Answers = {}): FakeRunner {
  let answers: Answers = { ...DEFAULTS, ...first }
  let reachable = true
  let eventId = 0
  const calls: FakeRunner['calls'] = []
  const streams: FakeRunner['streams'] = []
  const open = new Map<ReadableStreamDefaultController<Uint8Array>, { isOpen: boolean }>()
  const frames: Record<string, (string[] | HeldStream)[]> = { chatStream: [], streamJob: [] }

  const respond = (status: number, body: unknown) =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  const respondStream = (body: ReadableStream<Uint8Array>) =>
    new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })

  const openEvents = (lastEventId: string | null, signal: AbortSignal | null | undefined) => {
    const place = { lastEventId, isOpen: true }
    streams.push(place)
    return respondStream(
      new ReadableStream({
        start(controller) {
          controller.enqueue(encoder.encode('retry: 1000\n\n'))
          open.set(controller, place)
          signal?.addEventListener('abort', () => {
            if (open.delete(controller)) controller.error(signal.reason)
            place.isOpen = false
          })
        },
      }),
    )
  }

  const answerFetch: typeof fetch = async (target, init) => {
    init?.signal?.throwIfAborted()
    if (!reachable) throw new TypeError('Failed to fetch')
    const url = new URL(target instanceof Request ? target.url : target, 'http://deckhand.test')
    const method = init?.method ?? 'GET'
    const [name, params] = findRoute(method, url.pathname)
    const route: Route = CALLS[name]
    const input = {
      params: route.params?.parse(params) ?? {},
      query: route.query?.parse(Object.fromEntries(url.searchParams)) ?? {},
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
    }
    calls.push({ name, input })
    if (route.body !== undefined) {
      const parsed = route.body.safeParse(input.body)
      if (!parsed.success) {
        const issues = parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
        return respond(400, { error: 'invalid_request', message: 'The request is not valid.', issues })
      }
      input.body = parsed.data
    }
    if (name === 'streamEvents') return openEvents(new Headers(init?.headers).get('last-event-id'), init?.signal)
    if (name === 'chatStream' || name === 'streamJob') {
      const next = frames[name]!.shift() ?? []
      if (!Array.isArray(next)) return respondStream(next.body)
      return respondStream(
        new ReadableStream({
          start(controller) {
            for (const part of next) controller.enqueue(encoder.encode(part))
            controller.close()
          },
        }),
      )
    }
    const handler = answers[name as JsonRoute] as ((input: unknown) => unknown) | undefined
    if (handler === undefined) throw new Error(`the test gave no answer for ${name}`)
    const answer = await handler(input)
    init?.signal?.throwIfAborted()
    if (answer instanceof Refusal) {
      return respond(ERROR_STATUS[answer.code], {
        error: answer.code,
        message: answer.message,
        detail: answer.detail,
        issues: answer.issues,
      })
    }
    return respond(route.status, route.answer.parse(answer))
  }

  return {
    fetch: answerFetch,
    answer: (more) => {
      answers = { ...answers, ...more }
    },
    calls,
    callsOf: (name) => calls.filter((call) => call.name === name).map((call) => call.input) as never,
    happen(event) {
      const isLive = event.type in LIVE_EVENTS
      const head = isLive ? '' : `id: ${++eventId}\n`
      for (const controller of open.keys()) {
        controller.enqueue(encoder.encode(`${head}event: ${event.type}\ndata: ${JSON.stringify(event.payload)}\n\n`))
      }
    },
    streams,
    breakStreams() {
      for (const [controller, place] of open) {
        controller.close()
        place.isOpen = false
      }
      open.clear()
    },
    setReachable: (next) => {
      reachable = next
    },
    streamFrames: (name, connections) => {
      frames[name] = connections
    },
  }
}

function findRoute(method: string, path: string): [CallName, Record<string, string>] {
  const segments = path.split('/')
  // Routes without parameters come first, because /api/jobs/counts is not a job.
  const names = (Object.keys(CALLS) as CallName[]).toSorted((a, b) => CALLS[a].path.split(':').length - CALLS[b].path.split(':').length)
  for (const name of names) {
    const route: Route = CALLS[name]
    const pattern = route.path.split('/')
    if (route.method !== method || pattern.length !== segments.length) continue
    if (!pattern.every((part, i) => part.startsWith(':') || part === segments[i])) continue
    const params = pattern.flatMap((part, i) => (part.startsWith(':') ? [[part.slice(1), decodeURIComponent(segments[i]!)] as const] : []))
    return [name, Object.fromEntries(params)]
  }
  throw new Error(`no route for ${method} ${path}`)
}

/** The responses of an empty workspace. */
const DEFAULTS: Answers = {
  countJobs: () => ({ pending: 0, running: 0, awaiting_approval: 0, awaiting_child: 0 }),
  listJobs: () => ({ jobs: [], nextCursor: null }),
  listAgents: () => ({ agents: [], nextCursor: null }),
  listConversations: () => ({ conversations: [], nextCursor: null }),
  listProviders: () => ({ providers: [], nextCursor: null }),
  listApprovals: () => ({ approvals: [], pending: 0, nextCursor: null }),
  listDecisions: () => ({ decisions: [] }),
  listRules: () => ({ rules: [], nextCursor: null }),
  listTools: () => ({ tools: [] }),
  listJobFiles: () => ({ files: [] }),
  listJobMemories: () => ({ memories: [] }),
  listMemories: () => ({ memories: [], nextCursor: null }),
  getSignIn: () => ({ hasOwner: true, person: null, damagedFile: null }),
  listPeople: () => ({ people: [], invitations: [] }),
  listDevices: () => ({ devices: [] }),
  getSandbox: () => ({
    sandbox: {
      kind: 'bubblewrap',
      works: true,
      reason: null,
      advice: null,
      network: { works: true, reason: null, advice: null },
      checkedAt: 1_700_000_000_000,
    },
  }),
  listFoundServers: () => ({ servers: [] }),
  listModels: () => ({ models: [], problems: [], defaultModel: null, nextCursor: null }),
  getSettings: () => ({ settings: { ...DEFAULT_SETTINGS, firstStart: 'done' } }),
  listChannels: () => ({ channels: [], nextCursor: null }),
  listConnectors: () => ({ connectors: [], nextCursor: null }),
  listCredentials: () => ({ credentials: [], nextCursor: null }),
  listMcpServers: () => ({ servers: [], nextCursor: null }),
  listKeptResults: () => ({ results: [] }),
  getMcpToolUse: () => ({ onDemand: false, tools: 0, tokens: 0, tokensPerTurn: 0 }),
  listCodeTasks: () => ({ codeTasks: [], nextCursor: null }),
  getCodeTask: () => new Refusal('code_task_not_found'),
  listSkills: () => ({ skills: [], nextCursor: null }),
  listSkillCatalogues: () => ({ catalogues: [] }),
  listAttention: () => ({ items: [] }),
  listOutbox: () => ({ messages: [], nextCursor: null }),
  getPublicAddress: () => ({
    publicAddress: {
      url: null,
      source: 'none',
      localUrl: 'http://127.0.0.1:3001',
      ingressPort: null,
      check: { state: 'unknown', checkedAt: null, problem: null },
      programs: [],
      tunnel: null,
    },
  }),
  getDoctor: () => ({
    checks: [{ name: 'database', state: 'ok', finding: { code: 'quoted', params: { words: 'Sound, 2 MB.' } }, fix: null }],
  }),
  sumUpSchedules: () => ({ all: [], costUsd: 0, priced: true, schedules: [], count: 0 }),
  getSpend: () => ({ rows: [], totalUsd: 0, unpricedCalls: 0 }),
}
