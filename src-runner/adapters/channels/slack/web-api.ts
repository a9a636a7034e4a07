import type { OutboundFetch, OutboundInit } from '../../../platform/net/outbound.ts'
import type { Message } from '../../../contract/messages.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage } from '../../../lib/messages.ts'
import type { ChannelAccess } from '../../../domain/channels/channel-access.ts'
import {
  CallFailed,
  createCaller,
  limitBytes,
  sentenceFor,
  NO_REASON,
  trouble,
  type CallOptions,
  type Result as ResultOf,
  type Trouble as TroubleOf,
} from '../service-calls.ts'

/**
 * Why a call failed. token: Slack does not accept one of the tokens. slow_down: too many calls. forbidden: nobody can be reached
 * in this chat. blocks: the formatting or the buttons. refused: no later try can succeed. service: Slack is in trouble.
 */
type TroubleKind = 'token' | 'slow_down' | 'forbidden' | 'blocks' | 'refused' | 'service'

export type Trouble = TroubleOf<TroubleKind>
export type Result<T> = ResultOf<T, TroubleKind>
/** What Slack returned. Nothing in it is checked yet. */
export type Answer = Record<string, unknown>

/** Slack's Web API with the two tokens of an app. */
export type SlackApi = {
  /** Slack, or the address of somebody's own server. */
  readonly server: string | Message
  call(method: string, args: Record<string, unknown>, options: CallOptions): Promise<Result<Answer>>
  /** With the app-level token. */
  callAsApp(method: string, options: CallOptions): Promise<Result<Answer>>
  download(url: string, options: CallOptions & { maxBytes: number }): Promise<Result<Uint8Array>>
  upload(url: string, bytes: Uint8Array, options: CallOptions): Promise<Result<null>>
  /** Whether an address that Slack named is Slack's own, so that it may see what is meant for Slack. */
  isOwnAddress(url: string): boolean
  /** A response that Slack would not give. */
  notUnderstood(): Trouble
}

const OFFICIAL_ROOT = 'https://slack.com'
/** A page of a history stays far below this. */
const MAX_RESPONSE_BYTES = 8_000_000
/** Otherwise the library tells Slack the version of the system. */
const USER_AGENT = 'Deckhand'

type SlackApiDeps = { access: ChannelAccess; fetch: OutboundFetch; clock: Clock; onRoundTrip(): void }

export function createSlackApi({ access, fetch, clock, onRoundTrip }: SlackApiDeps): SlackApi {
  const root = (access.baseUrl ?? OFFICIAL_ROOT).replace(/\/+$/, '')
  const server = access.baseUrl === null ? 'Slack' : createMessage('chat_own_server', { host: new URL(root).host })
  const link = appLink(access.appToken)
  const callAsBot = createCaller<TroubleKind>({ server, clock, onRoundTrip }, (thrown) => troubleOfRefusal(thrown, troubleOfBot))
  const callAsApp = createCaller<TroubleKind>({ server, clock, onRoundTrip }, (thrown) => troubleOfRefusal(thrown, troubleOfApp))
  const notUnderstood = (): Trouble => trouble('unreachable', createMessage('chat_not_understood', { server }))

  /** The library's errors are recognised by their fields, because their classes are in a module that is loaded late. */
  function troubleOfRefusal(thrown: unknown, troubleOfError: (error: string, needed: string) => Trouble): Trouble | null {
    const { original, data, statusCode } = thrown as { original?: unknown; data?: Answer; statusCode?: number }
    if (original instanceof CallFailed) return original.trouble as Trouble
    if (typeof statusCode === 'number') return troubleOfStatus(statusCode)
    if (data === undefined) return original === undefined ? null : trouble('unreachable', sentenceFor(original, server))
    const { error, needed, response_metadata: about } = data
    // If a response is not JSON, the library puts the whole text into an error.
    if (typeof error !== 'string' || !/^[a-z0-9_]{1,64}$/.test(error)) return notUnderstood()
    const seconds = (about as { retryAfter?: unknown } | undefined)?.retryAfter
    if (TOO_MANY.has(error)) return slowDown(typeof seconds === 'number' ? seconds * 1000 : null)
    return troubleOfError(error, typeof needed === 'string' ? needed.slice(0, 200) : '')
  }

  function slowDown(retryAfterMs: number | null): Trouble {
    return trouble('slow_down', createMessage('chat_slow_down', { server }), { retryAfterMs })
  }

  function troubleOfStatus(status: number): Trouble {
    if (status < 500) return notUnderstood()
    return trouble('service', createMessage('chat_in_trouble', { server, status: String(status), words: NO_REASON }))
  }

  function troubleOfApp(error: string, needed: string): Trouble {
    if (error === 'missing_scope') return trouble('token', createMessage('chat_slack_app_scope', { link: `${link}/general` }))
    const isToken = BAD_TOKEN.has(error) || UNINSTALLED.has(error)
    if (isToken) return trouble('token', createMessage('chat_slack_app_refused', { server, link: `${link}/general` }))
    return troubleOfBot(error, needed)
  }

  function troubleOfBot(error: string, needed: string): Trouble {
    const words = `${error}.`
    if (error === 'missing_scope') return trouble('refused', createMessage('chat_slack_scopes', { scopes: needed, link: `${link}/oauth` }))
    if (UNINSTALLED.has(error)) return trouble('token', createMessage('chat_slack_uninstalled', { link: `${link}/install-on-team` }))
    if (BAD_TOKEN.has(error)) return trouble('token', createMessage('chat_slack_bot_refused', { server, link: `${link}/oauth` }))
    if (error === 'not_in_channel') return trouble('forbidden', createMessage('chat_slack_not_member'))
    if (UNDELIVERABLE.test(error)) return trouble('forbidden', createMessage('chat_not_delivered', { server, words }))
    if (IN_TROUBLE.has(error)) return trouble('service', createMessage('chat_in_trouble', { server, status: error, words: NO_REASON }))
    return trouble(error.includes('block') ? 'blocks' : 'refused', createMessage('chat_refused', { server, words }))
  }

  async function fetchAtMost(maxBytes: number, url: string, init: OutboundInit): Promise<Response> {
    const response = await fetch(url, { ...init, onBytes: limitBytes(maxBytes, server) })
    if (response.status !== 429) return response
    await response.body?.cancel()
    throw new CallFailed(slowDown(retryAfterOf(response)))
  }

  /** A client for one call, because the library cannot cancel a call. It costs a quarter of a millisecond. */
  async function ask(method: string, token: string, args: Record<string, unknown>, signal: AbortSignal): Promise<Answer> {
    const { WebClient } = await import('@slack/web-api')
    const client = new WebClient(token, {
      slackApiUrl: `${root}/api/`,
      allowAbsoluteUrls: false,
      // Retries are ours: they wait on our clock and can be cancelled.
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      headers: { 'User-Agent': USER_AGENT },
      logger: SILENT_LOGGER,
      fetch: (async (url: string, { headers, body }: { headers: Record<string, string>; body: string }) =>
        fetchAtMost(MAX_RESPONSE_BYTES, url, { method: 'POST', headers, body, signal, redirect: 'error' })) as never,
    })
    return { ...(await client.apiCall(method, args)) }
  }

  function isOwnAddress(text: string): boolean {
    if (!URL.canParse(text)) return false
    const { protocol, host, hostname } = new URL(text)
    if (access.baseUrl !== null) return host === new URL(root).host
    return (protocol === 'https:' || protocol === 'wss:') && (hostname === 'slack.com' || hostname.endsWith('.slack.com'))
  }

  function checkAddress(url: string): void {
    if (!isOwnAddress(url)) throw new CallFailed(trouble('refused', createMessage('chat_slack_other_address', { server })))
  }

  return {
    server,
    call: (method, args, options) => callAsBot(options, (signal) => ask(method, access.token, args, signal)),
    callAsApp: (method, options) => callAsApp(options, (signal) => ask(method, access.appToken ?? '', {}, signal)),

    download: (url, { maxBytes, ...options }) =>
      callAsBot(options, async (signal) => {
        checkAddress(url)
        const headers = { authorization: `Bearer ${access.token}`, 'user-agent': USER_AGENT }
        const response = await fetchAtMost(maxBytes, url, { headers, signal, redirect: 'manual' })
        if (response.ok) return new Uint8Array(await response.arrayBuffer())
        await response.body?.cancel()
        // Slack sends those who may not read the file to its sign-in page.
        const isScope = response.status >= 300 && response.status < 400
        if (isScope) throw new CallFailed(troubleOfBot('missing_scope', 'files:read'))
        const problem = createMessage('chat_file_refused', { server, status: String(response.status) })
        throw new CallFailed(trouble(response.status >= 500 ? 'service' : 'refused', problem))
      }),

    upload: (url, bytes, options) =>
      callAsBot(options, async (signal) => {
        checkAddress(url)
        const headers = { 'content-type': 'application/octet-stream', 'user-agent': USER_AGENT }
        const response = await fetchAtMost(MAX_RESPONSE_BYTES, url, {
          method: 'POST',
          headers,
          body: bytes as Uint8Array<ArrayBuffer>,
          signal,
          redirect: 'error',
        })
        await response.body?.cancel()
        if (response.status === 413) throw new CallFailed(trouble('refused', createMessage('chat_too_large', { server })))
        if (!response.ok) throw new CallFailed(troubleOfStatus(response.status))
        return null
      }),

    isOwnAddress,
    notUnderstood,
  }
}

/** The pages of the app at Slack. The id of the app is a part of its app-level token. */
export function appLink(appToken: string | null): string {
  const appId = appIdOf(appToken)
  return appId === null ? 'https://api.slack.com/apps' : `https://api.slack.com/apps/${appId}`
}

export function appIdOf(appToken: string | null): string | null {
  return /^xapp-\d+-(A[A-Z0-9]{5,20})-/.exec(appToken ?? '')?.[1] ?? null
}

const TOO_MANY = new Set(['ratelimited', 'rate_limited', 'message_limit_exceeded'])
const UNINSTALLED = new Set(['account_inactive', 'token_revoked', 'user_removed_from_team', 'team_access_not_granted'])
const BAD_TOKEN = new Set(['invalid_auth', 'not_authed', 'token_expired', 'not_allowed_token_type', 'org_login_required'])
const UNDELIVERABLE =
  /^(channel_not_found|is_archived|is_inactive|user_disabled|user_not_found|user_not_visible|cannot_dm_bot|messages_tab_disabled|restricted_action\w*|thread_not_found|access_denied|no_permission|ekm_access_denied)$/
const IN_TROUBLE = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'team_added_to_org', 'rollup_error'])

/** The library would write requests to the console. */
const SILENT_LOGGER = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, getLevel: () => 'error' as never, setName() {} }

function retryAfterOf(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : null
}
