import type { AuthMode } from '../../src-runner/contract/port.ts'
import type { RouteEntry } from '../../src-runner/contract/routes/route.ts'
import { PAGE_KEY_HEADER } from '../contract/browser-api.ts'
import type { SignedIn } from '../sign-in/auth-sessions.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { hasBearer, isSame } from './bearer.ts'
import type { BrowserProof } from './browser-proof.ts'
import { cookiesOf, isFromBrowser, type DashboardRequest } from './requests.ts'

/**
 * Who sends a request. `window`: the app's own window. `program`: it knows the secret, or needs none in this mode. `person`:
 * somebody who signed in.
 */
export type Caller = { kind: 'window' } | { kind: 'program' } | ({ kind: 'person' } & SignedIn)

/** null: a browser in which nobody signed in. The route tables decide alone. */
export function mayCall(caller: Caller | null, route: RouteEntry): boolean {
  if (route.access === 'public') return true
  if (caller === null) return false
  return caller.kind !== 'person' || caller.person.role === 'owner' || route.ownerOnly !== true
}

export type AccessDeps = {
  /** Called for every request. */
  authMode: () => AuthMode
  /** WORKER_SECRET; null while it is not known. */
  secret: () => string | null
  signIn: Pick<SignIn, 'accounts'>
  browserProof: BrowserProof
}

/** Who sends a request, by its way here, its bearer, its cookies, and the mode. */
export function createAccess({ authMode, secret, signIn, browserProof }: AccessDeps) {
  const isOverOpenHttp = ({ via }: DashboardRequest) => via === 'http' && authMode() === 'local-trust'

  /** Whether the page that sends this was opened from Deckhand by a person. */
  function isOpened(request: DashboardRequest): boolean {
    if (hasBearer(request.authorizations, secret())) return true
    const key = browserProof.keyFor(request.header('cookie'))
    return key !== null && isSame(request.header(PAGE_KEY_HEADER) ?? '', key)
  }

  return {
    isOpened,

    /** A browser that must be opened from Deckhand first. */
    needsLink(request: DashboardRequest): boolean {
      return isOverOpenHttp(request) && isFromBrowser(request) && !isOpened(request)
    },

    /** The key for the page that is asked for, if a person opened it: no script of another page can do that and read it. */
    pageKeyFor(request: DashboardRequest): string | null {
      const isByPerson = request.header('sec-fetch-site') === 'none' && request.header('sec-fetch-dest') === 'document'
      return isOverOpenHttp(request) && isByPerson ? browserProof.keyFor(request.header('cookie')) : null
    },

    /**
     * null: nobody signed in. Rejects if the accounts cannot be opened. `hasLink`: a one-time link proves that the request comes
     * from a page of Deckhand, which has no way to send its key with a form.
     */
    async callerOf(request: DashboardRequest, { hasLink = false } = {}): Promise<Caller | null> {
      if (request.via === 'window') return { kind: 'window' }
      if (authMode() === 'local-trust' || hasBearer(request.authorizations, secret())) return { kind: 'program' }
      // A cookie does not excuse a wrong bearer token.
      if (authMode() !== 'local-auth' || request.authorizations.length > 0) return null
      const cookie = cookiesOf(request)
      const signedIn = cookie === undefined ? null : await (await signIn.accounts()).sessionOf(cookie)
      if (signedIn === null) return null
      if (!hasLink && !isSame(request.header(PAGE_KEY_HEADER) ?? '', signedIn.pageKey)) return null
      return { kind: 'person', ...signedIn }
    },
  }
}
