import { randomBytes } from 'node:crypto'
import { renderMessage } from '../../resources/locales/translate.ts'
import type { Authorization, CreateAuthorization } from '../../src-runner/contract/credentials.ts'
import { ERROR_STATUS, ErrorBody, type ErrorCode } from '../../src-runner/contract/errors.ts'
import type { Caller } from '../dashboard/access.ts'
import { API_HEADERS } from '../dashboard/hardening.ts'
import type { OneTimeTokens } from '../dashboard/one-time-tokens.ts'
import { isPlainJson, readBody, type DashboardRequest } from '../dashboard/requests.ts'
import { json, refusal, text, wrongMethod, type DashboardResponse } from '../dashboard/responses.ts'
import { CONNECT_SCRIPT, connectedPage, connectPage, failedPage, type PageSpeech } from './pages.ts'
import { createSignInCookie, endSignInCookie, readSignInCookie, SIGN_IN_LIVES_MS, type SignInState } from './sign-in-cookie.ts'

/** Who sends a request, or why they may not sign in at services. `hasLink`: it has a valid one-time link. */
type MayStart = (hasLink: boolean) => Promise<Caller | ErrorCode>

type Answer<Body> = { status: number; body: Body | ErrorBody }

export type OAuthDeps = {
  /** Calls the runner with the secret. Rejects if there is none. */
  ask<Body>(method: 'GET' | 'POST', path: string, body: object | null, signal: AbortSignal): Promise<Answer<Body>>
  /** Signs the cookies. null: not known yet. */
  secret: () => string | null
  tokens: OneTimeTokens
  /** Whether the person's session still exists and is an owner's. */
  isOwnerSession(session: { personId: string; deviceId: string }): Promise<boolean>
  speech: () => Promise<PageSpeech>
  /** Makes the one-time token of a link. */
  createToken: (authorizationId: string) => string
  now: () => number
}

const START = /^\/api\/oauth\/([a-z0-9-]{1,100})\/start$/
/**
 * Where another site may send a browser: the callback, and the page after it, because browsers remember for a whole chain of
 * redirects that another site began it.
 */
export const FROM_OTHER_SITES = /^(\/api\/oauth\/[a-z0-9-]{1,100}\/callback|\/connect\/done)$/
const CALLBACK = /^\/api\/oauth\/([a-z0-9-]{1,100})\/callback$/
const LINK = '/api/oauth/link'
const FORM_TYPE = /^application\/x-www-form-urlencoded(?:\s*;\s*charset="?utf-8"?)?\s*$/i
const ID = /^[0-9a-f-]{36}$/
/** A path of our own. `//host` and `/\host` lead elsewhere. */
const OWN_PATH = /^\/(?![/\\])[\w/.?=&-]*$/
/** Both mean any service: the type of its credential, and the slug of its connector. */
const GENERAL = ['oauth2', 'generic-oauth2'] as const
const NOBODY = new AbortController().signal

/** No field twice, and nothing that leads elsewhere. */
function isOrderly(fields: URLSearchParams): boolean {
  const [given, next] = [fields.get('authorization'), fields.get('next')]
  if (new Set(fields.keys()).size !== [...fields.keys()].length) return false
  return (given === null || ID.test(given)) && (next === null || OWN_PATH.test(next))
}

/**
 * The browser's part of signing in at a service: the form that starts it, the page that the system browser opens, and the
 * address that the service sends people back to. Tokens never come here.
 */
export function createOAuth(deps: OAuthDeps) {
  async function start(request: DashboardRequest, provider: string, mayStart: MayStart): Promise<DashboardResponse> {
    const isForm = FORM_TYPE.test(request.header('content-type') ?? '')
    const body = isForm ? await readBody(request.body) : ''
    const fields = new URLSearchParams(body ?? '')
    const token = fields.get('token')
    // Whoever may not start a sign-in learns nothing about the form. A link is looked at when the form is in order.
    let caller: Caller | ErrorCode | null = token === null ? await mayStart(false) : null
    if (typeof caller === 'string') return failed(request, caller)
    if (!isForm) return refusal('unsupported_media_type', 'Send the body as a form.')
    if (body === null) return refusal('payload_too_large')
    const [given, next] = [fields.get('authorization'), fields.get('next')]
    if (!isOrderly(fields)) return failed(request, 'invalid_request')
    if (caller === null) {
      if (given === null || !deps.tokens.take(`sign_in:${given}`, token!)) return failed(request, 'link_required')
      const known = await mayStart(true)
      // A link of Deckhand opens in any browser, also in one where nobody has signed in.
      caller = typeof known === 'string' ? { kind: 'program' } : known
    }
    const authorizationId = given ?? (await create(request, provider, fields))
    if (typeof authorizationId !== 'string') return failed(request, authorizationId)
    const session = sessionOf(caller)
    const begin = `/api/authorizations/${authorizationId}/begin`
    const answer = await deps.ask<{ url: string; state: string }>('POST', begin, { provider, session }, request.signal)
    const secret = deps.secret()
    if ('error' in answer.body || secret === null) return failed(request, 'error' in answer.body ? answer.body : 'runner_unavailable')
    const { url, state } = answer.body
    const until = deps.now() + SIGN_IN_LIVES_MS
    const signIn = { authorizationId, provider, state, session, next, until }
    return redirect(url, createSignInCookie(secret, signIn, request.isSecure))
  }

  /** For clients that have no page: the form holds the client's id and secret. */
  async function create(request: DashboardRequest, provider: string, fields: URLSearchParams): Promise<string | ErrorBody> {
    const general = GENERAL.find((name) => name === provider)
    // A form sends its empty fields too.
    const of = (name: string) => fields.get(name)?.trim() || undefined
    const body: Partial<CreateAuthorization> = {
      connector: general === undefined ? provider : 'generic-oauth2',
      redirectAs: general,
      clientId: of('client_id'),
      clientSecret: of('client_secret'),
      name: of('name'),
      scopes: of('scope')?.split(/\s+/),
      ...(of('authorization_url') === undefined
        ? {}
        : {
            endpoints: { authorizationUrl: of('authorization_url')!, tokenUrl: of('token_url') ?? '' },
            hosts: of('hosts')
              ?.split(/[\s,]+/)
              .filter(Boolean),
          }),
    }
    const answer = await deps.ask<{ authorization: Authorization }>('POST', '/api/authorizations', body, request.signal)
    return 'error' in answer.body ? answer.body : answer.body.authorization.id
  }

  async function callback(request: DashboardRequest, provider: string): Promise<DashboardResponse> {
    const query = new URL(request.target, 'http://localhost').searchParams
    const [state, ...more] = query.getAll('state')
    const secret = deps.secret()
    if (secret === null) return failed(request, 'runner_unavailable')
    const isOne = state !== undefined && state !== '' && more.length === 0
    const signIn = isOne ? readSignInCookie(secret, request.header('cookie'), { provider, state }, deps.now()) : null
    if (signIn === null || !(await isSessionAlive(signIn))) return unexpected()
    const answer = await deps.ask<{ authorization: Authorization }>(
      'POST',
      `/api/authorizations/${signIn.authorizationId}/finish`,
      { provider, session: signIn.session, query: query.toString() },
      // The answer counts once, so it is used also if the browser goes away.
      NOBODY,
    )
    const ended = endSignInCookie(signIn, request.isSecure)
    if ('error' in answer.body) return withCookie(await failed(request, answer.body, true), ended)
    return redirect(`/connect/done${signIn.next === null ? '' : `?${new URLSearchParams({ next: signIn.next }).toString()}`}`, ended)
  }

  /** A person who signed out, or is no owner any more, finishes nothing. */
  async function isSessionAlive({ session }: SignInState): Promise<boolean> {
    const [kind, personId = '', deviceId = ''] = session.split(' ')
    return kind !== 'person' || deps.isOwnerSession({ personId, deviceId })
  }

  async function unexpected(): Promise<DashboardResponse> {
    const speech = await deps.speech()
    return failedPage(speech, 400, renderMessage(speech.t, { code: 'oauth_unexpected', params: {} }))
  }

  /** A page for a browser, else JSON. `isAnswer`: of the service, so always a page with 400. */
  async function failed(request: DashboardRequest, reason: ErrorCode | ErrorBody, isAnswer = false): Promise<DashboardResponse> {
    const body: ErrorBody = typeof reason === 'string' ? { error: reason } : reason
    const status = ERROR_STATUS[body.error as ErrorCode] ?? 500
    if (!isAnswer && !(request.header('accept') ?? '').includes('text/html')) return json(status, body)
    const speech = await deps.speech()
    const issue = body.issues?.[0]?.detail
    const problem = issue ?? body.detail ?? { code: `error_${body.error}`, params: {} }
    return failedPage(speech, isAnswer && status < 500 ? 400 : status, renderMessage(speech.t, problem))
  }

  /** The address that starts the sign-in in any browser of this person. null: there is no such sign-in, or it has ended. */
  async function linkTo(authorizationId: string): Promise<string | null> {
    if (!ID.test(authorizationId)) return null
    const answer = await deps.ask<{ authorization: Authorization }>('GET', `/api/authorizations/${authorizationId}`, null, NOBODY)
    if ('error' in answer.body || answer.body.authorization.status !== 'waiting') return null
    const { origin, pathname } = new URL(answer.body.authorization.redirectUri)
    const provider = pathname.split('/')[3]!
    return `${origin}/connect#${provider}/${authorizationId}/${deps.createToken(authorizationId)}`
  }

  /** For a page in a browser: the same link. Its own form could not lead to a service, because its policy keeps forms here. */
  async function makeLink(request: DashboardRequest, mayStart: MayStart): Promise<DashboardResponse> {
    if (!isPlainJson(request)) return refusal('unsupported_media_type', 'Send the body as application/json.')
    const caller = await mayStart(false)
    if (typeof caller === 'string') return refusal(caller)
    const id = authorizationOf(await readBody(request.body))
    const url = id === null ? null : await linkTo(id)
    return url === null ? refusal('authorization_not_found') : json(200, { url })
  }

  return {
    linkTo,
    /** null: the request is for somebody else. */
    async respond(request: DashboardRequest, path: string, mayStart: MayStart): Promise<DashboardResponse | null> {
      const isReading = request.method === 'GET'
      const [starting, returning] = [START.exec(path)?.[1], CALLBACK.exec(path)?.[1]]
      if (starting !== undefined)
        return request.method === 'POST' && request.via === 'http' ? start(request, starting, mayStart) : wrongMethod('POST')
      if (returning !== undefined) return isReading && request.via === 'http' ? callback(request, returning) : wrongMethod('GET')
      if (path === LINK) return request.method === 'POST' ? makeLink(request, mayStart) : wrongMethod('POST')
      if (!isReading || request.via !== 'http') return null
      if (path === '/connect') return connectPage(await deps.speech())
      if (path === '/connect/done') return connectedPage(await deps.speech(), ownPath(request.target))
      if (path === '/connect.js') return text(200, API_HEADERS, 'text/javascript; charset=utf-8', CONNECT_SCRIPT)
      return null
    },
  }
}

function authorizationOf(body: string | null): string | null {
  try {
    const { authorizationId } = Object(JSON.parse(body ?? '')) as { authorizationId?: unknown }
    return typeof authorizationId === 'string' ? authorizationId : null
  } catch {
    return null
  }
}

function ownPath(target: string): string | null {
  const next = new URL(target, 'http://localhost').searchParams.get('next')
  return next !== null && OWN_PATH.test(next) ? next : null
}

/** Different for each sign-in. Of a person, it names the session, which must still be there at the end. */
function sessionOf(caller: Caller): string {
  const own = randomBytes(16).toString('base64url')
  return caller.kind === 'person' ? `person ${caller.person.id} ${caller.deviceId} ${own}` : `${caller.kind} ${own}`
}

function redirect(location: string, cookie?: string): DashboardResponse {
  const headers = { ...API_HEADERS, location, 'content-length': '0', 'cache-control': 'no-store' }
  return { status: 303, headers: cookie === undefined ? headers : { ...headers, 'set-cookie': cookie }, body: null }
}

function withCookie(response: DashboardResponse, cookie: string): DashboardResponse {
  return { ...response, headers: { ...response.headers, 'set-cookie': cookie } }
}
