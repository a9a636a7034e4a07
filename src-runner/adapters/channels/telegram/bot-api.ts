import type { Message, MessageCode } from '../../../contract/messages.ts'
import { createMessage } from '../../../lib/messages.ts'
import type { Api, GrammyError } from 'grammy/web'
import { OutboundError, type OutboundFetch, type OutboundTrouble } from '../../../platform/net/outbound.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { ChannelAccess } from '../channel.ts'

/**
 * Why a call did not get what it asked for.
 *
 * token: the service does not know the token (any more). conflict: somebody else reads the bot's messages; `webhook`: an
 * address was set to which they are sent. slow_down: too many calls. forbidden: the person does not want to hear from the
 * bot. refused: what was asked cannot be done, now or later. too_much: the answer has more bytes than are taken. service: it
 * is ill. unreachable: there was no answer, or none that can be understood. closed: we gave the call up ourselves.
 */
export type TroubleKind =
  | 'token'
  | 'conflict'
  | 'webhook'
  | 'slow_down'
  | 'forbidden'
  | 'refused'
  | 'too_much'
  | 'service'
  | 'unreachable'
  | 'closed'

/** Nothing in it ever holds the token. */
export type Trouble = { ok: false; kind: TroubleKind; problem: Message; retryAfterMs: number | null }
export type Answer<T> = { ok: true; value: T } | Trouble

export type CallOptions = { signal: AbortSignal; deadlineMs?: number }

/** The service's interface, with a token that stays in here: it is a part of every address that is called. */
export type BotApi = {
  call<T>(make: (api: Api, signal: NonNullable<Parameters<Api['getMe']>[0]>) => Promise<T>, options: CallOptions): Promise<Answer<T>>
  download(filePath: string, options: CallOptions & { mostBytes: number }): Promise<Answer<Uint8Array>>
}

export const OFFICIAL_SERVER = 'https://api.telegram.org'
const CALL_DEADLINE_MS = 30_000
/** A batch of a hundred updates stays far below this. */
const MOST_ANSWER_BYTES = 8_000_000
const MOST_DESCRIPTION_CHARS = 200
/** Longer than any deadline of ours: the library's own timer never comes first. */
const LIBRARY_TIMEOUT_S = 900

export function createBotApi({
  access,
  fetch,
  clock,
  onRoundTrip,
}: {
  access: ChannelAccess
  fetch: OutboundFetch
  clock: Clock
  onRoundTrip: () => void
}): BotApi {
  const root = (access.baseUrl ?? OFFICIAL_SERVER).replace(/\/+$/, '')
  const server = access.baseUrl === null ? 'Telegram' : createMessage('chat_own_server', { host: hostOf(root) })
  let loading: Promise<Api> | null = null

  /**
   * Loaded when it is needed for the first time: a runner without channels does not pay for it. The build for browsers has no
   * way to the network of its own, so it cannot take one past ours.
   */
  function load(): Promise<Api> {
    loading ??= import('grammy/web').then(
      ({ Api }) =>
        new Api(access.token, {
          apiRoot: root,
          fetch: ((input: string, init: LibraryInit) => fetchForLibrary(fetch, input, init)) as never,
          baseFetchConfig: {},
          timeoutSeconds: LIBRARY_TIMEOUT_S,
          sensitiveLogs: false,
        }),
    )
    return loading
  }

  /** Runs `work` until it is done, its deadline has passed, or the caller wants no more. */
  async function within<T>(
    { signal, deadlineMs = CALL_DEADLINE_MS }: CallOptions,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<Answer<T>> {
    const late = new AbortController()
    const over = new AbortController()
    clock.sleep(deadlineMs, over.signal).then(
      () => late.abort(new Error('no answer in time')),
      () => {},
    )
    try {
      const value = await work(AbortSignal.any([signal, late.signal]))
      onRoundTrip()
      return { ok: true, value }
    } catch (thrown) {
      if (signal.aborted) return trouble('closed', createMessage('chat_given_up'))
      if (late.signal.aborted) return trouble('unreachable', createMessage('chat_no_answer', { server }))
      return troubleOf(thrown)
    } finally {
      over.abort(new Error('the call is over'))
    }
  }

  function troubleOf(thrown: unknown): Trouble {
    if (isRefusal(thrown)) return troubleOfRefusal(thrown)
    const inner = (thrown as { error?: unknown } | null)?.error ?? thrown
    if (inner instanceof OutboundError) return trouble('unreachable', createMessage(HOW_IT_FAILED[inner.kind], { server }))
    if (inner instanceof DownloadRefused) return inner.trouble
    if (inner instanceof TooLargeForServer) return trouble('refused', createMessage('chat_too_large', { server }))
    if (inner instanceof TooLarge) return trouble('too_much', createMessage('chat_too_much', { server }))
    return trouble('unreachable', createMessage('chat_not_understood', { server }))
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

  /** The service's own words, which might repeat what was sent to it. */
  function describe(description: unknown): string {
    const words = typeof description === 'string' ? description : ''
    const plain = words
      .replaceAll(access.token, '…')
      .replace(/\p{Cc}+/gu, ' ')
      .replace(/^(Bad Request|Forbidden): /, '')
      .trim()
    return `${plain === '' ? 'no reason was given' : plain.slice(0, MOST_DESCRIPTION_CHARS).replace(/[.\s]+$/, '')}.`
  }

  return {
    call: (make, options) => within(options, async (signal) => make(await load(), signal as never)),

    download: (filePath, { mostBytes, ...options }) =>
      within(options, async (signal) => {
        const path = filePath.split('/').map(encodeURIComponent).join('/')
        const answer = await fetch(`${root}/file/bot${access.token}/${path}`, { signal, redirect: 'error', onBytes: refuseOver(mostBytes) })
        if (!answer.ok) {
          await answer.body?.cancel()
          throw new DownloadRefused(
            trouble(
              answer.status >= 500 ? 'service' : 'refused',
              createMessage('chat_file_refused', { server, status: String(answer.status) }),
            ),
          )
        }
        return new Uint8Array(await answer.arrayBuffer())
      }),
  }
}

const HOW_IT_FAILED = {
  bad_url: 'chat_bad_address',
  dns: 'chat_not_found',
  refused: 'chat_connection_refused',
  unreachable: 'chat_unreachable',
  tls: 'chat_not_secure',
  reset: 'chat_broken_off',
  protocol: 'chat_not_understood',
  redirect: 'chat_redirects',
} as const satisfies Record<OutboundTrouble, MessageCode>

class TooLarge extends Error {}
class TooLargeForServer extends Error {}

class DownloadRefused extends Error {
  readonly trouble: Trouble
  constructor(why: Trouble) {
    super('the file was not handed over')
    this.trouble = why
  }
}

function trouble(kind: TroubleKind, problem: Message): Trouble {
  return { ok: false, kind, problem, retryAfterMs: null }
}

/** By its shape: the class is in a module that is loaded late. */
function isRefusal(thrown: unknown): thrown is GrammyError {
  return thrown instanceof Error && thrown.name === 'GrammyError'
}

function retryAfterOf(parameters: unknown): number | null {
  const seconds = (parameters as { retry_after?: unknown } | undefined)?.retry_after
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : null
}

type LibraryInit = { method: string; headers: Record<string, string>; body: string | AsyncIterable<Uint8Array>; signal: AbortSignal }

/** The library sends files as streams; our way out wants bodies that are whole. */
async function fetchForLibrary(fetch: OutboundFetch, input: string, { method, headers, body, signal }: LibraryInit): Promise<Response> {
  const answer = await fetch(input, {
    method,
    headers: { 'content-type': headers['content-type'] ?? 'application/json' },
    body: typeof body === 'string' ? body : await bytesOf(body),
    signal,
    redirect: 'error',
    onBytes: refuseOver(MOST_ANSWER_BYTES),
  })
  // Said by what stands in front of the service, in a form of its own.
  if (answer.status === 413) {
    await answer.body?.cancel()
    throw new TooLargeForServer('the request is too large')
  }
  return answer
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function refuseOver(most: number): (count: number) => void {
  let total = 0
  return (count) => {
    total += count
    if (total > most) throw new TooLarge('more bytes than are taken')
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that cannot be read'
}
