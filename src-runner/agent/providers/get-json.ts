import type { Clock } from '../../lib/clock.ts'
import { parseJson } from '../../lib/json-values.ts'
import type { OutboundFetch } from '../../platform/net/outbound.ts'

const MAX_BYTES = 16_777_216

type Deps = { fetch: OutboundFetch; clock: Clock }
type Request = { headers?: Record<string, string>; body?: unknown; timeoutMs: number; signal?: AbortSignal }

/**
 * Asks a server for facts that the app can do without. null: the response is an error, or not JSON. undefined: there was no
 * response in time. Throws only the signal's reason.
 */
export function getJson(deps: Deps, url: string, { headers, body, timeoutMs, signal }: Request): Promise<unknown> {
  const init = {
    headers: { accept: 'application/json', ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  }
  return ask(deps, url, { init, timeoutMs, signal }, async (response) => {
    const text = await readText(response, MAX_BYTES)
    return response.ok ? parseJson(text) : null
  })
}

/** Whether the server has this. undefined: there was no response in time. */
export function getHead(deps: Deps, url: string, timeoutMs: number): Promise<boolean | undefined> {
  return ask(deps, url, { init: { method: 'HEAD' }, timeoutMs }, (response) => Promise.resolve(response.ok))
}

type Asked = { init: RequestInit; timeoutMs: number; signal?: AbortSignal }

async function ask<T>(
  { fetch, clock }: Deps,
  url: string,
  { init, timeoutMs, signal }: Asked,
  read: (response: Response) => Promise<T>,
): Promise<T | undefined> {
  const done = new AbortController()
  const timeout = clock.sleep(timeoutMs, done.signal).then(
    () => done.abort(new Error('too late')),
    () => {},
  )
  try {
    const abort = signal === undefined ? done.signal : AbortSignal.any([signal, done.signal])
    return await read(await fetch(url, { ...init, redirect: 'error', signal: abort }))
  } catch {
    signal?.throwIfAborted()
    return undefined
  } finally {
    done.abort(new Error('done'))
    await timeout
  }
}

/** The beginning of a body. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    pieces.push(piece)
    bytes += piece.byteLength
    if (bytes >= maxBytes) break
  }
  return Buffer.concat(pieces).subarray(0, maxBytes).toString('utf8')
}
