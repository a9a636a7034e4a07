import { ChatStreamEvent } from '../contract/jobs.ts'
import { ROUTES, type Route, type RouteAnswer, type RouteName, type RouteRequest } from '../contract/routes.ts'

export type Answer = { status: number; body: unknown }

export type StreamedEvent = { id: number | null; event: string; data: unknown }

/** A caller of the runner, typed by the route table and speaking real HTTP. */
export type RunnerClient = {
  /** The body of a successful response. Throws for any other. */
  ok<N extends RouteName>(name: N, ...request: RequestArgs<N>): Promise<RouteAnswer<N>>
  /** Any response. The request may be invalid. */
  ask(name: RouteName, request?: LooseRequest): Promise<Answer>
  /** A stream of events, once its headers have arrived. Ends with the stream, or with `close`. */
  stream(name: RouteName, request?: LooseRequest & { lastEventId?: number }): Promise<OpenedStream>
  /** Everything that `chatStream` or `streamJob` sends. */
  turn(name: 'chatStream' | 'streamJob', request: LooseRequest): Promise<ChatStreamEvent[]>
}

export type OpenedStream = { events: AsyncIterator<StreamedEvent> & AsyncIterable<StreamedEvent>; close(): void }

type LooseRequest = { params?: Record<string, string>; query?: object; body?: unknown }
type RequestArgs<N extends RouteName> =
  unknown extends RouteRequest<N>
    ? []
    : Partial<RouteRequest<N>> extends RouteRequest<N>
      ? [request?: RouteRequest<N>]
      : [request: RouteRequest<N>]

export function createRunnerClient(baseUrl: string, bearer?: string): RunnerClient {
  function send(
    name: RouteName,
    request: LooseRequest,
    options: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const route: Route = ROUTES[name]
    const path = route.path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(request.params?.[key] ?? ''))
    const query = new URLSearchParams()
    for (const [key, value] of Object.entries(request.query ?? {}) as [string, string | number | undefined][])
      if (value !== undefined) query.set(key, `${value}`)
    const headers: Record<string, string> = { ...options.headers }
    if (bearer !== undefined) headers['authorization'] = `Bearer ${bearer}`
    if (request.body !== undefined) headers['content-type'] = 'application/json'
    return fetch(`${baseUrl}${path}${query.size > 0 ? `?${query.toString()}` : ''}`, {
      method: route.method,
      headers,
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
      signal: options.signal,
    })
  }

  async function ask(name: RouteName, request: LooseRequest = {}): Promise<Answer> {
    const response = await send(name, request)
    return { status: response.status, body: JSON.parse(await response.text()) as unknown }
  }

  async function stream(name: RouteName, request: LooseRequest & { lastEventId?: number } = {}): Promise<OpenedStream> {
    const closing = new AbortController()
    const headers: Record<string, string> = request.lastEventId === undefined ? {} : { 'last-event-id': String(request.lastEventId) }
    const response = await send(name, request, { headers, signal: closing.signal })
    if (!response.ok) throw new Error(`${name} answered ${response.status}: ${await response.text()}`)
    // At once, because fetch cancels an unread body when its response is garbage-collected.
    return { events: readEvents(response.body!.values()), close: () => closing.abort() }
  }

  return {
    ask,
    stream,
    async ok(name, ...[request]) {
      const { status, body } = await ask(name, request as LooseRequest | undefined)
      if (status !== ROUTES[name].status) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`)
      return body as never
    },
    async turn(name, request) {
      const events: ChatStreamEvent[] = []
      const { events: streamed } = await stream(name, request)
      for await (const { event, data } of streamed) events.push(ChatStreamEvent.parse({ type: event, ...(data as object) }))
      return events
    },
  }
}

async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEvent> {
  let text = ''
  const decoder = new TextDecoder()
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const fields = new Map(
          text
            .slice(0, end)
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        )
        text = text.slice(end + 2)
        const [event, data, id] = [fields.get('event'), fields.get('data'), fields.get('id')]
        if (event !== undefined && data !== undefined)
          yield { id: id === undefined ? null : Number(id), event, data: JSON.parse(data) as unknown }
      }
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error
  }
}
