import type { RequestListener } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Credential } from '../contract/credentials.ts'
import { createMemoryVault, credentialKey, type Vault } from '../lib/vault.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { findLeaks, readPlaces } from '../testing/secret-scanner.ts'
import { smallInternet, type SmallInternet } from '../testing/small-internet.ts'

const KEY = 'canary-key-of-ada-0815'

describe('an account that is connected by a key', () => {
  let net: SmallInternet
  let runner: TestRunner
  let vault: Vault & { entries?: unknown }
  /** The one key that the services accept. */
  let accepted: string
  let asked: string[]

  const service: RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.headers.host}${request.url}`)
    const isKnown = request.headers.authorization === `Bearer ${accepted}`
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
    response.end(isKnown ? JSON.stringify({ login: 'ada', username: 'ada', ok: true, user: 'ada' }) : '{}')
  }

  beforeEach(async () => {
    net = await smallInternet()
    accepted = KEY
    asked = []
    vault = createMemoryVault()
    for (const host of ['api.github.com', 'git.ada.example']) await net.secureSite(host, service)
    runner = await createTestRunner({ internet: net.options, vault })
  })
  afterEach(() => runner.stop())

  const create = async (body: object) => runner.client.ask('createCredential', { body })
  const created = async (body: object): Promise<Credential> => {
    const { status, body: response } = await create(body)
    if (status !== 201) throw new Error(JSON.stringify(response))
    return (response as { credential: Credential }).credential
  }
  const test = (credentialId: string) => runner.client.ok('testCredential', { params: { credentialId } })
  const vaultOf = async (id: string) => JSON.parse((await vault.get(credentialKey(id)))!) as unknown

  it('is proved by the service, which names it, and its key is in the vault alone', async () => {
    const agent = await runner.addAgent({ name: 'Ada' })
    const credential = await created({ connector: 'github', secret: { key: KEY }, agents: [{ agentId: agent.id, access: 'read' }] })
    expect(credential).toMatchObject({
      connector: 'github',
      kind: 'api_key',
      name: 'GitHub',
      accountName: 'ada',
      hosts: ['api.github.com', 'uploads.github.com'],
      status: 'connected',
      agents: [{ agentId: agent.id, access: 'read', agentName: 'Ada' }],
    })
    expect(asked).toEqual(['GET api.github.com/user'])
    expect(await vaultOf(credential.id)).toEqual({
      kind: 'headers',
      headers: { Authorization: `Bearer ${KEY}` },
      secrets: [KEY],
      sentTo: credential.hosts,
    })
    const places = {
      ...readPlaces(runner.dataDir),
      page: JSON.stringify(await runner.client.ok('listCredentials')),
      log: runner.logLines.join('\n'),
    }
    expect(findLeaks(places, [KEY])).toEqual([])
  })

  it('is not stored when the service refuses it, is not there, or fails', async () => {
    const refused = await create({ connector: 'github', secret: { key: 'wrong' } })
    expect(refused).toMatchObject({
      status: 422,
      body: { error: 'credential_refused', message: expect.stringContaining('GitHub does not accept this key.') as string },
    })
    expect(await create({ connector: 'gitlab', fields: { domain: 'nowhere.example' }, secret: { key: KEY } })).toMatchObject({
      status: 422,
      body: { detail: { code: 'credential_unreachable' } },
    })
    expect(await create({ connector: 'nowhere', secret: { key: KEY } })).toMatchObject({
      status: 404,
      body: { error: 'connector_not_found' },
    })
    expect((await runner.client.ok('listCredentials')).credentials).toEqual([])
  })

  it('is not stored when the service answers that it is not well, whatever its status', async () => {
    let status = 200
    await net.secureSite('slack.com', (_request, response) => void response.writeHead(status).end('{"ok":false,"error":"invalid_auth"}'))
    expect(await create({ connector: 'slack', secret: { key: 'xoxp-1' } })).toMatchObject({
      status: 422,
      body: { detail: { code: 'credential_not_accepted' } },
    })
    status = 503
    expect(await create({ connector: 'slack', secret: { key: 'xoxp-1' } })).toMatchObject({
      status: 422,
      body: { detail: { code: 'credential_answered' } },
    })
  })

  it('belongs to the domain that the person names', async () => {
    const credential = await created({
      connector: 'gitlab',
      fields: { domain: 'https://git.ada.example/' },
      secret: { key: KEY },
      name: 'Work',
    })
    expect(credential).toMatchObject({ name: 'Work', hosts: ['git.ada.example'], accountName: 'ada' })
    expect(asked).toEqual(['GET git.ada.example/api/v4/user'])
    accepted = 'next-key-of-ada'
    const again = await created({ connector: 'gitlab', credentialId: credential.id, secret: { key: 'next-key-of-ada' } })
    expect(again).toMatchObject({ id: credential.id, name: 'Work', hosts: ['git.ada.example'] })
    expect(asked.at(-1)).toBe('GET git.ada.example/api/v4/user')
  })

  it('may be of any service, whose hosts the person names', async () => {
    const basic = await created({
      connector: 'basic-auth',
      hosts: ['API.example.com', 'api.example.com'],
      secret: { username: 'ada', password: 'pä55 word' },
    })
    const encoded = Buffer.from('ada:pä55 word').toString('base64')
    expect(basic).toMatchObject({ kind: 'basic', name: 'api.example.com', hosts: ['api.example.com'], accountName: null })
    expect(await vaultOf(basic.id)).toEqual({
      kind: 'headers',
      headers: { Authorization: `Basic ${encoded}` },
      secrets: ['pä55 word', encoded],
      sentTo: ['api.example.com'],
    })
    const header = await created({
      connector: 'header-auth',
      hosts: ['api.example.com'],
      secret: { header: 'X-Key', value: 'Token token="long-secret-part"' },
    })
    expect(await vaultOf(header.id)).toMatchObject({
      headers: { 'X-Key': 'Token token="long-secret-part"' },
      secrets: ['Token token="long-secret-part"', 'long-secret-part'],
    })
    expect(asked).toEqual([])
    expect(await test(header.id)).toMatchObject({ ok: true, message: { code: 'credential_untested' } })
  })

  it.each<[string, object, string]>([
    ['no hosts', { connector: 'api-key', secret: { key: 'x' } }, 'hosts'],
    ['a wildcard', { connector: 'api-key', hosts: ['*.co.uk'], secret: { key: 'x' } }, 'hosts.0'],
    ['a host of this machine', { connector: 'api-key', hosts: ['api.example.com', 'localhost:3001'], secret: { key: 'x' } }, 'hosts.1'],
    ['a private domain', { connector: 'gitlab', fields: { domain: '10.0.0.5' }, secret: { key: 'x' } }, 'fields.domain'],
    ['a field that does not exist', { connector: 'gitlab', fields: { path: 'x' }, secret: { key: 'x' } }, 'fields.path'],
    ['a key for a service that takes none', { connector: 'gmail', secret: { key: 'x' } }, 'secret'],
    [
      'a password for a service that takes a key',
      { connector: 'api-key', hosts: ['a.example'], secret: { username: 'a', password: 'b' } },
      'secret',
    ],
    [
      'a header that frames the message',
      { connector: 'header-auth', hosts: ['a.example'], secret: { header: 'Content-Length', value: '5' } },
      'secret.header',
    ],
    ['a key with a line break', { connector: 'api-key', hosts: ['a.example'], secret: { key: 'x\r\nX-Evil: 1' } }, 'secret'],
    [
      'a header name with a line break',
      { connector: 'header-auth', hosts: ['a.example'], secret: { header: 'X\r\nY', value: '1' } },
      'secret',
    ],
    ['a user name with a colon', { connector: 'basic-auth', hosts: ['a.example'], secret: { username: 'a:b', password: 'c' } }, 'secret'],
  ])('is not connected with %s', async (_what, body, path) => {
    const { status, body: response } = await create(body)
    expect([status, (response as { error: string }).error]).toEqual([400, 'invalid_request'])
    expect((response as { issues: { path: string }[] }).issues[0]!.path).toMatch(new RegExp(`^${path}`))
    expect([asked, (await runner.client.ok('listCredentials')).credentials]).toEqual([[], []])
  })

  it('is tested on demand, and asks for a new key when the service refuses the old one', async () => {
    const { id } = await created({ connector: 'github', secret: { key: KEY } })
    expect(await test(id)).toEqual({ ok: true, message: null })
    accepted = 'next-key-of-ada'
    expect(await test(id)).toMatchObject({ ok: false, message: { code: 'credential_key_refused' } })
    const read = async () => (await runner.client.ok('getCredential', { params: { credentialId: id } })).credential
    expect(await read()).toMatchObject({ status: 'needs_sign_in' })
    expect(await create({ connector: 'github', credentialId: id, secret: { key: 'wrong' } })).toMatchObject({ status: 422 })
    expect(await vaultOf(id)).toMatchObject({ secrets: [KEY] })
    await created({ connector: 'github', credentialId: id, secret: { key: 'next-key-of-ada' } })
    expect(await read()).toMatchObject({ status: 'connected', problem: null })
    expect(await test(id)).toEqual({ ok: true, message: null })
  })

  it('leaves no secret behind when it cannot be stored', async () => {
    const keys: string[] = []
    const { set } = vault
    vault.set = (key, value) => (keys.push(key), set(key, value))
    const unknown = '00000000-0000-7000-8000-000000000000'
    expect(await create({ connector: 'github', secret: { key: KEY }, agents: [{ agentId: unknown, access: 'read' }] })).toMatchObject({
      status: 404,
    })
    expect(await vault.get(keys[0]!)).toBeNull()
  })
})
