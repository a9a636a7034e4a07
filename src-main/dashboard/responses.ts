import type { Readable } from 'node:stream'
import { ERROR_STATUS, type ErrorBody, type ErrorCode } from '../../src-runner/contract/errors.ts'
import { API_HEADERS, PAGE_HEADERS } from './hardening.ts'

export type DashboardResponse = {
  status: number
  headers: Record<string, string | string[]>
  body: Buffer | Readable | null
}

/** An error response in the shape of the contract. It never repeats what was sent. */
export function refusal(code: ErrorCode, message?: string, rest: Omit<ErrorBody, 'error' | 'message'> = {}): DashboardResponse {
  return json(ERROR_STATUS[code], { error: code, ...(message === undefined ? {} : { message }), ...rest })
}

/** RFC 9110, section 15.5.6: with the methods that the path has. */
export function wrongMethod(...allowed: string[]): DashboardResponse {
  const refused = refusal('method_not_allowed')
  return { ...refused, headers: { ...refused.headers, allow: allowed.join(', ') } }
}

export function unavailable(): DashboardResponse {
  return refusal(
    'runner_unavailable',
    'The runner is not ready. Deckhand starts it automatically. If this stays, open Deckhand and look at the top of the window.',
  )
}

/** Not cacheable: the host name may belong to another program tomorrow. */
export function redirection(location: string): DashboardResponse {
  return { status: 307, headers: { ...API_HEADERS, location, 'content-length': '0', 'cache-control': 'no-store' }, body: null }
}

export function json(status: number, value: object): DashboardResponse {
  return text(status, API_HEADERS, 'application/json; charset=utf-8', JSON.stringify(value))
}

export function html(status: number, sentence: string, language = 'en'): DashboardResponse {
  const page = `<!doctype html><html lang="${language}"><meta charset="utf-8"><title>Deckhand</title><p>${sentence}</p></html>`
  return text(status, PAGE_HEADERS, 'text/html; charset=utf-8', page)
}

export function text(status: number, headers: Record<string, string>, type: string, content: string): DashboardResponse {
  const body = Buffer.from(content)
  return {
    status,
    headers: { ...headers, 'content-type': type, 'content-length': String(body.length), 'cache-control': 'no-store' },
    body,
  }
}
