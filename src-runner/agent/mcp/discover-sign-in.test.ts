import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGuardedFetch } from '../../platform/net/guarded-fetch.ts'
import { discoverSignIn, registerAt, SignInRefused, type SignInPlace } from './discover-sign-in.ts'

type Reply = { status?: number; headers?: Record<string, string>; body?: unknown }
type Site = { origin: string; asked: { method: string; path: string; body: string }[]; replies: Record<string, Reply> }

/** A server on this machine that answers these paths, and 404 for all others. */
async function serve(replies: (origin: string) => Record<string, Reply>): Promise<Site> {
  const asked: Site['asked'] = []
  let known: Record<string, Reply> = {}
  const answer = (req: IncomingMessage, res: ServerResponse, body: string) => {
    asked.push({ method: req.method!, path: req.url!, body })
    const { status = 200, headers = {}, body: given = {} } = known[req.url!] ?? { status: 404 }
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(typeof given === 'string' ? given : JSON.stringify(given))
  }
  const server = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk: Buffer) => (body += chunk.toString()))
    req.on('end', () => answer(req, res, body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  known = replies(origin)
  return { origin, asked, replies: known }
}

/** Open to the servers of this machine that the test names. */
const reaching = (...sites: Site[]) => createGuardedFetch({ opened: sites.map(({ origin }) => new URL(origin).host) })

const PRM = '/.well-known/oauth-protected-resource'
const ASM = '/.well-known/oauth-authorization-server'

function metadataOf(issuer: string, more: object = {}): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    ...more,
  }
}

/** An MCP server at /mcp which names an authorization server of another origin. */
async function world({ resource = {}, metadata = {}, challenge }: { resource?: object; metadata?: object; challenge?: string } = {}) {
  const signIn = await serve((origin) => ({
    [ASM]: { body: metadataOf(origin, metadata) },
    '/register': { status: 201, body: { client_id: 'client-1', redirect_uris: ['http://127.0.0.1:3000/cb'] } },
  }))
  const mcp = await serve((origin) => ({
    '/mcp': {
      status: 401,
      headers: { 'www-authenticate': challenge ?? `Bearer resource_metadata="${origin}${PRM}/mcp", scope="read write"` },
    },
    [`${PRM}/mcp`]: { body: { resource: `${origin}/mcp`, authorization_servers: [signIn.origin], scopes_supported: ['all'], ...resource } },
  }))
  const fetch = reaching(signIn, mcp)
  return { signIn, mcp, fetch, discover: () => discoverSignIn(`${mcp.origin}/mcp`, fetch) }
}

async function problemOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return error instanceof SignInRefused ? error.problem : `no refusal: ${String(error)}`
}

describe('the place to sign in to an MCP server', () => {
  it('is found through the metadata of both servers', async () => {
    const { signIn, mcp, discover } = await world()
    expect(await discover()).toEqual({
      endpoints: {
        issuer: signIn.origin,
        authorizationUrl: `${signIn.origin}/authorize`,
        tokenUrl: `${signIn.origin}/token`,
        revocationUrl: null,
        deviceUrl: null,
        clientAuth: 'none',
        scopeSeparator: ' ',
        parameters: {},
        usesPkce: true,
      },
      resource: `${mcp.origin}/mcp`,
      scopes: ['read', 'write'],
      registration: { url: `${signIn.origin}/register`, auth: 'none', takesMetadataAddress: false },
    })
    expect(mcp.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /mcp', `GET ${PRM}/mcp`])
  })

  it('is found without a hint in the refusal, and at a server without metadata of its own', async () => {
    const { discover, mcp, signIn } = await world({ challenge: 'Bearer' })
    expect((await discover()).scopes).toEqual(['all'])
    const old = await serve((origin) => ({ '/mcp': { status: 401 }, [ASM]: { body: metadataOf(origin) } }))
    expect(await discoverSignIn(`${old.origin}/mcp`, reaching(old))).toMatchObject({ resource: `${old.origin}/mcp`, scopes: [] })
    expect(mcp.asked.length + signIn.asked.length).toBe(3)
  })

  it('is found by OpenID metadata of an issuer with a path', async () => {
    const signIn = await serve((origin) => ({
      '/tenant/.well-known/openid-configuration': {
        body: metadataOf(`${origin}/tenant`, {
          jwks_uri: `${origin}/jwks`,
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        }),
      },
    }))
    const mcp = await serve((origin) => ({
      [`${PRM}/mcp`]: { body: { resource: origin, authorization_servers: [`${signIn.origin}/tenant`] } },
    }))
    const place = await discoverSignIn(`${mcp.origin}/mcp`, reaching(signIn, mcp))
    expect(place.endpoints.tokenUrl).toBe(`${signIn.origin}/tenant/token`)
  })

  it.each<[string, Parameters<typeof world>[0]]>([
    ['metadata of another resource', { resource: { resource: 'https://bank.example/' } }],
    ['metadata of another path', { resource: { resource: 'http://127.0.0.1/other' } }],
    ['another issuer', { metadata: { issuer: 'https://accounts.example' } }],
    ['an authorization address without encryption', { metadata: { authorization_endpoint: 'http://accounts.example/authorize' } }],
    ['a token address with a password in it', { metadata: { token_endpoint: 'https://a:b@accounts.example/token' } }],
    ['a registration address that is a script', { metadata: { registration_endpoint: 'javascript:alert(1)' } }],
    ['no PKCE', { metadata: { code_challenge_methods_supported: undefined } }],
    ['only plain PKCE', { metadata: { code_challenge_methods_supported: ['plain'] } }],
    ['an authorization server without encryption', { resource: { authorization_servers: ['http://accounts.example'] } }],
    ['an authorization server inside of the network', { resource: { authorization_servers: ['https://169.254.169.254/'] } }],
    ['metadata that is none', { metadata: { issuer: 7 } }],
    ['too much metadata', { metadata: { x: 'x'.repeat(300_000) } }],
  ])('is refused with %s', async (_what, given) => {
    const { discover } = await world(given)
    expect(await problemOf(discover())).toBe('unsafe')
  })

  it('is not looked for where a server elsewhere says so', async () => {
    const other = await serve((origin) => ({ '/meta': { body: { resource: origin, authorization_servers: [origin] } } }))
    const { discover } = await world({ challenge: `Bearer resource_metadata="${other.origin}/meta"` })
    await discover()
    expect(other.asked).toEqual([])
  })

  it('is not looked for at closed addresses, nor through redirects', async () => {
    const { mcp, signIn } = await world()
    expect(await problemOf(discoverSignIn(`${mcp.origin}/mcp`, reaching(mcp)))).toBe('unsafe')
    expect(signIn.asked).toEqual([])
    expect(await problemOf(discoverSignIn('http://mcp.example/mcp', reaching(mcp)))).toBe('unsafe')
    mcp.replies[`${PRM}/mcp`] = { status: 302, headers: { location: `${signIn.origin}/steal` } }
    await problemOf(discoverSignIn(`${mcp.origin}/mcp`, reaching(mcp, signIn)))
    expect(signIn.asked).toEqual([])
  })

  it('may not exist, or not answer now', async () => {
    const plain = await serve(() => ({ '/mcp': {} }))
    expect(await problemOf(discoverSignIn(`${plain.origin}/mcp`, reaching(plain)))).toBe('none')
    const { discover, signIn } = await world()
    signIn.replies[ASM] = { status: 503 }
    expect(await problemOf(discover())).toBe('unreachable')
    const { discover: again } = await world({ resource: { authorization_servers: [] } })
    expect(await problemOf(again())).toBe('none')
  })
})

describe('the registration of a client', () => {
  const REDIRECT = { redirectUri: 'http://127.0.0.1:3000/cb', findMetadataAddress: async () => null }

  it('asks for a public client of this machine, and takes what it gets', async () => {
    const { discover, signIn, fetch } = await world()
    expect(await registerAt(await discover(), REDIRECT, fetch)).toEqual({ clientId: 'client-1', clientSecret: null, clientAuth: 'none' })
    expect(JSON.parse(signIn.asked.at(-1)!.body)).toEqual({
      client_name: 'Deckhand',
      redirect_uris: [REDIRECT.redirectUri],
      application_type: 'native',
      scope: 'read write',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
    signIn.replies['/register'] = {
      status: 201,
      body: { client_id: 'c', client_secret: 's', redirect_uris: [REDIRECT.redirectUri], token_endpoint_auth_method: 'client_secret_post' },
    }
    expect(await registerAt(await discover(), REDIRECT, fetch)).toEqual({ clientId: 'c', clientSecret: 's', clientAuth: 'body' })
  })

  it('is not needed where the server takes the address of client metadata', async () => {
    const { discover, signIn, fetch } = await world({ metadata: { client_id_metadata_document_supported: true } })
    const metadataAddress = 'https://deckhand.example/client.json'
    const place = await discover()
    expect(await registerAt(place, { ...REDIRECT, findMetadataAddress: async () => metadataAddress }, fetch)).toMatchObject({
      clientId: metadataAddress,
      clientAuth: 'none',
    })
    expect(await registerAt(place, REDIRECT, fetch)).toMatchObject({ clientId: 'client-1' })
    expect(signIn.asked.filter(({ path }) => path === '/register')).toHaveLength(1)
  })

  it.each<[string, string, Reply | null]>([
    ['is refused', 'refused', { status: 400, body: { error: 'invalid_redirect_uri', error_description: 'x' } }],
    ['answers with no JSON', 'refused', { status: 201, body: '<html>' }],
    ['is redirected', 'unreachable', { status: 307, headers: { location: 'http://127.0.0.1:1/steal' } }],
    [
      'gives a client ID that would end a header',
      'unsafe',
      { status: 201, body: { client_id: 'a\r\nb', redirect_uris: [REDIRECT.redirectUri] } },
    ],
    ['is not offered', 'no_client', null],
    ['is not offered, and there is no address for the other way', 'no_address', null],
  ])('%s: %s', async (_what, problem, reply) => {
    const takesAddresses = { client_id_metadata_document_supported: problem === 'no_address' }
    const metadata = { registration_endpoint: undefined, ...takesAddresses }
    const { discover, signIn, fetch } = await world(reply === null ? { metadata } : {})
    if (reply !== null) signIn.replies['/register'] = reply
    const place: SignInPlace = await discover()
    expect(await problemOf(registerAt(place, REDIRECT, fetch))).toBe(problem)
  })
})
