import type { OutboundFetch } from '../../../platform/net/outbound.ts'
import type { Message } from '../../../contract/messages.ts'
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
import { createRateBuckets } from './rate-buckets.ts'

/**
 * Why a call failed. token: the service does not accept the token. slow_down: too many calls. forbidden: the person does not want
 * messages from the bot, or the bot may not write there. refused: no later try can succeed. service: the service is in trouble.
 * unreachable: no response, or not one that we understand or accept.
 */
type TroubleKind = 'token' | 'slow_down' | 'forbidden' | 'refused' | 'service'

export type Trouble = ServiceTrouble<TroubleKind>
export type Result<T> = ServiceResult<T, TroubleKind>

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH'
type Call = CallOptions & { body?: unknown; file?: { name: string; bytes: Uint8Array } }

/** The service's REST API, version 10. It keeps the token to itself. */
export type DiscordApi = {
  /** Returns the parsed response; null: it has no body. */
  call(method: Method, path: string, call: Call): Promise<Result<unknown>>
  download(url: string, options: CallOptions & { maxBytes: number }): Promise<Result<Uint8Array>>
  /** For links to its pages. Read from the token until the service says it. */
  applicationId: string
  readonly server: Message | string
}

const OFFICIAL_BASE = 'https://discord.com/api'
const OFFICIAL_HOSTS = /^(gateway(-[\w-]+)?\.discord\.gg|cdn\.discordapp\.com|media\.discordapp\.net)$/
/** A hundred messages with all their parts stay far below this. */
const MAX_RESPONSE_BYTES = 8_000_000
/** A call that must wait longer for its turn fails, and its caller decides. */
const MAX_WAIT_MS = 10_000
const USER_AGENT = 'DiscordBot (https://github.com/deckhand/deckhand, 1)'
/** “Missing Access” and “Missing Permissions”. */
const MISSING_ACCESS = new Set([50_001, 50_013])

type DiscordApiDeps = { access: ChannelAccess; fetch: OutboundFetch; clock: Clock; onRoundTrip(): void }

export function createDiscordApi({ access, fetch, clock, onRoundTrip }: DiscordApiDeps): DiscordApi {
  const root = (access.baseUrl ?? OFFICIAL_BASE).replace(/\/+$/, '')
  const server = access.baseUrl === null ? 'Discord' : createMessage('chat_own_server', { host: new URL(root).host })
  let applicationId = applicationIdIn(access.token)
  const buckets = createRateBuckets(clock)
  const within = createCaller<TroubleKind>({ server, clock, onRoundTrip }, () => null)

  async function send(method: Method, path: string, call: Call, signal: AbortSignal): Promise<unknown> {
    const bucket = buckets.of(method, path)
    for (let wait = bucket.take(); wait > 0; wait = bucket.take()) {
      if (wait > MAX_WAIT_MS)
        throw new CallFailed(trouble('slow_down', createMessage('chat_slow_down', { server }), { retryAfterMs: wait }))
      await clock.sleep(wait, signal)
    }
    const { type, bytes } = await bodyOf(call)
    const response = await fetch(`${root}/v10${path}`, {
      method,
      headers: { authorization: `Bot ${access.token}`, 'user-agent': USER_AGENT, ...type },
      body: bytes,
      signal,
      redirect: 'error',
      onBytes: limitBytes(MAX_RESPONSE_BYTES, server),
    })
    bucket.note(response.headers)
    const content = await response.text()
    if (response.ok) return content === '' ? null : JSON.parse(content)
    throw new CallFailed(troubleOf(response, content, bucket.block))
  }

  function troubleOf({ status, headers }: Response, content: string, block: (ms: number, isGlobal: boolean) => void): Trouble {
    const { code, message, retryAfter } = readError(content)
    const words = wordsOf(message, access.token)
    if (status === 429) {
      const seconds = typeof retryAfter === 'number' ? retryAfter : Number(headers.get('retry-after') ?? Number.NaN)
      const waitMs = Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : null
      if (waitMs !== null) block(waitMs, headers.has('x-ratelimit-global'))
      return trouble('slow_down', createMessage('chat_slow_down', { server }), { retryAfterMs: waitMs })
    }
    if (status === 401) return trouble('token', createMessage('discord_token_refused', { server }))
    if (status === 413) return trouble('refused', createMessage('chat_too_large', { server }))
    if (status >= 500) return trouble('service', createMessage('chat_in_trouble', { server, status: String(status), words }))
    // Without a code it comes from something in front of the service.
    if (code === null) return trouble('unreachable', createMessage('chat_not_understood', { server }))
    if (MISSING_ACCESS.has(code))
      return trouble('forbidden', createMessage('discord_permissions', { words, link: inviteLink(applicationId) }))
    if (status === 403) return trouble('forbidden', createMessage('chat_not_delivered', { server, words }))
    // The names of the refused fields are beside the message.
    return trouble('refused', createMessage('chat_refused', { server, words }), { words: content.replaceAll(access.token, '…') })
  }

  return {
    get applicationId() {
      return applicationId
    },
    set applicationId(id) {
      applicationId = id
    },
    server,
    call: (method, path, call) => within(call, (signal) => send(method, path, call, signal)),

    download: (url, { maxBytes, ...options }) =>
      within(options, async (signal) => {
        const problem = createMessage('chat_bad_address', { server })
        if (!isOfService(url, access.baseUrl)) throw new CallFailed(trouble('refused', problem))
        const response = await fetch(url, { signal, redirect: 'error', onBytes: limitBytes(maxBytes, server) })
        if (response.ok) return new Uint8Array(await response.arrayBuffer())
        await response.body?.cancel()
        const refusal = createMessage('chat_file_refused', { server, status: String(response.status) })
        throw new CallFailed(trouble(response.status >= 500 ? 'service' : 'refused', refusal))
      }),
  }
}

/**
 * Whether the service may name this address: its own hosts over TLS, or the host of `baseUrl`. A response or a message could name
 * any other one, also in the network of this machine.
 */
export function isOfService(address: string, baseUrl: string | null): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, username, password } = new URL(address)
  if (username !== '' || password !== '') return false
  if (baseUrl !== null) return hostname === new URL(baseUrl).hostname && /^(http|ws)s?:$/.test(protocol)
  return OFFICIAL_HOSTS.test(hostname) && /^(https|wss):$/.test(protocol)
}

/** Adds the bot to a server, with what it needs there. Also how people reach it who share no server with it. */
export function inviteLink(applicationId: string): string {
  return `https://discord.com/oauth2/authorize?client_id=${applicationId}&scope=bot+applications.commands&permissions=${PERMISSIONS}`
}

/** See channels, send messages there and in threads, attach files, read what was missed. */
const PERMISSIONS = (1n << 10n) | (1n << 11n) | (1n << 15n) | (1n << 16n) | (1n << 38n)

/** A token begins with the id of the bot, which is the id of its application, apart from very old ones. */
function applicationIdIn(token: string): string {
  const id = Buffer.from(token.split('.')[0]!, 'base64').toString('latin1')
  return /^\d{17,20}$/.test(id) ? id : ''
}

function readError(content: string): { code: number | null; message: unknown; retryAfter: unknown } {
  try {
    const error = JSON.parse(content) as { code?: unknown; message?: unknown; retry_after?: unknown } | null
    return { code: typeof error?.code === 'number' ? error.code : null, message: error?.message, retryAfter: error?.retry_after }
  } catch {
    return { code: null, message: null, retryAfter: null }
  }
}

async function bodyOf({ body, file }: Call): Promise<{ type: Record<string, string>; bytes: string | Uint8Array<ArrayBuffer> | null }> {
  if (file === undefined) return body === undefined ? { type: {}, bytes: null } : { type: JSON_TYPE, bytes: JSON.stringify(body) }
  const form = new FormData()
  form.append('payload_json', JSON.stringify(body))
  form.append('files[0]', new Blob([Buffer.from(file.bytes)]), file.name)
  const encoded = new Response(form)
  return { type: { 'content-type': encoded.headers.get('content-type')! }, bytes: new Uint8Array(await encoded.arrayBuffer()) }
}

const JSON_TYPE = { 'content-type': 'application/json' }
