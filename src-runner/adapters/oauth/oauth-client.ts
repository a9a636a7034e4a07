import type { Configuration } from 'openid-client'
import { GuardedFetchError, type GuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { OAuthEndpoints } from '../../contract/connectors.ts'
import type { Message } from '../../contract/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import { createMessage } from '../../lib/messages.ts'
import { readAccountName } from '../../execution/account-call.ts'
import { createBoundedFetch } from './bounded-fetch.ts'

/** A service as one client of it. `resource`: what the tokens are for (RFC 8707). */
export type OAuthService = {
  name: string
  endpoints: OAuthEndpoints & { namesItself?: boolean }
  clientId: string
  clientSecret: string | null
  resource: string | null
}

export type IssuedTokens = {
  accessToken: string
  /** null: the one before stays, if there is one. */
  refreshToken: string | null
  expiresInMs: number | null
  scope: string | null
  /** From a verified ID token. */
  accountName: string | null
}

/**
 * What a service did instead of giving tokens. refused: asking again changes nothing. unreachable: it may. waiting and slower:
 * nobody has entered the code yet.
 */
export type OAuthFault = { state: 'refused' | 'unreachable' | 'waiting' | 'slower'; problem: Message }
export type Issued = { state: 'issued'; tokens: IssuedTokens } | OAuthFault

/** Loads with the first sign-in. */
const load = () => import('openid-client')

/** Ten years. More would not fit into a moment. */
const MAX_EXPIRY_S = 10 * 365 * 24 * 3600
/** Errors that pass. All others need a person. */
const PASSING = new Set(['temporarily_unavailable', 'server_error', 'slow_down', 'rate_limited', 'ratelimited', 'timeout'])
const WORDS = /[^\p{L}\p{N}\p{P}\p{Zs}\p{S}]/gu
const MAX_WORDS = 200

export type OAuthClient = ReturnType<typeof createOAuthClient>

/** OAuth 2.0 and OpenID Connect with one service at a time. Each request is bounded in time and bytes, and follows no redirect. */
export function createOAuthClient(deps: { fetch: GuardedFetch; clock: Clock }) {
  const boundedFetch = createBoundedFetch(deps)

  async function configure(service: OAuthService, { keepsIdToken = false } = {}): Promise<Configuration> {
    const client = await load()
    const { endpoints, clientId, clientSecret } = service
    const { authorizationUrl, tokenUrl, revocationUrl, deviceUrl, clientAuth } = endpoints
    const metadata = {
      issuer: endpoints.issuer ?? new URL(authorizationUrl).origin,
      authorization_endpoint: authorizationUrl,
      token_endpoint: tokenUrl,
      ...(revocationUrl === null ? {} : { revocation_endpoint: revocationUrl }),
      ...(deviceUrl === null ? {} : { device_authorization_endpoint: deviceUrl }),
      authorization_response_iss_parameter_supported: endpoints.namesItself === true,
    }
    const auth =
      clientSecret === null || clientAuth === 'none'
        ? client.None()
        : clientAuth === 'basic'
          ? client.ClientSecretBasic(clientSecret)
          : client.ClientSecretPost(clientSecret)
    const config = new client.Configuration(metadata, clientId, clientSecret ?? undefined, auth)
    config[client.customFetch] = boundedFetch(keepsIdToken)
    // `requireSafe` has judged the addresses: plain HTTP is for this machine only.
    client.allowInsecureRequests(config)
    return config
  }

  async function asking(service: OAuthService, ask: () => Promise<IssuedTokens>): Promise<Issued> {
    try {
      return { state: 'issued', tokens: await ask() }
    } catch (error) {
      return faultOf(error, service)
    }
  }

  return {
    /** Reads the addresses of a service from its metadata (RFC 8414, OpenID). Returns what went wrong. */
    async discover(issuer: string, name: string): Promise<{ endpoints: OAuthEndpoints; namesItself: boolean } | OAuthFault> {
      const client = await load()
      let fault: OAuthFault | null = null
      for (const algorithm of ['oidc', 'oauth2'] as const) {
        try {
          const options = { algorithm, [client.customFetch]: boundedFetch(false), execute: [client.allowInsecureRequests] }
          return readMetadata((await client.discovery(new URL(issuer), 'unknown', undefined, undefined, options)).serverMetadata())
        } catch (error) {
          fault ??= faultOf(error, { name })
        }
      }
      return fault!
    },

    /** Where a browser signs in. `verifier` is for PKCE. Throws for addresses that are not usable. */
    async authorizationUrl(
      service: OAuthService,
      request: { redirectUri: string; scopes: readonly string[]; state: string; verifier: string; nonce: string | null },
    ): Promise<URL> {
      const client = await load()
      const { endpoints, resource } = service
      const { redirectUri, scopes, state, verifier, nonce } = request
      const challenge = { code_challenge: await client.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' }
      return client.buildAuthorizationUrl(await configure(service), {
        ...endpoints.parameters,
        response_type: 'code',
        redirect_uri: redirectUri,
        state,
        ...(scopes.length === 0 ? {} : { scope: scopes.join(endpoints.scopeSeparator) }),
        ...(nonce === null ? {} : { nonce }),
        ...(endpoints.usesPkce ? challenge : {}),
        ...(resource === null ? {} : { resource }),
      })
    },

    /** `answer`: the redirect URI with what the service added to it. Its state has been checked. */
    async exchange(
      service: OAuthService,
      { answer, state, verifier, nonce }: { answer: URL; state: string; verifier: string; nonce: string | null },
    ): Promise<Issued> {
      const wrong = wrongIssuer(answer, service)
      if (wrong !== null) return wrong
      const url = new URL(answer)
      if (service.endpoints.issuer === null) url.searchParams.delete('iss')
      return asking(service, async () => {
        const client = await load()
        const config = await configure(service, { keepsIdToken: nonce !== null })
        const checks = {
          expectedState: state,
          ...(service.endpoints.usesPkce ? { pkceCodeVerifier: verifier } : {}),
          ...(nonce === null ? {} : { expectedNonce: nonce }),
        }
        const given = await client.authorizationCodeGrant(config, url, checks, resourceOf(service))
        return tokensOf(given, given.claims())
      })
    },

    refresh: (service: OAuthService, refreshToken: string): Promise<Issued> =>
      asking(service, async () => {
        const client = await load()
        return tokensOf(await client.refreshTokenGrant(await configure(service), refreshToken, resourceOf(service)))
      }),

    /** Asks for a code that a person types on another device (RFC 8628). */
    async startDevice(service: OAuthService, scopes: readonly string[]) {
      try {
        const client = await load()
        const scope: Record<string, string> = scopes.length === 0 ? {} : { scope: scopes.join(service.endpoints.scopeSeparator) }
        const given = await client.initiateDeviceAuthorization(await configure(service), { ...scope, ...resourceOf(service) })
        return { state: 'started' as const, ...given }
      } catch (error) {
        return faultOf(error, service)
      }
    },

    /** Whether the person has entered the code. */
    pollDevice: (service: OAuthService, deviceCode: string): Promise<Issued> =>
      asking(service, async () => {
        const client = await load()
        const parameters = { device_code: deviceCode, ...resourceOf(service) }
        const grant = 'urn:ietf:params:oauth:grant-type:device_code'
        return tokensOf(await client.genericGrantRequest(await configure(service), grant, parameters))
      }),

    /** null: the service has no revocation (RFC 7009). */
    async revoke(service: OAuthService, token: string): Promise<boolean | null> {
      if (service.endpoints.revocationUrl === null) return null
      try {
        const client = await load()
        await client.tokenRevocation(await configure(service), token)
        return true
      } catch {
        return false
      }
    },
  }
}

function resourceOf({ resource }: OAuthService): Record<string, string> {
  return resource === null ? {} : { resource }
}

type Given = { access_token: string; refresh_token?: string; expires_in?: number; scope?: string }

function tokensOf(given: Given, claims?: Record<string, unknown>): IssuedTokens {
  // They are sent in headers and forms, where other characters would begin something else (RFC 6749, appendix A).
  if (![given.access_token, given.refresh_token ?? ''].every((token) => /^[\x20-\x7e]*$/.test(token))) {
    throw new TypeError('a token has characters that tokens cannot have')
  }
  const names = [claims?.['email'], claims?.['preferred_username'], claims?.['name']].map(readAccountName)
  return {
    accessToken: given.access_token,
    refreshToken: given.refresh_token ?? null,
    expiresInMs: given.expires_in === undefined ? null : Math.min(given.expires_in, MAX_EXPIRY_S) * 1000,
    scope: given.scope ?? null,
    accountName: names.find((name) => name !== null) ?? null,
  }
}

type Metadata = { issuer: string } & Partial<Record<string, unknown>>

function readMetadata(metadata: Metadata): { endpoints: OAuthEndpoints; namesItself: boolean } | OAuthFault {
  const address = (name: string) => (typeof metadata[name] === 'string' ? metadata[name] : null)
  const methods = metadata['token_endpoint_auth_methods_supported']
  const supports = (method: string) => !Array.isArray(methods) || methods.includes(method)
  const [authorizationUrl, tokenUrl] = [address('authorization_endpoint'), address('token_endpoint')]
  if (authorizationUrl === null || tokenUrl === null) {
    return { state: 'refused', problem: createMessage('oauth_bad_answer', { service: metadata.issuer }) }
  }
  return {
    endpoints: {
      issuer: metadata.issuer,
      authorizationUrl,
      tokenUrl,
      revocationUrl: address('revocation_endpoint'),
      deviceUrl: address('device_authorization_endpoint'),
      clientAuth: supports('client_secret_basic') ? 'basic' : supports('client_secret_post') ? 'body' : 'none',
      scopeSeparator: ' ',
      parameters: {},
      usesPkce: true,
    },
    namesItself: metadata['authorization_response_iss_parameter_supported'] === true,
  }
}

/**
 * Whether the answer comes from another service (RFC 9207): somebody may want the code of one service to be sent to another. A
 * service whose name is not known must at least live at its own address.
 */
function wrongIssuer(answer: URL, { name, endpoints }: OAuthService): OAuthFault | null {
  const named = answer.searchParams.getAll('iss')
  if (named.length === 0) return null
  const isOwn = (iss: string) =>
    endpoints.issuer === null
      ? URL.canParse(iss) && new URL(iss).origin === new URL(endpoints.authorizationUrl).origin
      : iss === endpoints.issuer
  return named.length === 1 && isOwn(named[0]!)
    ? null
    : { state: 'refused', problem: createMessage('oauth_wrong_issuer', { service: name }) }
}

type Thrown = { code?: string; error?: string; error_description?: string; status?: number; cause?: unknown }

function faultOf(thrown: unknown, { name, ...rest }: Pick<OAuthService, 'name'> & Partial<OAuthService>): OAuthFault {
  const network = causesOf(thrown).find((cause) => cause instanceof GuardedFetchError)
  if (network !== undefined) {
    return { state: 'unreachable', problem: createMessage('oauth_unreachable', { service: name, words: network.message }) }
  }
  const { code, error, error_description: description, status } = thrown as Thrown
  if (error === 'authorization_pending') return { state: 'waiting', problem: createMessage('oauth_waiting', { service: name }) }
  if (error === 'slow_down') return { state: 'slower', problem: createMessage('oauth_waiting', { service: name }) }
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR' || code === 'OAUTH_RESPONSE_BODY_ERROR') {
    return problemOf({
      name,
      error: error ?? '',
      description: cleaned(description ?? '', rest),
      isPassing: PASSING.has(error ?? '') || isPassingStatus(status),
    })
  }
  return { state: 'unreachable', problem: createMessage('oauth_bad_answer', { service: name }) }
}

function problemOf({
  name,
  error,
  description,
  isPassing,
}: {
  name: string
  error: string
  description: string
  isPassing: boolean
}): OAuthFault {
  if (error === 'access_denied') return { state: 'refused', problem: createMessage('oauth_denied', { service: name }) }
  if (error === 'expired_token') return { state: 'refused', problem: createMessage('oauth_code_expired', { service: name }) }
  if (/^(invalid_client|incorrect_client_credentials|bad_client_secret)$/.test(error)) {
    return { state: 'refused', problem: createMessage('oauth_client_refused', { service: name }) }
  }
  const words = description || (/^\w{1,60}$/.test(error) ? error : '?')
  const state = isPassing ? 'unreachable' : 'refused'
  return { state, problem: createMessage('oauth_refused', { service: name, words }) }
}

/** Whether the service says that it is busy or broken, whatever name it gives the error. */
function isPassingStatus(status = 0): boolean {
  return status >= 500 || status === 429 || status === 408
}

/** The words of a service on one line, without what it was told in confidence. */
function cleaned(words: string, { clientSecret }: Partial<OAuthService>): string {
  const line = words.replace(WORDS, ' ').trim()
  return (clientSecret == null ? line : line.replaceAll(clientSecret, '***')).slice(0, MAX_WORDS)
}

function causesOf(thrown: unknown): unknown[] {
  const causes: unknown[] = []
  for (let cause = thrown; cause instanceof Error && causes.length < 10; cause = cause.cause) causes.push(cause)
  return causes
}
