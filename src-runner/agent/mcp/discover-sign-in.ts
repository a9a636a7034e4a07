import type { AuthorizationServerMetadata, OAuthProtectedResourceMetadata } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { OAuthEndpoints } from '../../contract/connectors.ts'
import type { GuardedFetch } from '../../platform/net/guarded-fetch.ts'
import { GuardedFetchError } from '../../platform/net/guarded-fetch.ts'

/**
 * none: the server names no place to sign in. unsafe: what it says does not fit together, or is not encrypted. no_client: Deckhand
 * cannot register there, so the person enters a client ID. no_address: the same, but a public address would do too. refused: it did not
 * register Deckhand. unreachable: try again later.
 */
export type SignInProblem = 'none' | 'unsafe' | 'no_client' | 'no_address' | 'refused' | 'unreachable'

export class SignInRefused extends Error {
  override readonly name = 'SignInRefused'
  readonly problem: SignInProblem

  constructor(problem: SignInProblem, options?: ErrorOptions) {
    super(problem, options)
    this.problem = problem
  }
}

/** Where and for what to sign in to an MCP server. */
export type SignInPlace = {
  endpoints: OAuthEndpoints
  /** What the token is for (RFC 8707). */
  resource: string
  scopes: string[]
  registration: { url: string | null; auth: OAuthEndpoints['clientAuth']; takesMetadataAddress: boolean }
}

export type SignInClient = { clientId: string; clientSecret: string | null; clientAuth: OAuthEndpoints['clientAuth'] }

const MAX_BYTES = 200_000
const MAX_SCOPES = 50
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,300}$/
const CLIENT_TEXT = /^[\x20-\x7e]{1,2000}$/
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Finds out where an MCP server wants its users to sign in: its own metadata (RFC 9728), then that of the authorization server
 * which it names (RFC 8414 or OpenID). The person entered the server's address, so it may be in their network. All else may be
 * hostile: addresses go through the guard and are HTTPS, redirects are not
 * followed, and what does not belong together is refused. Throws SignInRefused.
 */
export async function discoverSignIn(serverAddress: string, fetch: GuardedFetch): Promise<SignInPlace> {
  const server = new URL(serverAddress)
  const isAllowed = allowedBy(server)
  if (!isAllowed(serverAddress)) throw new SignInRefused('unsafe')
  const library = await import('@modelcontextprotocol/sdk/client/auth.js')
  const ask = boundedFetch(fetch, isAllowed, server.origin)
  const challenge = library.extractWWWAuthenticateParams(await ask(server, { method: 'POST', body: HELLO, headers: HELLO_HEADERS }))
  const named = challenge.resourceMetadataUrl
  // An address elsewhere would let one server speak for another.
  const resourceMetadataUrl = named?.origin === server.origin ? named : undefined
  const resource = await optional(library.discoverOAuthProtectedResourceMetadata(server, { resourceMetadataUrl }, ask))
  const issuer = resource === null ? server.origin : resource.authorization_servers?.[0]
  if (issuer === undefined) throw new SignInRefused('none')
  if (!isAllowed(issuer) || (resource !== null && !(await isFor(resource, server)))) throw new SignInRefused('unsafe')
  const metadata = await optional(library.discoverAuthorizationServerMetadata(issuer, { fetchFn: ask }))
  if (metadata === null) throw new SignInRefused('none')
  return placeOf(metadata, {
    issuer,
    isAllowed,
    resource: resource?.resource ?? withoutHash(server),
    scopes: scopesOf(challenge.scope, resource),
  })
}

const HELLO_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const HELLO = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'deckhand', version: '1' } },
})

/** null: there is none. Throws SignInRefused if it cannot be used. */
async function optional<T>(metadata: Promise<T | undefined>): Promise<T | null> {
  try {
    return (await metadata) ?? null
  } catch (error) {
    if (error instanceof SignInRefused) throw error
    // The library's own words for a 404.
    if (error instanceof Error && error.message.includes('does not implement')) return null
    throw new SignInRefused(error instanceof Error && error.message.startsWith('HTTP 5') ? 'unreachable' : 'unsafe', { cause: error })
  }
}

type Found = { issuer: string; isAllowed(address: string): boolean; resource: string; scopes: string[] }

function placeOf(metadata: AuthorizationServerMetadata, { issuer, isAllowed, resource, scopes }: Found): SignInPlace {
  const { authorization_endpoint: authorizationUrl, token_endpoint: tokenUrl } = metadata
  const revocationUrl = textOf((metadata as Record<string, unknown>)['revocation_endpoint'])
  const registrationUrl = textOf(metadata.registration_endpoint)
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const isSafe =
    // Otherwise a server could pass off somebody else's sign-in as its own (RFC 8414, 3.3).
    withoutSlash(metadata.issuer) === withoutSlash(issuer) &&
    [authorizationUrl, tokenUrl, revocationUrl, registrationUrl].every((address) => address === null || isAllowed(address)) &&
    // The protocol demands PKCE, and a server that does not say so does not check it.
    metadata.code_challenge_methods_supported?.includes('S256') === true
  if (!isSafe) throw new SignInRefused('unsafe')
  const clientAuth = methods.includes('none') ? 'none' : methods.includes('client_secret_basic') ? 'basic' : 'body'
  return {
    endpoints: {
      issuer: metadata.issuer,
      authorizationUrl,
      tokenUrl,
      revocationUrl,
      deviceUrl: null,
      clientAuth,
      scopeSeparator: ' ',
      parameters: {},
      usesPkce: true,
    },
    resource,
    scopes,
    registration: {
      url: registrationUrl,
      auth: clientAuth,
      takesMetadataAddress: metadata['client_id_metadata_document_supported'] === true,
    },
  }
}

/**
 * A client ID for a sign-in: the address of Deckhand's client metadata where the server takes that and there is one, else by dynamic
 * registration (RFC 7591). Throws SignInRefused.
 */
export async function registerAt(
  { endpoints, registration, scopes }: SignInPlace,
  { redirectUri, findMetadataAddress }: { redirectUri: string; findMetadataAddress: () => Promise<string | null> },
  fetch: GuardedFetch,
): Promise<SignInClient> {
  const metadataAddress = registration.takesMetadataAddress ? await findMetadataAddress() : null
  if (metadataAddress !== null) return { clientId: metadataAddress, clientSecret: null, clientAuth: 'none' }
  if (registration.url === null) throw new SignInRefused(registration.takesMetadataAddress ? 'no_address' : 'no_client')
  const { registerClient } = await import('@modelcontextprotocol/sdk/client/auth.js')
  const isNative = LOOPBACK.test(new URL(redirectUri).hostname)
  const clientMetadata = {
    client_name: 'Deckhand',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: METHODS[registration.auth],
    application_type: isNative ? 'native' : 'web',
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  }
  const metadata = {
    issuer: endpoints.issuer!,
    authorization_endpoint: endpoints.authorizationUrl,
    token_endpoint: endpoints.tokenUrl,
    registration_endpoint: registration.url,
    response_types_supported: ['code'],
  }
  try {
    const ask = boundedFetch(fetch, (address) => address === registration.url)
    const given = await registerClient(endpoints.issuer!, { metadata, clientMetadata, fetchFn: ask })
    const { client_id: clientId, client_secret: secret = null, token_endpoint_auth_method: method } = given
    if (!CLIENT_TEXT.test(clientId) || (secret !== null && !CLIENT_TEXT.test(secret))) throw new SignInRefused('unsafe')
    return { clientId, clientSecret: secret, clientAuth: secret === null ? 'none' : method === 'client_secret_post' ? 'body' : 'basic' }
  } catch (error) {
    throw error instanceof SignInRefused ? error : new SignInRefused('refused', { cause: error })
  }
}

const METHODS = { none: 'none', basic: 'client_secret_basic', body: 'client_secret_post' } as const

/** HTTPS, or plain HTTP for a server of this machine that names another one of this machine. */
function allowedBy(server: URL): (address: string) => boolean {
  const isLocal = server.protocol === 'http:' && LOOPBACK.test(server.hostname)
  return (address) => {
    if (!URL.canParse(address)) return false
    const { protocol, hostname, username, password, hash } = new URL(address)
    if (username + password + hash !== '') return false
    return protocol === 'https:' || (isLocal && protocol === 'http:' && LOOPBACK.test(hostname))
  }
}

/** The guarded way out as the library's fetch: bounded, and without redirects. */
function boundedFetch(fetch: GuardedFetch, isAllowed: (address: string) => boolean, openedOrigin?: string): FetchLike {
  return async (address, { method = 'GET', headers, body } = {}) => {
    if (!isAllowed(String(address))) throw new SignInRefused('unsafe')
    try {
      const response = await fetch(String(address), {
        method: method === 'POST' ? 'POST' : 'GET',
        headers: Object.fromEntries(new Headers(headers)),
        ...(typeof body === 'string' ? { body } : {}),
        maxBytes: MAX_BYTES,
        follows: () => false,
        ...(openedOrigin === undefined ? {} : { openedOrigin }),
        // A server that needs no sign-in answers with a stream.
        readsBody: (head) => !(head.headers['content-type'] ?? '').startsWith('text/event-stream'),
      })
      if (response.isCut) throw new SignInRefused('unsafe')
      const given = Object.entries(response.headers).filter((entry): entry is [string, string] =>
        /^(content-type|www-authenticate)$/.test(entry[0]),
      )
      const isBodiless = response.status === 204 || response.status === 304 || response.status < 200
      return new Response(isBodiless ? null : response.body.toString('utf8'), { status: Math.max(response.status, 200), headers: given })
    } catch (error) {
      if (!(error instanceof GuardedFetchError)) throw error
      throw new SignInRefused(error.kind === 'closed_address' ? 'unsafe' : 'unreachable', { cause: error })
    }
  }
}

async function isFor({ resource }: OAuthProtectedResourceMetadata, server: URL): Promise<boolean> {
  const { checkResourceAllowed } = await import('@modelcontextprotocol/sdk/shared/auth-utils.js')
  return checkResourceAllowed({ requestedResource: server, configuredResource: resource })
}

/** What the server asked for when it refused, else what it lists. */
function scopesOf(asked: string | undefined, resource: OAuthProtectedResourceMetadata | null): string[] {
  const scopes = asked?.split(' ') ?? resource?.scopes_supported ?? []
  return [...new Set(scopes)].filter((scope) => SCOPE.test(scope)).slice(0, MAX_SCOPES)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function withoutSlash(address: string): string {
  return address.replace(/\/$/, '')
}

function withoutHash(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`
}
