import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { credentialKey } from '../lib/vault.ts'
import { createTestRunner, TEST_SECRET, type TestRunner } from '../testing/create-test-runner.ts'
import { createRunnerClient } from '../testing/runner-client.ts'

const TOKEN = 'token-of-the-mcp-server-0123456789'
const RENEWED = 'renewed-token-of-the-mcp-server-01234'
const SESSION = 's'.repeat(43)

/** An MCP server that is its own authorization server, and checks what a careful one checks. */
type ServeOptions = { metadata?: object; registers?: boolean; tokens?: { expires_in?: number; refresh_token?: string } }

async function serve({ metadata = {}, registers = true, tokens = { expires_in: 3600, refresh_token: 'refresh' } }: ServeOptions = {}) {
  const asked: { path: string; body: string }[] = []
  const codes = new Map<string, { challenge: string; redirectUri: string; clientId: string; resource: string }>()
  let registered: { redirect_uris: string[] } | null = null
  /** null: it accepts none. */
  let accepted: string | null = TOKEN
  const respond = (
    path: string,
    body: string,
    origin: string,
    bearer?: string,
  ): [status: number, body: object, headers?: Record<string, string>] => {
    if (path === '/mcp' && accepted !== null && bearer === `Bearer ${accepted}`) return answerMcp(body)
    switch (path) {
      case '/.well-known/oauth-protected-resource/mcp':
        return [200, { resource: `${origin}/mcp`, authorization_servers: [origin] }]
      case '/.well-known/oauth-authorization-server':
        return [
          200,
          {
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            ...(registers ? { registration_endpoint: `${origin}/register` } : {}),
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
            token_endpoint_auth_methods_supported: ['none'],
            authorization_response_iss_parameter_supported: true,
            ...metadata,
          },
        ]
      case '/register':
        registered = JSON.parse(body) as { redirect_uris: string[] }
        return [201, { client_id: 'deckhand-1', ...registered }]
      case '/token': {
        const form = new URLSearchParams(body)
        if (form.get('grant_type') === 'refresh_token') return [200, { access_token: RENEWED, token_type: 'Bearer' }]
        const code = codes.get(form.get('code') ?? '')
        const isRight =
          code !== undefined &&
          createHash('sha256')
            .update(form.get('code_verifier') ?? '')
            .digest('base64url') === code.challenge &&
          form.get('redirect_uri') === code.redirectUri &&
          form.get('client_id') === code.clientId &&
          form.get('resource') === code.resource
        return isRight ? [200, { access_token: TOKEN, token_type: 'Bearer', ...tokens }] : [400, { error: 'invalid_grant' }]
      }
      default:
        return [401, {}, { 'www-authenticate': `Bearer scope="mcp"` }]
    }
  }
  const server: Server = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk: Buffer) => (body += chunk.toString()))
    req.on('end', () => {
      asked.push({ path: req.url!, body })
      const [status, given, headers = {}] = respond(req.url!, body, `http://${req.headers.host}`, req.headers.authorization)
      res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(given))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    asked,
    close: () => server.close(),
    /** From now on it refuses all others. */
    accept: (token: string | null) => void (accepted = token),
    /** What a person does in the browser. */
    approve(url: URL): string {
      const value = (name: string) => url.searchParams.get(name)!
      const given = {
        challenge: value('code_challenge'),
        redirectUri: value('redirect_uri'),
        clientId: value('client_id'),
        resource: value('resource'),
      }
      codes.set('code-1', given)
      return new URLSearchParams({ code: 'code-1', state: value('state'), iss: origin }).toString()
    },
  }
}

/** As the protocol wants it of a server with one tool. */
function answerMcp(body: string): [status: number, body: object] {
  const { id, method } = JSON.parse(body === '' ? '{}' : body) as { id?: number; method?: string }
  if (id === undefined) return [method === undefined ? 405 : 202, {}]
  const result =
    method === 'initialize'
      ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'acme', version: '1' } }
      : { tools: [{ name: 'search', inputSchema: { type: 'object' } }] }
  return [200, { jsonrpc: '2.0', id, result }]
}

describe('a sign-in at an MCP server', () => {
  let runner: TestRunner
  let site: Awaited<ReturnType<typeof serve>>
  afterEach(async () => {
    await runner.stop()
    site.close()
  })

  async function start(options: Parameters<typeof serve>[0] = {}): Promise<string> {
    site = await serve(options)
    runner = await createTestRunner()
    await runner.client.ok('updateSettings', { body: { openedHosts: [new URL(site.origin).host] } })
    const { server } = await runner.client.ok('createMcpServer', {
      body: { name: 'Acme', transport: { kind: 'http', url: `${site.origin}/mcp` } },
    })
    return server.id
  }

  const asDashboard = () => createRunnerClient(runner.url, TEST_SECRET)

  it('finds out where, registers Deckhand, and calls the server with the account from then on', async () => {
    const mcpServerId = await start()
    const before = await runner.client.ok('testMcpServer', { params: { mcpServerId } })
    expect(before).toMatchObject({ ok: false, server: { status: 'needs_sign_in' } })
    const { authorization } = await runner.client.ok('signInToMcpServer', { params: { mcpServerId }, body: {} })
    const provider = `mcp-${mcpServerId}`
    expect(authorization).toMatchObject({ connector: 'mcp', status: 'waiting', mcpServerId })
    expect(authorization.redirectUri).toMatch(new RegExp(`/api/oauth/${provider}/callback$`))
    expect(site.asked.find(({ path }) => path === '/register')?.body).toContain(authorization.redirectUri)
    const params = { authorizationId: authorization.id }
    const begun = await asDashboard().ok('beginAuthorization', { params, body: { provider, session: SESSION } })
    const url = new URL(begun.url)
    expect(url.origin + url.pathname).toBe(`${site.origin}/authorize`)
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: 'deckhand-1',
      resource: `${site.origin}/mcp`,
      scope: 'mcp',
      code_challenge_method: 'S256',
      redirect_uri: authorization.redirectUri,
    })
    const query = site.approve(url)
    const finished = await asDashboard().ok('finishAuthorization', { params, body: { provider, session: SESSION, query } })
    expect(finished.authorization).toMatchObject({ status: 'connected' })
    const { credentials } = await runner.client.ok('listCredentials')
    expect(credentials).toMatchObject([
      { connector: 'mcp', name: 'Acme', mcpServerId, renews: true, scopes: ['mcp'], hosts: ['127.0.0.1'] },
    ])
    const { server } = await runner.client.ok('getMcpServer', { params: { mcpServerId } })
    expect(server.transport).toMatchObject({ credentialId: credentials[0]!.id })
    expect(await runner.vault.get(credentialKey(credentials[0]!.id))).toContain(TOKEN)
    const after = await runner.client.ok('testMcpServer', { params: { mcpServerId } })
    expect(after).toMatchObject({ ok: true, server: { version: 'acme 1', tools: [{ name: 'search' }] } })
    expect(JSON.stringify([server, credentials, runner.logLines])).not.toContain(TOKEN)
  })

  /** Signs in as a person would, and returns the account. */
  async function signIn(mcpServerId: string) {
    const { authorization } = await runner.client.ok('signInToMcpServer', { params: { mcpServerId }, body: {} })
    const [params, provider] = [{ authorizationId: authorization.id }, `mcp-${mcpServerId}`]
    const begun = await asDashboard().ok('beginAuthorization', { params, body: { provider, session: SESSION } })
    const query = site.approve(new URL(begun.url))
    await asDashboard().ok('finishAuthorization', { params, body: { provider, session: SESSION, query } })
    const { credentials } = await runner.client.ok('listCredentials')
    return credentials.find((credential) => credential.mcpServerId === mcpServerId)!
  }

  it('sends the account to no other address, and no other account to the server', async () => {
    const mcpServerId = await start()
    const account = await signIn(mcpServerId)
    const { server } = await runner.client.ok('getMcpServer', { params: { mcpServerId } })
    const moved = { ...server.transport, url: `${site.origin}/elsewhere` }
    const { server: after } = await runner.client.ok('updateMcpServer', { params: { mcpServerId }, body: { transport: moved } })
    expect(after.transport).toMatchObject({ credentialId: null })
    for (const credentialId of [account.id, '00000000-0000-7000-8000-000000000001']) {
      const transport = { kind: 'http' as const, url: `${site.origin}/mcp`, headerNames: [], credentialId }
      expect(await runner.client.ask('createMcpServer', { body: { transport } })).toMatchObject({
        status: 404,
        body: { error: 'credential_not_found' },
      })
      expect(await runner.client.ask('updateMcpServer', { params: { mcpServerId }, body: { transport } })).toMatchObject({ status: 404 })
    }
  })

  it('needs a sign-in again once its account was disconnected, and leaves no account behind', async () => {
    const mcpServerId = await start()
    const first = await signIn(mcpServerId)
    await runner.client.ok('deleteCredential', { params: { credentialId: first.id } })
    const { server } = await runner.client.ok('getMcpServer', { params: { mcpServerId } })
    expect(server.transport).toMatchObject({ credentialId: null })
    expect(await runner.client.ok('testMcpServer', { params: { mcpServerId } })).toMatchObject({ server: { status: 'needs_sign_in' } })
    const second = await signIn(mcpServerId)
    await runner.client.ok('deleteMcpServer', { params: { mcpServerId } })
    expect(await runner.client.ok('listCredentials')).toEqual({ credentials: [], nextCursor: null })
    expect(await runner.vault.get(credentialKey(second.id))).toBeNull()
  })

  it('renews a token that the server refuses before its time, and makes the call again', async () => {
    const mcpServerId = await start({ tokens: { refresh_token: 'refresh' } })
    const account = await signIn(mcpServerId)
    const test = () => runner.client.ok('testMcpServer', { params: { mcpServerId } })
    expect(await test()).toMatchObject({ ok: true })
    site.accept(RENEWED)
    expect(await test()).toMatchObject({ ok: true })
    expect(await runner.vault.get(credentialKey(account.id))).toContain(RENEWED)
    site.accept(null)
    const before = site.asked.filter(({ path }) => path === '/mcp').length
    expect(await test()).toMatchObject({ ok: false, server: { status: 'needs_sign_in' } })
    expect(site.asked.filter(({ path }) => path === '/mcp').length - before).toBe(2)
  })

  it('asks for a sign-in as long as nobody has signed in, if the token cannot be renewed', async () => {
    const mcpServerId = await start({ tokens: {} })
    await signIn(mcpServerId)
    site.accept(null)
    for (let n = 0; n < 2; n++) {
      const tested = await runner.client.ok('testMcpServer', { params: { mcpServerId } })
      expect(tested).toMatchObject({ ok: false, server: { status: 'needs_sign_in' } })
    }
    site.accept(TOKEN)
    await signIn(mcpServerId)
    expect(await runner.client.ok('testMcpServer', { params: { mcpServerId } })).toMatchObject({ ok: true })
  })

  it('takes a client ID from the person where Deckhand cannot register', async () => {
    const mcpServerId = await start({ registers: false })
    expect(await runner.client.ask('signInToMcpServer', { params: { mcpServerId }, body: {} })).toMatchObject({
      status: 422,
      body: { error: 'authorization_refused', detail: { code: 'mcp_sign_in_no_client', params: { host: new URL(site.origin).host } } },
    })
    const { authorization } = await runner.client.ok('signInToMcpServer', { params: { mcpServerId }, body: { clientId: 'mine' } })
    const body = { provider: `mcp-${mcpServerId}`, session: SESSION }
    const begun = await asDashboard().ok('beginAuthorization', { params: { authorizationId: authorization.id }, body })
    expect(new URL(begun.url).searchParams.get('client_id')).toBe('mine')
  })

  it('is refused where the metadata is not to be trusted, and for programs', async () => {
    const mcpServerId = await start({ metadata: { issuer: 'https://accounts.example' } })
    expect(await runner.client.ask('signInToMcpServer', { params: { mcpServerId }, body: {} })).toMatchObject({
      status: 422,
      body: { detail: { code: 'mcp_sign_in_unsafe', params: { server: 'Acme' } } },
    })
    expect(site.asked.some(({ path }) => path === '/register')).toBe(false)
    const { server } = await runner.client.ok('createMcpServer', { body: { transport: { kind: 'stdio', command: 'x' } } })
    expect(await runner.client.ask('signInToMcpServer', { params: { mcpServerId: server.id }, body: {} })).toMatchObject({
      body: { detail: { code: 'mcp_sign_in_program' } },
    })
    expect((await runner.client.ok('listCredentials')).credentials).toEqual([])
  })
})
