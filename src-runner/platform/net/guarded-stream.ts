import { isIP, type Socket } from 'node:net'
import type { Client } from 'undici'
import { countJsonParts } from '../../lib/json-values.ts'
import { bounded } from './checked-connection.ts'
import { asGuarded, createClient, createGuardedConnect, GuardedFetchError, type GuardedFetchOptions } from './guarded-fetch.ts'
import { smallPieces } from './small-pieces.ts'
import { hostOf, isLocalName, readWebAddress } from './web-address.ts'

/** The part of `fetch` that libraries of protocols need. Redirects are returned, never followed. */
export type GuardedStreamFetch = (address: string | URL, init?: RequestInit) => Promise<Response>

export type GuardedStreamOptions = GuardedFetchOptions & {
  /** An address that the person entered. If it names this machine or its network itself, that is open. */
  enteredAddress: URL
  /** Sent to the origin of `enteredAddress` only, so they may hold a key. */
  headers: (url: URL) => Promise<Record<string, string>>
  /** The limit of one response. A longer one ends with an error. */
  maxBytes: number
  /** The limit of one response, as `countJsonParts` counts. */
  maxParts: number
  firstByteMs: number
}

/** Begins the message of the error with which such a response ends. */
export const TOO_LONG = 'the response is too long'

/**
 * Requests whose responses are read as they come. A connection is used for one request. Throws GuardedFetchError, or the signal's
 * reason.
 */
export function createGuardedStream({
  enteredAddress,
  headers,
  maxBytes,
  maxParts,
  firstByteMs,
  ...options
}: GuardedStreamOptions): GuardedStreamFetch {
  const openConnection = createGuardedConnect(options)
  const entered = hostOf(enteredAddress)
  // A public name that leads to a private address stays closed.
  const openedOrigin = isIP(entered) > 0 || isLocalName(entered) ? enteredAddress.origin : undefined

  return async (address, init = {}) => {
    const url = readWebAddress(address)
    const closing = new AbortController()
    const signal = init.signal == null ? closing.signal : AbortSignal.any([closing.signal, init.signal])
    let socket: Socket | undefined
    let client: Client | undefined
    const close = () => {
      void client?.destroy()
      socket?.destroy()
    }
    try {
      signal.throwIfAborted()
      const own = url.origin === enteredAddress.origin ? await headers(url) : {}
      socket = (await openConnection(url, openedOrigin, signal)).socket
      client = await createClient(url, socket)
      const sent = client.request({
        method: init.method ?? 'GET',
        path: url.pathname + url.search,
        headers: { 'user-agent': 'Deckhand', 'accept-encoding': 'identity', ...Object.fromEntries(new Headers(init.headers)), ...own },
        body: typeof init.body === 'string' ? init.body : null,
        reset: true,
        signal,
      })
      const tooSlow = () => new GuardedFetchError('timeout', `${url.host} did not begin to respond within ${firstByteMs / 1000} s.`)
      const response = await bounded(sent, firstByteMs, signal, tooSlow)
      const head = { status: response.statusCode, headers: flatHeaders(response.headers) }
      const isEmpty = [204, 205, 304].includes(response.statusCode) || response.statusCode < 200
      if (isEmpty) {
        close()
        return new Response(null, { ...head, status: Math.max(200, head.status) })
      }
      return new Response(boundedBody(response.body, { maxBytes, maxParts }, close), head)
    } catch (error) {
      close()
      init.signal?.throwIfAborted()
      throw asGuarded(error, url.host)
    }
  }
}

function flatHeaders(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]))
}

/** Stops reading while nobody reads, and closes the connection when the reader stops, the response ends or it is too long. */
function boundedBody(
  source: AsyncIterable<Buffer>,
  { maxBytes, maxParts }: { maxBytes: number; maxParts: number },
  close: () => void,
): ReadableStream<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]()
  let bytes = 0
  let parts = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await pieces.next()
          if (done === true) {
            close()
            return controller.close()
          }
          bytes += value.length
          parts += countJsonParts(value)
          if (bytes > maxBytes) throw new Error(`${TOO_LONG}: more than ${maxBytes} bytes`)
          if (parts > maxParts) throw new Error(`${TOO_LONG}: more than ${maxParts} parts`)
          for (const small of smallPieces(value)) controller.enqueue(small)
        } catch (error) {
          close()
          controller.error(error)
        }
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  )
}
