import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { ROUTES } from '../../src-runner/contract/routes.ts'
import type { ErrorBody, ErrorCode } from '../../src-runner/contract/errors.ts'
import type { AuthMode } from '../../src-runner/contract/port.ts'
import { ROLE_HEADER } from '../../src-runner/contract/routes/route.ts'
import type { Role } from '../contract/auth-api.ts'
import { BROWSER_PATH, PAGE_KEY_HEADER, PAGE_KEY_META } from '../contract/browser-api.ts'
import { messageOf, type Log } from '../log/log.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { VaultError } from '../vault/vault.ts'
import type { Asset, Assets } from './assets.ts'
import { answerAuthRoute, readBody } from './auth-routes.ts'
import { hasBearer, isSame } from './bearer.ts'
import type { BrowserProof } from './browser-proof.ts'
import { createOAuth } from '../oauth/oauth.ts'
import type { PageSpeech } from '../oauth/pages.ts'
import { mayCall, type Caller } from './caller.ts'
import { API_HEADERS, PAGE_HEADERS } from './hardening.ts'
import { findRoute, type KnownRoute } from './known-routes.ts'
import { html, json, refusal, text, type DashboardResponse } from './responses.ts'
import { LOCAL_COMMANDS, type LocalCommand, type OneTimeTokens } from './one-time-tokens.ts'
import { createRunnerLink, type RunnerAddress } from './runner-link.ts'

/** A request from the app's own window over its scheme, or over HTTP. */
export type DashboardRequest = {
  via: 'window' | 'http'
  method: string
  /** Path and query as received. */
  target: string
  /** The value of a header, by its lower-case name. */
  header(name: string): string | undefined
  authorizations: readonly string[]
  /** Of the socket. Headers that name another one are never read. */
  address: string
  /** Whether it came over HTTPS. */
  isSecure: boolean
  /** null: none was sent. */
  body: Readable | null
  /** Aborted when the client is gone. */
  signal: AbortSignal
}

export type Dashboard = {
  respond(request: DashboardRequest): Promise<DashboardResponse>
  /** The same with fetch's types, for the window's scheme. */
  handle(request: Request, options: { via: 'window' | 'http' }): Promise<Response>
  /** The address that starts this sign-in at a service in any browser. It works once. null: there is no such sign-in. */
  linkToSignIn(authorizationId: string): Promise<string | null>
  close(): void
}

export type DashboardDeps = {
  /** null: the page has not been built. */
  assets: Assets | null
  /** Called for every request. null: our runner is not ready. */
  runner: () => RunnerAddress | null
  /** The same for the window, which may open before the runner is ready: waits a while for a runner that is starting. */
  runnerSoon: () => Promise<RunnerAddress | null>
  /** Called for every request. */
  authMode: () => AuthMode
  /** WORKER_SECRET; null while it is not known. */
  secret: () => string | null
  signIn: Pick<SignIn, 'accounts' | 'onChange'>
  browserProof: BrowserProof
  /** Of the command line, signed with the key that only the owner of the data folder can read. */
  tokens: OneTimeTokens
  /** Makes a one-time token for a sign-in at a service. */
  createSignInToken: (authorizationId: string) => string
  /** The person's language, for pages of the dashboard's own. */
  speech: () => Promise<PageSpeech>
  /** Epoch ms. */
  now?: () => number
  /** Replaces the secret of this installation. */
  replaceSecret: () => Promise<unknown>
  log: Log
}

/** Commands of the command line to the Deckhand that runs on the same data folder; `LocalCommand` follows. */
export const LOCAL_PATH = '/api/local/'
export const LOCAL_TOKEN_HEADER = 'x-deckhand-token'
export const DASHBOARD_SERVICE = 'deckhand-dashboard'

/** How often sessions that nobody ended are looked at, because they expire. */
const EXPIRY_CHECK_MS = 60_000
const HOW_TO_GET_IN = 'Sign in, or send the header "Authorization: Bearer <WORKER_SECRET>".'

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
/** Of cookies over HTTPS: only this host, and not from HTTP. */
const SECURE_PREFIX = '__Host-'
const JSON_TYPE = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i

/**
 * The dashboard as one function from request to response: its own health, the page, and the runner's routes behind
 * `/api/` with the bearer added. It knows neither Electron nor a port. Window and HTTP share it, so they behave alike.
 */
export function createDashboard(deps: DashboardDeps): Dashboard {
  const link = createRunnerLink()
  /** Responses that people still read, with the cookie of each. */
  const reading = new Map<Readable, { cookie: string | undefined; role: Role }>()
  const stopFollowing = deps.signIn.onChange(() => void endRevoked())
  const expiry = setInterval(() => void endRevoked(), EXPIRY_CHECK_MS).unref()

  const oauth = createOAuth({
    ask: (method, path, body, signal) => askRunner(method, path, body, signal),
    secret: deps.secret,
    tokens: deps.tokens,
    async isOwnerSession({ personId, deviceId }) {
      const accounts = await deps.signIn.accounts()
      const isOwner = accounts.listPeople().some(({ id, role }) => id === personId && role === 'owner')
      return isOwner && accounts.listDevices({ personId, thisDevice: null }).some(({ id }) => id === deviceId)
    },
    speech: deps.speech,
    createToken: deps.createSignInToken,
    now: deps.now ?? Date.now,
  })

  /** Calls a route of the runner that the dashboard uses itself. */
  async function askRunner<Body>(method: 'GET' | 'POST', target: string, body: object | null, signal: AbortSignal) {
    const unreachable = { status: 503, body: { error: 'runner_unavailable' } satisfies ErrorBody }
    const runner = deps.runner()
    if (runner === null) return unreachable
    try {
      const content = body === null ? null : Readable.from([JSON.stringify(body)])
      const headers = content === null ? {} : { 'content-type': 'application/json' }
      const incoming = await link.call(runner, { method, target, headers, body: content, signal })
      const answer = (await readBody(incoming)) ?? '{"error":"internal"}'
      return { status: incoming.statusCode!, body: JSON.parse(answer) as Body | ErrorBody }
    } catch (error) {
      deps.log.warn({ error: messageOf(error), path: target.split('?')[0] }, 'the runner did not respond')
      return unreachable
    }
  }

  /** Who asks for a sign-in at a service, or why they may not. */
  async function mayStart(request: DashboardRequest): Promise<Caller | ErrorCode> {
    const isOfBrowser = request.via === 'http' && deps.authMode() === 'local-trust' && isFromBrowser(request)
    if (isOfBrowser && !isOpened(request)) return 'link_required'
    const caller = await callerOf(request)
    if (caller === null) return 'unauthorized'
    return mayCall(caller, ROUTES.createAuthorization) ? caller : 'owner_only'
  }

  async function respondOAuth(request: DashboardRequest, path: string): Promise<DashboardResponse | null> {
    try {
      return await oauth.respond(request, path, () => mayStart(request))
    } catch (error) {
      deps.log.error({ error: messageOf(error) }, 'the sign-in at a service failed')
      return refusal(error instanceof VaultError ? 'vault_unavailable' : 'accounts_unavailable')
    }
  }

  async function respond(request: DashboardRequest): Promise<DashboardResponse> {
    const queryAt = request.target.indexOf('?')
    const path = queryAt === -1 ? request.target : request.target.slice(0, queryAt)
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    if (path === '/api/health') return isReading ? json(200, { ok: true, service: DASHBOARD_SERVICE }) : refusal('method_not_allowed')
    if (path === BROWSER_PATH && request.via === 'http' && deps.authMode() === 'local-trust') return openBrowser(request)
    // Without a secret: which of the two a page needs is no secret.
    if (path === BROWSER_PATH && request.method === 'GET' && deps.authMode() === 'local-auth')
      return json(200, { isOpened: false, needsSignIn: true })
    const ofSignIn = await respondOAuth(request, path)
    if (ofSignIn !== null) return ofSignIn
    if (path.startsWith(LOCAL_PATH) && isLocalProgram(request)) return runLocal(request, path.slice(LOCAL_PATH.length))
    if (path === '/api' || path.startsWith('/api/')) return callApi(request, path)
    return isReading ? servePage(request, path) : refusal('not_found')
  }

  async function callApi(request: DashboardRequest, path: string): Promise<DashboardResponse> {
    const found = findRoute(request.method, path)
    const isAuth = path === '/api/auth' || path.startsWith('/api/auth/')
    if (isAuth && (found === 'unknown' || (request.via === 'http' && deps.authMode() !== 'local-auth'))) return refusal('not_found')
    if (request.via === 'http' && deps.authMode() === 'local-trust' && isFromBrowser(request) && path !== ROUTES.openapi.path) {
      if (!isOpened(request)) return refusal('link_required')
    }
    try {
      const caller = await callerOf(request)
      // Without access, an unknown path looks like a known one.
      if (caller === null && !(typeof found === 'object' && mayCall(null, found.route))) return refusal('unauthorized', HOW_TO_GET_IN)
      if (typeof found !== 'object')
        return refusal(found === 'wrong_method' && request.method !== 'OPTIONS' ? 'method_not_allowed' : 'not_found')
      if (!mayCall(caller, found.route)) return refusal('owner_only')
      const body = request.method === 'POST' || request.method === 'PATCH' ? request.body : null
      if (body !== null && !isPlainJson(request)) return refusal('unsupported_media_type', 'Send the body as application/json.')
      return found.auth === null ? await passOn(request, path, body, caller) : await answerAuth(request, found, body, caller)
    } catch (error) {
      if (error instanceof VaultError) return refusal('vault_unavailable', error.message)
      deps.log.error({ error: messageOf(error), path: typeof found === 'object' ? found.route.path : null }, 'the accounts cannot be used')
      return refusal('accounts_unavailable')
    }
  }

  /** null: nobody signed in. Rejects if the accounts cannot be opened. */
  async function callerOf(request: DashboardRequest): Promise<Caller | null> {
    if (request.via === 'window') return { kind: 'window' }
    if (deps.authMode() === 'local-trust' || hasBearer(request.authorizations, deps.secret())) return { kind: 'program' }
    // Whoever sends a wrong bearer is no browser with a cookie.
    if (deps.authMode() !== 'local-auth' || request.authorizations.length > 0) return null
    const cookie = cookiesOf(request)
    const signedIn = cookie === undefined ? null : await (await deps.signIn.accounts()).sessionOf(cookie)
    return signedIn && { kind: 'person', ...signedIn }
  }

  async function answerAuth(
    request: DashboardRequest,
    { auth, params }: KnownRoute,
    body: Readable | null,
    caller: Caller | null,
  ): Promise<DashboardResponse> {
    const client = { address: request.address, userAgent: request.header('user-agent') ?? '', cookie: cookiesOf(request) }
    const isScript = request.header('origin') === undefined && request.header('sec-fetch-site') === undefined
    const answer = await answerAuthRoute(auth!, await deps.signIn.accounts(), { params, body, caller, client, isScript })
    const cookies = answer.headers['set-cookie']
    if (cookies !== undefined && request.isSecure)
      answer.headers['set-cookie'] = [cookies].flat().map((cookie) => `${SECURE_PREFIX}${cookie}; Secure`)
    return answer
  }

  async function passOn(request: DashboardRequest, path: string, body: Readable | null, caller: Caller | null): Promise<DashboardResponse> {
    const runner = deps.runner() ?? (request.via === 'window' ? await deps.runnerSoon() : null)
    if (runner === null) return unavailable()
    const headers: Record<string, string> = {}
    for (const name of PASSED_REQUEST_HEADERS) {
      const value = request.header(name)
      if (value !== undefined && (body !== null || !name.startsWith('content-'))) headers[name] = value
    }
    if (caller?.kind === 'person' && caller.person.role !== 'owner') headers[ROLE_HEADER] = 'member'
    try {
      const { method, target, signal } = request
      const incoming = await link.call(runner, { method, target, headers, body, signal })
      if (caller?.kind === 'person') {
        reading.set(incoming, { cookie: cookiesOf(request), role: caller.person.role })
        incoming.once('close', () => reading.delete(incoming))
      }
      return { status: incoming.statusCode!, headers: passedBack(incoming.headers), body: incoming }
    } catch (error) {
      if (!request.signal.aborted) deps.log.warn({ error: messageOf(error), path }, 'the runner did not respond')
      return unavailable()
    }
  }

  /** Cuts the responses of people whose session has ended or whose role has changed, such as the stream of events. */
  async function endRevoked(): Promise<void> {
    if (reading.size === 0) return
    try {
      const accounts = await deps.signIn.accounts()
      for (const [body, { cookie, role }] of reading) if ((await accounts.sessionOf(cookie))?.person.role !== role) body.destroy()
    } catch (error) {
      deps.log.error({ error: messageOf(error) }, 'the sessions cannot be checked')
      for (const body of reading.keys()) body.destroy()
    }
  }

  /** GET: whether this page may call the API. POST: exchanges the token of a link for a cookie and the page's key. */
  async function openBrowser(request: DashboardRequest): Promise<DashboardResponse> {
    if (request.method === 'GET') return json(200, { isOpened: isOpened(request), needsSignIn: false })
    if (request.method !== 'POST') return refusal('method_not_allowed')
    if (!isPlainJson(request)) return refusal('unsupported_media_type')
    if (deps.secret() === null) return unavailable()
    const opened = deps.browserProof.redeem(tokenOf(await readBody(request.body)))
    if (opened === null) return refusal('link_required')
    const answer = json(200, { key: opened.key })
    return { ...answer, headers: { ...answer.headers, 'set-cookie': opened.cookie } }
  }

  /** The token says what it is good for and works once, so whoever reads one on its way gains nothing. */
  async function runLocal(request: DashboardRequest, command: string): Promise<DashboardResponse> {
    const isKnown = LOCAL_COMMANDS.includes(command) && request.method === 'POST'
    const token = request.header(LOCAL_TOKEN_HEADER) ?? ''
    if (!isKnown || !deps.tokens.take(command as LocalCommand, token)) return refusal('not_found')
    try {
      await (command === 'replace_secret' ? deps.replaceSecret() : endRevoked())
      return json(200, { ok: true })
    } catch (error) {
      return error instanceof VaultError ? refusal('vault_unavailable', error.message) : refusal('invalid_request', messageOf(error))
    }
  }

  function isOpened(request: DashboardRequest): boolean {
    if (hasBearer(request.authorizations, deps.secret())) return true
    const key = deps.browserProof.keyFor(request.header('cookie'))
    return key !== null && isSame(request.header(PAGE_KEY_HEADER) ?? '', key)
  }

  /** With the page's key, if a person opened this page: no script of another page can do that and read it. */
  function serveScreen(request: DashboardRequest, page: Asset): DashboardResponse {
    const isByPerson = request.header('sec-fetch-site') === 'none' && request.header('sec-fetch-dest') === 'document'
    const isAsked = request.via === 'http' && deps.authMode() === 'local-trust' && isByPerson
    const key = isAsked ? deps.browserProof.keyFor(request.header('cookie')) : null
    if (key === null) return serveAsset(request, page)
    const withKey = page.bytes.toString().replace('<head>', `<head><meta name="${PAGE_KEY_META}" content="${key}">`)
    return text(200, PAGE_HEADERS, page.type, withKey)
  }

  function servePage(request: DashboardRequest, path: string): DashboardResponse {
    const { assets } = deps
    if (assets === null) return html(503, 'The page has not been built. Run "npm run build", then start Deckhand again.')
    const page = assets.get('/')
    const asset = assets.get(path) ?? (isScreen(request, path) ? page : undefined)
    if (asset === undefined) return refusal('not_found')
    return asset === page ? serveScreen(request, page) : serveAsset(request, asset)
  }

  return {
    respond,
    linkToSignIn: oauth.linkTo,
    async handle(request, { via }) {
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
        bodiless || body === null
          ? null
          : body instanceof Readable
            ? (Readable.toWeb(body) as unknown as ReadableStream)
            : new Uint8Array(body)
      return new Response(content, { status, headers: fields })
    },
    close() {
      stopFollowing()
      clearInterval(expiry)
      link.close()
    },
  }
}

/** Opening or reloading the path of a screen returns the page. Missing files stay missing. */
function isScreen(request: DashboardRequest, path: string): boolean {
  const last = path.slice(path.lastIndexOf('/') + 1)
  return !last.includes('.') && !path.startsWith('/assets/') && (request.header('accept') ?? '').includes('text/html')
}

function serveAsset(request: DashboardRequest, asset: Asset): DashboardResponse {
  const headers = { ...PAGE_HEADERS, etag: asset.etag, 'cache-control': asset.cacheControl }
  const known = (request.header('if-none-match') ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === asset.etag)
  if (known) return { status: 304, headers, body: null }
  return {
    status: 200,
    headers: { ...headers, 'content-type': asset.type, 'content-length': String(asset.bytes.length) },
    body: asset.bytes,
  }
}

/**
 * The cookies of people who signed in. Over HTTPS they have a prefix, which browsers accept only with `Secure`: a cookie without it
 * may have been read or set on the network. The names differ because a browser keeps a secure cookie from being replaced over HTTP,
 * so nobody could sign in again after encryption was turned off.
 */
function cookiesOf(request: DashboardRequest): string | undefined {
  const cookies = request.header('cookie')
  if (cookies === undefined || !request.isSecure) return cookies
  const secure = cookies.split(/; */).filter((cookie) => cookie.startsWith(SECURE_PREFIX))
  return secure.length === 0 ? undefined : secure.map((cookie) => cookie.slice(SECURE_PREFIX.length)).join('; ')
}

/** A program of this machine. Only the socket tells; headers about the sender can be made up. */
function isLocalProgram(request: DashboardRequest): boolean {
  return request.via === 'http' && /^(::ffff:)?127\.|^::1$/i.test(request.address) && !isFromBrowser(request)
}

/** Every browser adds one of these; a page cannot remove them. Node's fetch sends `sec-fetch-mode` alone. */
function isFromBrowser(request: DashboardRequest): boolean {
  return ['origin', 'sec-fetch-site', 'sec-fetch-dest'].some((name) => request.header(name) !== undefined)
}

function tokenOf(body: string | null): string {
  try {
    const { token } = JSON.parse(body ?? '') as { token?: unknown }
    return typeof token === 'string' ? token : ''
  } catch {
    return ''
  }
}

function isPlainJson(request: DashboardRequest): boolean {
  const encoding = request.header('content-encoding') ?? 'identity'
  return encoding.toLowerCase() === 'identity' && JSON_TYPE.test(request.header('content-type') ?? '')
}

function passedBack(headers: Record<string, string | string[] | undefined>): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = { 'cache-control': 'no-store' }
  for (const [name, value] of Object.entries(headers)) if (value !== undefined && !KEPT_BACK.test(name)) passed[name] = value
  return { ...passed, ...API_HEADERS }
}

function unavailable(): DashboardResponse {
  return refusal(
    'runner_unavailable',
    'The runner is not ready. Deckhand starts it automatically. If this stays, open Deckhand and look at the top of the window.',
  )
}
