import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ErrorBody } from '../../src-runner/contract/errors.ts'
import { ROLE_HEADER } from '../../src-runner/contract/routes/route.ts'
import { messageOf, type Log } from '../log/log.ts'
import type { Caller } from './access.ts'
import { API_HEADERS } from './hardening.ts'
import { readBody, type DashboardRequest } from './requests.ts'
import { unavailable, type DashboardResponse } from './responses.ts'
import { createRunnerLink, type RunnerAddress } from './runner-link.ts'

/** Headers passed to the runner. All others are dropped: cookies, Host, Origin, forwarding headers, other credentials. */
const PASSED_REQUEST_HEADERS = [
  'accept',
  'content-type',
  'content-length',
  'last-event-id',
  'if-none-match',
  'cache-control',
  'idempotency-key',
] as const
/** Response headers that are dropped: connection headers, cookies, and CORS permissions. */
const KEPT_BACK = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|set-cookie|access-control-.*|server)$/

export type RunnerProxyDeps = {
  /** Called for every request. null: our runner is not ready. */
  runner: () => RunnerAddress | null
  /** The same for the window, which may open before the runner is ready: waits a while for a runner that is starting. */
  runnerSoon: () => Promise<RunnerAddress | null>
  log: Log
}

type Passed = { path: string; body: Readable | null; caller: Caller | null }

/** Requests to the runner, with the bearer added: those that are passed on, and the dashboard's own. */
export function createRunnerProxy({ runner, runnerSoon, log }: RunnerProxyDeps) {
  const link = createRunnerLink()
  const warn = (error: unknown, path: string) => log.warn({ error: messageOf(error), path }, 'the runner did not respond')

  return {
    /** `began`: called with the body of the response before anybody reads it. */
    async passOn(
      request: DashboardRequest,
      { path, body, caller }: Passed,
      began: (body: IncomingMessage) => void,
    ): Promise<DashboardResponse> {
      const address = runner() ?? (request.via === 'window' ? await runnerSoon() : null)
      if (address === null) return unavailable()
      try {
        const { method, target, signal } = request
        const incoming = await link.call(address, { method, target, headers: passedHeaders(request, body, caller), body, signal })
        began(incoming)
        return { status: incoming.statusCode!, headers: passedBack(incoming.headers), body: incoming }
      } catch (error) {
        if (!request.signal.aborted) warn(error, path)
        return unavailable()
      }
    },

    /** Calls a route that the dashboard uses itself. */
    async ask<Body>(method: 'GET' | 'POST', target: string, body: object | null, signal: AbortSignal) {
      const unreachable = { status: 503, body: { error: 'runner_unavailable' } satisfies ErrorBody }
      const address = runner()
      if (address === null) return unreachable
      try {
        const content = body === null ? null : Readable.from([JSON.stringify(body)])
        const headers = content === null ? {} : { 'content-type': 'application/json' }
        const incoming = await link.call(address, { method, target, headers, body: content, signal })
        const answer = (await readBody(incoming)) ?? '{"error":"internal"}'
        return { status: incoming.statusCode!, body: JSON.parse(answer) as Body | ErrorBody }
      } catch (error) {
        warn(error, target.split('?')[0]!)
        return unreachable
      }
    },

    close: link.close,
  }
}

function passedHeaders(request: DashboardRequest, body: Readable | null, caller: Caller | null): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of PASSED_REQUEST_HEADERS) {
    const value = request.header(name)
    if (value !== undefined && (body !== null || !name.startsWith('content-'))) headers[name] = value
  }
  if (caller?.kind === 'person' && caller.person.role !== 'owner') headers[ROLE_HEADER] = 'member'
  return headers
}

function passedBack(headers: Record<string, string | string[] | undefined>): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = { 'cache-control': 'no-store' }
  for (const [name, value] of Object.entries(headers)) if (value !== undefined && !KEPT_BACK.test(name)) passed[name] = value
  return { ...passed, ...API_HEADERS }
}
