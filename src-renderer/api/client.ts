import { ERROR_STATUS, type ErrorBody, type ErrorCode, type ErrorIssue } from '../../src-runner/contract/errors.ts'
import { ROUTES, type Route, type RouteAnswer, type RouteName, type RouteRequest } from '../../src-runner/contract/routes.ts'
import { pageKeyHeaders } from './browser-access.ts'
import type { Message } from '../../src-runner/contract/messages.ts'

/** The codes of the contract, and one for a response that none of our servers sends. */
export type ApiErrorCode = ErrorCode | 'unexpected_answer'

/** A request failed, on the way to the runner or in it. `status` is 0 when there was no response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ApiErrorCode
  readonly status: number
  readonly issues: readonly ErrorIssue[]
  /** The runner's message, if it has one beyond the code. */
  readonly detail: Message | undefined

  constructor(code: ApiErrorCode, status: number, message: string, issues: readonly ErrorIssue[] = [], detail?: Message) {
    super(message)
    this.code = code
    this.status = status
    this.issues = issues
    this.detail = detail
  }
}

type StreamRoute = { [N in RouteName]: (typeof ROUTES)[N] extends { stream: true } ? N : never }[RouteName]
export type JsonRoute = Exclude<RouteName, StreamRoute>

type CallOptions = { signal?: AbortSignal }
type Arguments<N extends RouteName> =
  object extends RouteRequest<N> ? [request?: RouteRequest<N>, options?: CallOptions] : [request: RouteRequest<N>, options?: CallOptions]

export type Client = {
  /** Calls a route by its name. Rejects with an `ApiError`, or with the signal's reason. */
  call<N extends JsonRoute>(name: N, ...rest: Arguments<N>): Promise<RouteAnswer<N>>
  /** Opens a stream of server-sent events. */
  open<N extends StreamRoute>(
    name: N,
    request: RouteRequest<N>,
    options?: CallOptions & { lastEventId?: string | null },
  ): Promise<ReadableStream<Uint8Array>>
}

type QueryValue = string | number | boolean | null | undefined
type Loose = { params?: Record<string, string>; query?: Record<string, QueryValue>; body?: unknown }

/** The path with its parameters and query filled in. Absent query values are left out. */
export function pathOf(route: Route, request: Loose): string {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(request.params?.[name] ?? ''))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value))
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

export function createClient(fetchFrom: typeof fetch = (...args) => fetch(...args)): Client {
  const send = async (name: RouteName, request: Loose, options: CallOptions, headers: Record<string, string>): Promise<Response> => {
    const route: Route = ROUTES[name]
    Object.assign(headers, pageKeyHeaders())
    const init: RequestInit = { method: route.method, headers, signal: options.signal ?? null }
    if (request.body !== undefined) {
      init.body = JSON.stringify(request.body)
      headers['content-type'] = 'application/json'
    }
    let response: Response
    try {
      response = await fetchFrom(pathOf(route, request), init)
    } catch (thrown) {
      if (options.signal?.aborted) throw thrown
      throw new ApiError('runner_unavailable', 0, 'The runner did not answer.')
    }
    if (!response.ok) throw await errorOf(response)
    return response
  }
  return {
    async call(name, ...[request, options]) {
      const response = await send(name, request ?? {}, options ?? {}, { accept: 'application/json' })
      try {
        return await response.json()
      } catch (thrown) {
        if (options?.signal?.aborted) throw thrown
        throw new ApiError('unexpected_answer', response.status, 'The answer could not be read.')
      }
    },
    async open(name, request, options) {
      const headers: Record<string, string> = { accept: 'text/event-stream' }
      if (options?.lastEventId) headers['last-event-id'] = options.lastEventId
      const response = await send(name, request as Loose, options ?? {}, headers)
      const type = response.headers.get('content-type') ?? ''
      if (response.body === null || !type.startsWith('text/event-stream')) {
        await response.body?.cancel()
        throw new ApiError('unexpected_answer', response.status, 'The answer was not a stream.')
      }
      return response.body
    },
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as Partial<ErrorBody> | null
  const code = body?.error
  if (typeof code === 'string' && code in ERROR_STATUS) {
    return new ApiError(code as ErrorCode, response.status, body?.message ?? '', body?.issues ?? [], body?.detail)
  }
  // From a proxy or a server that is stopping: 502, 503 and 504 mean that the runner is not there.
  const isGone = [502, 503, 504].includes(response.status)
  return new ApiError(isGone ? 'runner_unavailable' : 'unexpected_answer', response.status, body?.message ?? '')
}
