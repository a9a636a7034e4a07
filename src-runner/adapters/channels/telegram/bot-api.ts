import { buffer } from 'node:stream/consumers'
import type { Api, GrammyError } from 'grammy/web'
import { OutboundError, type OutboundFetch, type OutboundInit, type OutboundTrouble } from '../../../platform/net/outbound.ts'
import type { Message, MessageCode } from '../../../contract/messages.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage } from '../../../lib/messages.ts'
import type { ChannelAccess } from '../../../domain/channels/channel-access.ts'

/**
 * Why a call failed. token: the service does not accept the token. conflict: another program reads the bot's messages.
 * webhook: they are sent to an address instead. slow_down: too many calls. forbidden: the person does not want messages from
 * the bot. refused: no later try can succeed. service: the service is in trouble. unreachable: no response, or not one that we
 * understand or accept.
 */
type TroubleKind = 'token' | 'conflict' | 'webhook' | 'slow_down' | 'forbidden' | 'refused' | 'service' | 'unreachable'

/** Never contains the token. */
export type Trouble = { ok: false; kind: TroubleKind; problem: Message; retryAfterMs: number | null }
export type Result<T> = { ok: true; value: T } | Trouble

export type CallOptions = { signal: AbortSignal; deadlineMs?: number }

/** The service's API. It keeps the token to itself, which is a part of every address. */
export type BotApi = {
  call<T>(make: (api: Api, signal: NonNullable<Parameters<Api['getMe']>[0]>) => Promise<T>, options: CallOptions): Promise<Result<T>>
  download(filePath: string, options: CallOptions & { maxBytes: number }): Promise<Result<Uint8Array>>
}

const OFFICIAL_SERVER = 'https://api.telegram.org'
const CALL_DEADLINE_MS = 30_000
/** A batch of a hundred updates stays far below this. */
const MAX_RESPONSE_BYTES = 8_000_000
const MAX_DESCRIPTION_CHARS = 200
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

  /** Runs `work` until it is done, its deadline has passed, or the caller aborts. */
  async function within<T>({ signal, deadlineMs }: CallOptions, work: (signal: AbortSignal) => Promise<T>): Promise<Result<T>> {
    const late = new AbortController()
    const cancel = clock.after(deadlineMs ?? CALL_DEADLINE_MS, () => late.abort(new Error('no response in time')))
    try {
      const value = await work(AbortSignal.any([signal, late.signal]))
      onRoundTrip()
      return { ok: true, value }
    } catch (thrown) {
      if (signal.aborted) return trouble('unreachable', createMessage('chat_given_up'))
      if (late.signal.aborted) return trouble('unreachable', createMessage('chat_no_answer', { server }))
      return troubleOf(thrown)
    } finally {
      cancel()
    }
  }

  function troubleOf(thrown: unknown): Trouble {
    if (isRefusal(thrown)) return troubleOfRefusal(thrown)
    const inner = (thrown as { error?: unknown } | null)?.error ?? thrown
    if (inner instanceof Refused) return inner.trouble
    const code = inner instanceof OutboundError ? OUTBOUND_MESSAGES[inner.kind] : 'chat_not_understood'
    return trouble('unreachable', createMessage(code, { server }))
  }

  function troubleOfRefusal({ error_code: code, description, parameters }: GrammyError): Trouble {
    const words = describe(description)
    switch (code) {
      case 401:
        return trouble('token', createMessage('chat_token_refused', { server }))
      case 404:
        return trouble('token', createMessage('chat_token_unknown', { server }))
      case 409:
        if (/webhook/i.test(description)) return trouble('webhook', createMessage('chat_web_address'))
        return trouble('conflict', createMessage('chat_other_reader'))
      case 429:
        return { ...trouble('slow_down', createMessage('chat_slow_down', { server })), retryAfterMs: retryAfterOf(parameters) }
      case 403:
        return trouble('forbidden', createMessage('chat_not_delivered', { server, words }))
      default:
        if (typeof code !== 'number') return trouble('unreachable', createMessage('chat_not_understood', { server }))
        return code >= 500
          ? trouble('service', createMessage('chat_in_trouble', { server, status: String(code), words }))
          : trouble('refused', createMessage('chat_refused', { server, words }))
    }
  }

  /** The service's own words, which may repeat what was sent to it. */
  function describe(description: unknown): string {
    const words = typeof description === 'string' ? description : ''
    const plain = words
      .replaceAll(access.token, '…')
      .replace(/\p{Cc}+/gu, ' ')
      .replace(/^(Bad Request|Forbidden): /, '')
      .trim()
    return `${plain === '' ? 'no reason was given' : plain.slice(0, MAX_DESCRIPTION_CHARS).replace(/[.\s]+$/, '')}.`
  }

  function fetchAtMost(maxBytes: number, url: string, init: OutboundInit): Promise<Response> {
    let total = 0
    const onBytes = (count: number) => {
      total += count
      if (total > maxBytes) throw new Refused(trouble('unreachable', createMessage('chat_too_much', { server })))
    }
    return fetch(url, { ...init, redirect: 'error', onBytes })
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
    throw new Refused(trouble('refused', createMessage('chat_too_large', { server })))
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
        throw new Refused(trouble(response.status >= 500 ? 'service' : 'refused', problem))
      }),
  }
}

const OUTBOUND_MESSAGES = {
  bad_url: 'chat_bad_address',
  dns: 'chat_not_found',
  refused: 'chat_connection_refused',
  unreachable: 'chat_unreachable',
  tls: 'chat_not_secure',
  reset: 'chat_broken_off',
  protocol: 'chat_not_understood',
  redirect: 'chat_redirects',
} as const satisfies Record<OutboundTrouble, MessageCode>

type LibraryInit = { method: string; headers: Record<string, string>; body: string | AsyncIterable<Uint8Array>; signal: AbortSignal }

class Refused extends Error {
  readonly trouble: Trouble
  constructor(found: Trouble) {
    super(found.kind)
    this.trouble = found
  }
}

function trouble(kind: TroubleKind, problem: Message): Trouble {
  return { ok: false, kind, problem, retryAfterMs: null }
}

/** By its name, because its class is in a module that is loaded late. */
function isRefusal(thrown: unknown): thrown is GrammyError {
  return thrown instanceof Error && thrown.name === 'GrammyError'
}

function retryAfterOf(parameters: unknown): number | null {
  const seconds = (parameters as { retry_after?: unknown } | undefined)?.retry_after
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : null
}
