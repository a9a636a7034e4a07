import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import Provider from 'oidc-provider'
import type { Connector } from '../../contract/connectors.ts'

/** What the service does instead of responding to the next request of its path. */
export type OAuthFault =
  | { kind: 'answer'; status: number; type?: string; body: string }
  /** Answers properly, then these fields replace its own. null: without the field. */
  | { kind: 'fields'; fields: Record<string, unknown> }
  | { kind: 'huge' }
  | { kind: 'redirect'; to: string }
  /** Accepts the request and never responds. */
  | { kind: 'stall' }
  | { kind: 'reset' }
  /** The request takes effect, and the connection breaks before the response. */
  | { kind: 'lost_answer' }
  /** Does its work, and responds only when this resolves. */
  | { kind: 'late'; until: Promise<void> }

export type SentRequest = { method: string; path: string; query: string; body: string; headers: IncomingMessage['headers'] }

export type OAuthServer = {
  url: string
  /** For `openedHosts`. */
  host: string
  clientId: string
  clientSecret: string
  /** Every request, without what pages of the service ask for themselves. */
  requests: SentRequest[]
  /** The requests of a path: `/token`. */
  of(path: string): SentRequest[]
  /** The next request of this path gets the fault. */
  fail(path: string, fault: OAuthFault): void
  /** The account that signs in next. null: nobody does, and the person refuses. */
  account: string | null
  /** A connector for this service, as the catalogue would hold it. */
  connector(slug: string, change?: Partial<Connector['oauth'] & object>): Connector
  /** What a browser does: opens the address, agrees, and follows up to the address that leads back to Deckhand. */
  agree(authorizationUrl: string): Promise<URL>
  /** A person types the code of a device flow. */
  enterCode(userCode: string): Promise<void>
  stop(): Promise<void>
}

export type OAuthServerOptions = {
  redirectUris: string[]
  /** Shows a page with a button, for a real browser. */
  asks?: boolean
  /** Seconds that an access token lives. */
  accessTokenS?: number
  port?: number
  /** Refresh tokens: a new one each time (default), the same one, or none. */
  refreshTokens?: 'rotate' | 'keep' | 'none'
  /** It knows clients by the address of their metadata, and reads it this way. */
  readClientMetadata?: typeof globalThis.fetch
  /** Secondary name of the service, so that two differ. */
  clientId?: string
}

/** A service that signs people in: an authorization server of a certified library, an API behind it, and faults. */
export async function startOAuthServer(options: OAuthServerOptions): Promise<OAuthServer> {
  const requests: SentRequest[] = []
  const faults = new Map<string, OAuthFault[]>()
  const sockets = new Set<Socket>()
  const clientId = options.clientId ?? 'deckhand-of-ada'
  const clientSecret = 'client-secret-canary-7f3b9d2c5a8e1f40'
  const server = createServer((request, response) => void answer(request, response))
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const provider = createProvider(url, { clientId, clientSecret }, options)
  const handle = provider.callback()
  const self: OAuthServer = {
    url,
    host: `127.0.0.1:${port}`,
    clientId,
    clientSecret,
    requests,
    account: 'ada',
    of: (path) => requests.filter((one) => one.path === path),
    fail: (path, fault) => void faults.set(path, [...(faults.get(path) ?? []), fault]),
    connector: (slug, change) => connectorOf(slug, url, change),
    async agree(authorizationUrl) {
      const jar = new Map<string, string>()
      for (let next = new URL(authorizationUrl), hops = 0; hops < 12; hops++) {
        const response = await fetch(next, { redirect: 'manual', headers: { cookie: cookieHeader(jar) } })
        keepCookies(jar, response)
        const to = response.headers.get('location')
        if (to === null) throw new Error(`the service stopped at ${next.pathname}: ${(await response.text()).slice(0, 300)}`)
        next = new URL(to, next)
        if (next.origin !== url) return next
      }
      throw new Error('the service redirects in a circle')
    },
    async enterCode(userCode) {
      const jar = new Map<string, string>()
      const send = async (address: URL, body?: string): Promise<Response> => {
        const form = body === undefined ? {} : { method: 'POST', body }
        const headers = {
          cookie: cookieHeader(jar),
          ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        }
        const response = await fetch(address, { redirect: 'manual', headers, ...form })
        keepCookies(jar, response)
        const to = response.headers.get('location')
        return to === null ? response : send(new URL(to, address))
      }
      const page = await (await send(new URL('/device', url))).text()
      const xsrf = /name="xsrf" value="([^"]*)"/.exec(page)?.[1] ?? ''
      await send(new URL('/device', url), new URLSearchParams({ xsrf, user_code: userCode, confirm: 'yes' }).toString())
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, search: query } = new URL(request.url!, url)
    const isOurs = path !== '/favicon.ico'
    const fault = faults.get(path)?.shift()
    const body = request.method === 'POST' ? await bodyOf(request) : ''
    if (isOurs) requests.push({ method: request.method!, path, query, body, headers: request.headers })
    // The library reads a body that somebody else has read already.
    if (request.method === 'POST') Object.assign(request, { body: Object.fromEntries(new URLSearchParams(body)) })
    if (fault !== undefined && fault.kind !== 'fields' && fault.kind !== 'lost_answer' && fault.kind !== 'late')
      return misbehave(fault, request, response)
    if (fault !== undefined) await changeAnswer(fault, request, response)
    if (path.startsWith('/interaction/')) return interact(request, response)
    if (path === '/me') return tellAccount(request, response)
    handle(request, response)
  }

  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const details = await provider.interactionDetails(request, response)
    const { prompt, params, session } = details
    if (self.account === null) {
      return provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'The person refused.' })
    }
    if (prompt.name === 'login') return provider.interactionFinished(request, response, { login: { accountId: self.account } })
    if (options.asks === true && request.method !== 'POST') {
      response.writeHead(200, { 'content-type': 'text/html' })
      return void response.end(`<!doctype html><title>Allow access</title><form method="post"><button>Allow access</button></form>`)
    }
    const grant = new provider.Grant({ accountId: session!.accountId, clientId: params['client_id']! })
    grant.addOIDCScope(params['scope'] ?? 'openid')
    for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {}))
      grant.addResourceScope(resource, scopes.join(' '))
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true })
  }

  async function tellAccount(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    const token = bearer === undefined ? undefined : await provider.AccessToken.find(bearer)
    response.writeHead(token?.isValid === true ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify(token?.isValid === true ? { user: { login: token.accountId } } : { error: 'invalid_token' }))
  }
  return self
}

function createProvider(url: string, client: { clientId: string; clientSecret: string }, options: OAuthServerOptions): Provider {
  const kind = options.refreshTokens ?? 'rotate'
  return new Provider(url, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: options.redirectUris,
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_post',
        application_type: 'native',
      },
    ],
    scopes: ['openid', 'offline_access', 'notes:read', 'notes:write'],
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@notes.example` }) }),
    // Names in the ID token, as most services give them.
    claims: { openid: ['sub', 'email'] },
    conformIdTokenClaims: false,
    issueRefreshToken: () => kind !== 'none',
    rotateRefreshToken: kind === 'rotate',
    ttl: { AccessToken: options.accessTokenS ?? 3600 },
    pkce: { required: () => true },
    cookies: { keys: ['of the test server'] },
    ...(options.readClientMetadata === undefined ? {} : { fetch: options.readClientMetadata }),
    features: {
      clientIdMetadataDocument: { enabled: options.readClientMetadata !== undefined, ack: 'draft-02' },
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      deviceFlow: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: 'notes:read notes:write',
          audience: resource,
          accessTokenFormat: 'opaque',
        }),
      },
    },
  })
}

function connectorOf(slug: string, url: string, change: Partial<Connector['oauth'] & object> = {}): Connector {
  const text = { en: 'Notes', de: 'Notizen' }
  return {
    slug,
    name: `Notes ${slug}`,
    localName: null,
    description: text,
    category: 'notes',
    logo: { path: 'M0 0', color: '#123456' },
    kind: 'oauth2',
    hosts: [new URL(url).host],
    fields: [],
    docsUrl: null,
    headers: {},
    reads: { get: true, calls: [], graphql: [] },
    oauth: {
      issuer: url,
      authorizationUrl: `${url}/auth`,
      tokenUrl: `${url}/token`,
      revocationUrl: `${url}/token/revocation`,
      deviceUrl: `${url}/device/auth`,
      clientAuth: 'body',
      scopeSeparator: ' ',
      parameters: { prompt: 'consent' },
      usesPkce: true,
      ...change,
    },
    scopes: ['openid', 'offline_access', 'notes:read'].map((scope) => ({ scope, words: text, access: 'read' as const, preset: true })),
    account: { method: 'GET', url: `${url}/me`, body: null, name: ['user', 'login'] },
    steps: [],
    setUpUrl: null,
    keyHeader: null,
    keySteps: [],
    keyUrl: null,
  }
}

function misbehave(fault: OAuthFault, request: IncomingMessage, response: ServerResponse): void {
  if (fault.kind === 'stall') return
  if (fault.kind === 'reset') return void request.socket.destroy()
  if (fault.kind === 'redirect') return void response.writeHead(302, { location: fault.to }).end()
  if (fault.kind === 'answer')
    return void response.writeHead(fault.status, { 'content-type': fault.type ?? 'application/json' }).end(fault.body)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write('{"access_token":"')
  const more = () => {
    while (!response.destroyed && response.write('a'.repeat(65_536)));
  }
  response.on('drain', more)
  more()
}

/** Lets the library answer, and changes what it says. */
async function changeAnswer(fault: OAuthFault, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const end = response.end.bind(response)
  response.end = ((chunk?: string | Buffer) => {
    if (fault.kind === 'lost_answer') return request.socket.destroy()
    if (fault.kind === 'late') return void fault.until.then(() => end(chunk))
    if (fault.kind !== 'fields') return end(chunk)
    const fields = Object.entries({ ...(JSON.parse(String(chunk)) as object), ...fault.fields }).filter(([, value]) => value !== null)
    const text = JSON.stringify(Object.fromEntries(fields))
    response.setHeader('content-length', Buffer.byteLength(text))
    return end(text)
  }) as typeof response.end
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function cookieHeader(jar: Map<string, string>): string {
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
}

function keepCookies(jar: Map<string, string>, response: Response): void {
  for (const cookie of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    if (name !== undefined) jar.set(name, value ?? '')
  }
}
