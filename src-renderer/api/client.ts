import { ERROR_STATUS, type ErrorBody, type ErrorCode, type ErrorIssue } from '../../src-runner/contract/errors.ts'
import { ROUTE_TABLE } from '../../src-runner/contract/route-table.ts'
import type { ROUTES } from '../../src-runner/contract/routes.ts'
import type { AnswerOf, RequestOf, RouteEntry } from '../../src-runner/contract/routes/route.ts'
import type { AuthRoutes } from '../../src-main/contract/auth-api.ts'
import { AUTH_ROUTE_TABLE } from '../../src-main/contract/auth-route-table.ts'
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

/** The routes of the runner and those of the dashboard. */
const CALLS = { ...ROUTE_TABLE, ...AUTH_ROUTE_TABLE }
export type Calls = typeof ROUTES & AuthRoutes
export type CallName = keyof Calls
export const entryOf = (name: CallName): RouteEntry => CALLS[name]
export type CallRequest<N extends CallName> = RequestOf<Calls[N]>
export type CallAnswer<N extends CallName> = AnswerOf<Calls[N]>
type StreamRoute = { [N in CallName]: Calls[N] extends { stream: true } ? N : never }[CallName]
export type JsonRoute = Exclude<CallName, StreamRoute>

type CallOptions = { signal?: AbortSignal }
type Arguments<N extends CallName> =
  object extends CallRequest<N> ? [request?: CallRequest<N>, options?: CallOptions] : [request: CallRequest<N>, options?: CallOptions]

export type Client = {
  /** Calls a route by its name. Rejects with an `ApiError`, or with the signal's reason. */
  call<N extends JsonRoute>(name: N, ...rest: Arguments<N>): Promise<CallAnswer<N>>
  /** Opens a stream of server-sent events. */
  open<N extends StreamRoute>(
    name: N,
    request: CallRequest<N>,
    options?: CallOptions & { lastEventId?: string | null },
  ): Promise<ReadableStream<Uint8Array>>
}

type QueryValue = string | number | boolean | null | undefined
type Loose = { params?: Record<string, string>; query?: Record<string, QueryValue>; body?: unknown }

/** The path with its parameters and query filled in. Absent query values are left out. */
export function pathOf(route: Pick<RouteEntry, 'path'>, request: Loose): string {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(request.params?.[name] ?? ''))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value))
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** `onSignedOut` is called when a response says that nobody is signed in, or can be without HTTPS. */
export function createClient(fetchFrom: typeof fetch = (...args) => fetch(...args), onSignedOut?: () => void): Client {
  const send = async (name: CallName, request: Loose, options: CallOptions, headers: Record<string, string>): Promise<Response> => {
    const route = entryOf(name)
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
    if (response.ok) return response
    const error = await errorOf(response)
    if (error.code === 'unauthorized' || error.code === 'https_required') onSignedOut?.()
    throw error
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
