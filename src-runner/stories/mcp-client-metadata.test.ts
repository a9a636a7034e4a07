import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestRunner, TEST_SECRET, type TestRunner } from '../testing/create-test-runner.ts'
import { startOAuthServer, type OAuthServer } from '../testing/oauth-server/oauth-server.ts'
import { createRunnerClient } from '../testing/runner-client.ts'

const PUBLIC = 'https://deckhand.example'
const SESSION = 's'.repeat(43)

describe('a sign-in at a server that knows its clients by an address', () => {
  let runner: TestRunner
  let signIn: OAuthServer
  let mcp: Server
  /** Where the public address leads. null: to another site. */
  let leadsTo: () => number | null
  beforeEach(async () => {
    leadsTo = () => null
    signIn = await startOAuthServer({ redirectUris: ['http://127.0.0.1:1/unused'], readClientMetadata: outside })
    mcp = createServer(({ url, headers: { host } }, response) => {
      const isMetadata = url === '/.well-known/oauth-protected-resource/mcp'
      response.writeHead(isMetadata ? 200 : 401, { 'content-type': 'application/json' })
      const resource = `http://${host}/mcp`
      response.end(JSON.stringify({ resource, authorization_servers: [signIn.url], scopes_supported: ['notes:read', 'offline_access'] }))
    })
    await new Promise<void>((resolve) => mcp.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    await runner.stop()
    await signIn.stop()
    mcp.close()
  })

  /** The internet: it knows one name. */
  const outside: typeof globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.origin !== PUBLIC) return fetch(input, init)
    const port = leadsTo()
    if (port === null) return Promise.resolve(new Response('{}', { status: 200 }))
    // The library would refuse a private address.
    const { signal, headers, redirect } = init ?? {}
    return fetch(`http://127.0.0.1:${port}${url.pathname}${url.search}`, { signal, headers, redirect })
  }

  async function start(publicRunnerUrl: string | null) {
    runner = await createTestRunner({ fetch: outside, config: { publicRunnerUrl, appUrl: 'http://127.0.0.1:3000' } })
    const mcpUrl = `http://127.0.0.1:${(mcp.address() as AddressInfo).port}/mcp`
    await runner.client.ok('updateSettings', { body: { openedHosts: [signIn.host, new URL(mcpUrl).host] } })
    const { server } = await runner.client.ok('createMcpServer', { body: { name: 'Notes', transport: { kind: 'http', url: mcpUrl } } })
    const { publicAddress } = await runner.client.ok('getPublicAddress')
    return { mcpServerId: server.id, port: publicAddress.ingressPort }
  }
  const ask = (mcpServerId: string) => runner.client.ask('signInToMcpServer', { params: { mcpServerId }, body: {} })

  it('shows a document at the public address of Deckhand, which the server reads', async () => {
    const { mcpServerId, port } = await start(PUBLIC)
    leadsTo = () => port
    const { authorization } = await runner.client.ok('signInToMcpServer', { params: { mcpServerId }, body: {} })
    const dashboard = createRunnerClient(runner.url, TEST_SECRET)
    const [params, provider] = [{ authorizationId: authorization.id }, `mcp-${mcpServerId}`]
    const { url } = await dashboard.ok('beginAuthorization', { params, body: { provider, session: SESSION } })
    const clientId = `${PUBLIC}/webhooks/mcp-client/${mcpServerId}`
    expect(new URL(url).searchParams.get('client_id')).toBe(clientId)
    const query = (await signIn.agree(url)).search
    const finished = await dashboard.ok('finishAuthorization', { params, body: { provider, session: SESSION, query } })
    expect(finished.authorization.status).toBe('connected')
    expect(new URLSearchParams(signIn.of('/token')[0]!.body).get('client_id')).toBe(clientId)
  })

  it('uses no address that leads elsewhere, is not encrypted or does not exist, and says what to do', async () => {
    const { mcpServerId } = await start(PUBLIC)
    const refusal = { status: 422, body: { detail: { code: 'mcp_sign_in_no_address', params: { host: signIn.host } } } }
    expect(await ask(mcpServerId)).toMatchObject(refusal)
    for (const publicRunnerUrl of [null, 'http://deckhand.example']) {
      await runner.stop()
      expect(await ask((await start(publicRunnerUrl)).mcpServerId)).toMatchObject(refusal)
    }
  })

  it('shows the document of no other server, and on no other port', async () => {
    const { mcpServerId, port } = await start(PUBLIC)
    const { server } = await runner.client.ok('createMcpServer', { body: { transport: { kind: 'stdio', command: 'x' } } })
    const path = `/webhooks/mcp-client/${mcpServerId}`
    const request = async (target: string, method = 'GET', at = port!) => {
      const response = await fetch(`http://127.0.0.1:${at}${target}`, { method, headers: { 'x-forwarded-host': 'evil.example' } })
      return [response.status, await response.text()] as const
    }
    const [status, document] = await request(path)
    expect([status, JSON.parse(document)]).toEqual([
      200,
      {
        client_id: PUBLIC + path,
        client_name: 'Deckhand',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: [`http://127.0.0.1:3000/api/oauth/mcp-${mcpServerId}/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ])
    const nothing = [404, '{"error":"not_found"}']
    for (const wrong of [
      `/webhooks/mcp-client/${server.id}`,
      `${path}/`,
      `${path}?a=b`,
      `/a${path}`,
      path.toUpperCase(),
      '/webhooks/mcp-client/',
    ]) {
      expect(await request(wrong)).toEqual(nothing)
    }
    for (const method of ['POST', 'PUT', 'DELETE']) expect(await request(path, method)).toEqual(nothing)
    expect((await request(path, 'GET', runner.port))[0]).not.toBe(200)
    await runner.client.ok('deleteMcpServer', { params: { mcpServerId } })
    expect(await request(path)).toEqual(nothing)
  })
})
