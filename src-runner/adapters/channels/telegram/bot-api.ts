import { buffer } from 'node:stream/consumers'
import type { Api } from 'grammy/web'
import type { OutboundFetch, OutboundInit } from '../../../platform/net/outbound.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage } from '../../../lib/messages.ts'
import type { ChannelAccess } from '../../../domain/channels/channel-access.ts'
import {
  CallFailed,
  createCaller,
  limitBytes,
  trouble,
  wordsOf,
  type CallOptions,
  type Result as ServiceResult,
  type Trouble as ServiceTrouble,
} from '../service-calls.ts'

/**
 * Why a call failed. token: the service does not accept the token. conflict: another program reads the bot's messages.
 * webhook: they are sent to an address instead. slow_down: too many calls. forbidden: the person does not want messages from
 * the bot. refused: no later try can succeed. service: the service is in trouble. unreachable: no response, or not one that we
 * understand or accept.
 */
type TroubleKind = 'token' | 'conflict' | 'webhook' | 'slow_down' | 'forbidden' | 'refused' | 'service' | 'unreachable'

export type Trouble = ServiceTrouble<TroubleKind>
export type Result<T> = ServiceResult<T, TroubleKind>

/** The service's API. It keeps the token to itself, which is a part of every address. */
export type BotApi = {
  call<T>(make: (api: Api, signal: NonNullable<Parameters<Api['getMe']>[0]>) => Promise<T>, options: CallOptions): Promise<Result<T>>
  download(filePath: string, options: CallOptions & { maxBytes: number }): Promise<Result<Uint8Array>>
}

const OFFICIAL_SERVER = 'https://api.telegram.org'
/** A batch of a hundred updates stays far below this. */
const MAX_RESPONSE_BYTES = 8_000_000
/** Longer than any deadline of ours, so the library's own timer never fires first. */
const LIBRARY_TIMEOUT_S = 900

type BotApiDeps = { access: ChannelAccess; fetch: OutboundFetch; clock: Clock; onRoundTrip(): void }

export function createBotApi({ access, fetch, clock, onRoundTrip }: BotApiDeps): BotApi {
  const root = (access.baseUrl ?? OFFICIAL_SERVER).replace(/\/+$/, '')
  const server = access.baseUrl === null ? 'Telegram' : createMessage('chat_own_server', { host: new URL(root).host })
  let loading: Promise<Api> | null = null

  /** Loaded with the first call, so a runner without channels does not pay for it. The browser build has no network code of its own. */
  function load(): Promise<Api> {
    const options = { apiRoot: root, fetch: fetchForLibrary as never, baseFetchConfig: {}, timeoutSeconds: LIBRARY_TIMEOUT_S }
    return (loading ??= import('grammy/web').then(({ Api }) => new Api(access.token, options)))
  }

  const within = createCaller<TroubleKind>({ server, clock, onRoundTrip }, (thrown) =>
    isRefusal(thrown) ? troubleOfRefusal(thrown) : null,
  )

  function troubleOfRefusal({ error_code: code, description, parameters }: Refusal): Trouble {
    const words = wordsOf(description, access.token)
    const reason = typeof description === 'string' ? description : ''
    switch (code) {
      case 401:
        return trouble('token', createMessage('chat_token_refused', { server }))
      case 404:
        return trouble('token', createMessage('chat_token_unknown', { server }))
      case 409:
        if (/webhook/i.test(reason)) return trouble('webhook', createMessage('chat_web_address'))
        return trouble('conflict', createMessage('chat_other_reader'))
      case 429:
        return trouble('slow_down', createMessage('chat_slow_down', { server }), { retryAfterMs: retryAfterOf(parameters) })
      case 403:
        return trouble('forbidden', createMessage('chat_not_delivered', { server, words }))
      default:
        if (typeof code !== 'number') return trouble('unreachable', createMessage('chat_not_understood', { server }))
        return code >= 500
          ? trouble('service', createMessage('chat_in_trouble', { server, status: String(code), words }))
          : trouble('refused', createMessage('chat_refused', { server, words }), { words: reason.replaceAll(access.token, '…') })
    }
  }

  function fetchAtMost(maxBytes: number, url: string, init: OutboundInit): Promise<Response> {
    return fetch(url, { ...init, redirect: 'error', onBytes: limitBytes(maxBytes, server) })
  }

  /** The library sends files as streams; our `fetch` takes text or bytes. */
  async function fetchForLibrary(url: string, { method, headers, body, signal }: LibraryInit): Promise<Response> {
    const response = await fetchAtMost(MAX_RESPONSE_BYTES, url, {
      method,
      headers: { 'content-type': headers['content-type'] ?? 'application/json' },
      body: typeof body === 'string' ? body : await buffer(body),
      signal,
    })
    if (response.status !== 413) return response
    // It comes from a proxy in front of the service, in a form of its own.
    await response.body?.cancel()
    throw new CallFailed(trouble('refused', createMessage('chat_too_large', { server })))
  }

  return {
    call: (make, options) => within(options, async (signal) => make(await load(), signal as never)),

    download: (filePath, { maxBytes, ...options }) =>
      within(options, async (signal) => {
        const path = filePath.split('/').map(encodeURIComponent).join('/')
        const response = await fetchAtMost(maxBytes, `${root}/file/bot${access.token}/${path}`, { signal })
        if (response.ok) return new Uint8Array(await response.arrayBuffer())
        await response.body?.cancel()
        const problem = createMessage('chat_file_refused', { server, status: String(response.status) })
        throw new CallFailed(trouble(response.status >= 500 ? 'service' : 'refused', problem))
      }),
  }
}

type LibraryInit = { method: string; headers: Record<string, string>; body: string | AsyncIterable<Uint8Array>; signal: AbortSignal }

/** The library passes on whatever the server sent. */
type Refusal = { error_code: unknown; description: unknown; parameters: unknown }

/** By its name, because its class is in a module that is loaded late. */
function isRefusal(thrown: unknown): thrown is Error & Refusal {
  return thrown instanceof Error && thrown.name === 'GrammyError'
}

function retryAfterOf(parameters: unknown): number | null {
  const seconds = (parameters as { retry_after?: unknown } | undefined)?.retry_after
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : null
}
