import type { Readable } from 'node:stream'
import type { ErrorCode } from '../../src-runner/contract/errors.ts'
import { ROUTE_TABLE } from '../../src-runner/contract/route-table.ts'
import { BROWSER_PATH } from '../contract/browser-api.ts'
import { englishText } from '../log/english-text.ts'
import { messageOf, type Log } from '../log/log.ts'
import { problemOf } from '../message-error.ts'
import { createOAuth } from '../oauth/oauth.ts'
import type { PageSpeech } from '../oauth/pages.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { VaultError } from '../vault/vault.ts'
import { createAccess, mayCall, type AccessDeps, type Caller } from './access.ts'
import type { Assets } from './assets.ts'
import { answerAuthRoute } from './auth-routes.ts'
import { handleFetch } from './fetch-handler.ts'
import { findRoute, methodsOf, type KnownRoute } from './known-routes.ts'
import { LOCAL_COMMANDS, type LocalCommand, type OneTimeTokens } from './one-time-tokens.ts'
import { createOpenResponses } from './open-responses.ts'
import { servePage } from './page.ts'
import { cookiesOf, isEmpty, isLocalProgram, isPlainJson, readBody, secured, type DashboardRequest } from './requests.ts'
import { html, json, refusal, unavailable, wrongMethod, type DashboardResponse } from './responses.ts'
import { createRunnerProxy, type RunnerProxyDeps } from './runner-proxy.ts'

export type Dashboard = {
  respond(request: DashboardRequest): Promise<DashboardResponse>
  /** The same with fetch's types, for the window's scheme. */
  handle(request: Request, options: { via: 'window' | 'http' }): Promise<Response>
  /** The address that starts this sign-in at a service in any browser. It works once. null: there is no such sign-in. */
  linkToSignIn(authorizationId: string): Promise<string | null>
  /** In place of a page that the browser takes for one of another site, because encryption was turned on meanwhile. */
  openAgainPage(): Promise<DashboardResponse>
  close(): void
}

export type DashboardDeps = AccessDeps &
  RunnerProxyDeps & {
    /** null: the page has not been built. A request for a file waits for it. */
    assets: Assets | null
    signIn: Pick<SignIn, 'accounts' | 'onChange'>
    /** Tokens of the command line, signed with the key that only the owner of the data folder can read. */
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

const HOW_TO_GET_IN = 'Sign in, or send the header "Authorization: Bearer <WORKER_SECRET>".'

/**
 * The dashboard as one function from request to response: its own health, the page, and the runner's routes behind
 * `/api/` with the bearer added. It knows neither Electron nor a port. Window and HTTP share it, so they behave alike.
 */
export function createDashboard(deps: DashboardDeps): Dashboard {
  const { authMode, log } = deps
  const access = createAccess(deps)
  const proxy = createRunnerProxy(deps)
  const openResponses = createOpenResponses(deps.signIn, log)
  const oauth = createOAuth({
    ask: proxy.ask,
    secret: deps.secret,
    tokens: deps.tokens,
    isOwnerSession: (session) => isOwnerSession(deps.signIn, session),
    speech: deps.speech,
    createToken: deps.createSignInToken,
    now: deps.now ?? Date.now,
  })

  /** Who asks for a sign-in at a service, or why they may not. */
  async function mayStart(request: DashboardRequest, hasLink: boolean): Promise<Caller | ErrorCode> {
    if (access.needsLink(request)) return 'link_required'
    const caller = await access.callerOf(request, { hasLink })
    if (caller === null) return 'unauthorized'
    return mayCall(caller, ROUTE_TABLE.createAuthorization) ? caller : 'owner_only'
  }

  async function respondOAuth(request: DashboardRequest, path: string): Promise<DashboardResponse | null> {
    try {
      return await oauth.respond(request, path, (hasLink) => mayStart(request, hasLink))
    } catch (error) {
      log.error({ error: messageOf(error) }, 'the sign-in at a service failed')
      return error instanceof VaultError ? explained('vault_unavailable', error) : refusal('accounts_unavailable')
    }
  }

  async function respond(request: DashboardRequest): Promise<DashboardResponse> {
    const queryAt = request.target.indexOf('?')
    const path = queryAt === -1 ? request.target : request.target.slice(0, queryAt)
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    if (path === '/api/health') return isReading ? json(200, { ok: true, service: DASHBOARD_SERVICE }) : wrongMethod('GET', 'HEAD')
    if (path === BROWSER_PATH && request.via === 'http' && authMode() === 'local-trust') return openBrowser(request)
    // Without a secret: which of the two a page needs is no secret.
    if (path === BROWSER_PATH && request.method === 'GET' && authMode() === 'local-auth')
      return json(200, { isOpened: false, needsSignIn: true })
    const ofSignIn = await respondOAuth(request, path)
    if (ofSignIn !== null) return ofSignIn
    if (path.startsWith(LOCAL_PATH) && isLocalProgram(request)) return runLocal(request, path.slice(LOCAL_PATH.length))
    if (path === '/api' || path.startsWith('/api/')) return callApi(request, path)
    return isReading ? servePage(deps.assets, request, path, access.pageKeyFor) : refusal('not_found')
  }

  async function callApi(request: DashboardRequest, path: string): Promise<DashboardResponse> {
    const found = findRoute(request.method, path)
    const isAuth = path === '/api/auth' || path.startsWith('/api/auth/')
    if (isAuth && (found === 'unknown' || (request.via === 'http' && authMode() !== 'local-auth'))) return refusal('not_found')
    if (path !== ROUTE_TABLE.openapi.path && access.needsLink(request)) return refusal('link_required')
    try {
      const caller = await access.callerOf(request)
      // Without access, an unknown path looks like a known one.
      if (caller === null && !(typeof found === 'object' && mayCall(null, found.route))) return refusal('unauthorized', HOW_TO_GET_IN)
      if (typeof found !== 'object')
        return found === 'wrong_method' && request.method !== 'OPTIONS' ? wrongMethod(...methodsOf(path)) : refusal('not_found')
      if (!mayCall(caller, found.route)) return refusal('owner_only')
      let body = request.method === 'POST' || request.method === 'PATCH' ? request.body : null
      if (body !== null && !isPlainJson(request)) {
        // Only its end tells that a chunked body is empty, and an empty one may have any type.
        const isNone = request.header('content-length') === undefined && (await isEmpty(body))
        if (!isNone) return refusal('unsupported_media_type', 'Send the body as application/json.')
        body = null
      }
      if (found.auth !== null) return await answerAuth(request, found, body, caller)
      return await proxy.passOn(request, { path, body, caller }, (response) => {
        if (caller?.kind === 'person') openResponses.add(response, { cookies: cookiesOf(request), role: caller.person.role })
      })
    } catch (error) {
      if (error instanceof VaultError) return explained('vault_unavailable', error)
      log.error({ error: messageOf(error), path: typeof found === 'object' ? found.route.path : null }, 'the accounts cannot be used')
      return refusal('accounts_unavailable')
    }
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
    if (cookies !== undefined && request.isSecure) answer.headers['set-cookie'] = [cookies].flat().map(secured)
    return answer
  }

  /** GET: whether this page may call the API. POST: exchanges the token of a link for a cookie and the page's key. */
  async function openBrowser(request: DashboardRequest): Promise<DashboardResponse> {
    if (request.method === 'GET') return json(200, { isOpened: access.isOpened(request), needsSignIn: false })
    if (request.method !== 'POST') return wrongMethod('GET', 'POST')
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
      await (command === 'replace_secret' ? deps.replaceSecret() : openResponses.endRevoked())
      return json(200, { ok: true })
    } catch (error) {
      return explained(error instanceof VaultError ? 'vault_unavailable' : 'invalid_request', error)
    }
  }

  return {
    respond,
    linkToSignIn: oauth.linkTo,
    async openAgainPage() {
      const { t, locale } = await deps.speech()
      return html(403, t('desktop.openAgain'), locale)
    },
    handle: (request, { via }) => handleFetch(respond, request, via),
    close() {
      openResponses.close()
      proxy.close()
    },
  }
}

async function explained(code: ErrorCode, error: unknown): Promise<DashboardResponse> {
  const detail = problemOf(error)
  return refusal(code, await englishText(detail), { detail })
}

/** Whether the session still exists and is an owner's. */
async function isOwnerSession(
  signIn: Pick<SignIn, 'accounts'>,
  { personId, deviceId }: { personId: string; deviceId: string },
): Promise<boolean> {
  const accounts = await signIn.accounts()
  const isOwner = accounts.listPeople().some(({ id, role }) => id === personId && role === 'owner')
  return isOwner && accounts.listDevices({ personId, thisDevice: null }).some(({ id }) => id === deviceId)
}

function tokenOf(body: string | null): string {
  try {
    const { token } = JSON.parse(body ?? '') as { token?: unknown }
    return typeof token === 'string' ? token : ''
  } catch {
    return ''
  }
}
