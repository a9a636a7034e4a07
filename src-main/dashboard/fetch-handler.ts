import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { DashboardRequest } from './requests.ts'
import type { DashboardResponse } from './responses.ts'

/** Responds to a request with fetch's types, for the window's scheme. */
export async function handleFetch(
  respond: (request: DashboardRequest) => Promise<DashboardResponse>,
  request: Request,
  via: DashboardRequest['via'],
): Promise<Response> {
  const url = new URL(request.url)
  const authorization = request.headers.get('authorization')
  const { status, headers, body } = await respond({
    via,
    method: request.method,
    target: url.pathname + url.search,
    header: (name) => request.headers.get(name) ?? undefined,
    authorizations: authorization === null ? [] : [authorization],
    address: '',
    isSecure: false,
    body: request.body ? Readable.fromWeb(request.body as NodeReadableStream) : null,
    signal: request.signal,
  })
  const fields = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((single) => [name, single] as [string, string]))
  // Response throws if one of these statuses has a body.
  const bodiless = request.method === 'HEAD' || status === 204 || status === 304
  if (bodiless && body instanceof Readable) body.destroy()
  const content =
    bodiless || body === null ? null : body instanceof Readable ? (Readable.toWeb(body) as unknown as ReadableStream) : new Uint8Array(body)
  return new Response(content, { status, headers: fields })
}
