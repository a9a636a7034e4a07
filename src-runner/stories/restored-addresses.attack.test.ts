import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { startModelServer, type ModelServer } from '../testing/model-servers/model-server.ts'

const NEW_SECRET = 'canary-of-the-present-server'

describe('a backup with a former address', () => {
  let runner: TestRunner
  let former: ModelServer
  let present: ModelServer
  beforeEach(async () => {
    runner = await createTestRunner()
    former = await startModelServer()
    present = await startModelServer()
  })
  afterEach(async () => {
    await runner.stop()
    await Promise.all([former.close(), present.close()])
  })

  /** The vault is not part of a backup, so it still has what was entered last. */
  async function restoreTo(backup: string, change: () => Promise<unknown>): Promise<void> {
    await change()
    await runner.restart({ config: { replaceDatabase: { backup } } })
  }
  const makeBackup = async () => (await runner.client.ok('makeBackup')).backup.name
  const heardBy = (server: ModelServer) => JSON.stringify(server.received)

  it('does not get the present key of a provider', async () => {
    const body = { kind: 'openai-compatible', name: 'Models', baseUrl: `${former.url}/v1`, apiKey: 'key-of-the-former-one' } as const
    const { provider } = await runner.client.ok('createProvider', { body })
    const params = { providerId: provider.id }
    await restoreTo(await makeBackup(), () =>
      runner.client.ok('updateProvider', { params, body: { baseUrl: `${present.url}/v1`, apiKey: NEW_SECRET } }),
    )
    const message = { code: 'model_key_gone', params: { provider: 'Models' } }
    expect(await runner.client.ok('checkProvider', { params })).toEqual({ ok: false, models: 0, message })
    expect(heardBy(former)).not.toContain(NEW_SECRET)

    await runner.client.ok('updateProvider', { params, body: { baseUrl: `${present.url}/v1`, apiKey: NEW_SECRET } })
    expect(await runner.client.ok('checkProvider', { params })).toMatchObject({ ok: true })
    expect(heardBy(present)).toContain(NEW_SECRET)
  })

  it('does not get the present header of an MCP server', async () => {
    const at = ({ url }: ModelServer) => ({ kind: 'http' as const, url: `${url}/mcp`, headerNames: ['Authorization'] })
    const headers = (value: string) => ({ Authorization: value })
    const { server } = await runner.client.ok('createMcpServer', { body: { transport: at(former), headers: headers('former') } })
    const params = { mcpServerId: server.id }
    await restoreTo(await makeBackup(), () =>
      runner.client.ok('updateMcpServer', { params, body: { transport: at(present), headers: headers(NEW_SECRET) } }),
    )
    expect(await runner.client.ok('testMcpServer', { params })).toMatchObject({
      ok: false,
      message: { code: 'mcp_value_gone', params: { name: 'Authorization' } },
    })
    expect(heardBy(former)).not.toContain(NEW_SECRET)
  })

  it('does not get the present key of an account', async () => {
    const sent = (host: string, key: string) => ({ connector: 'api-key', hosts: [host], secret: { key } })
    const { credential } = await runner.client.ok('createCredential', { body: sent('former.example', 'key-of-the-former-one') })
    const credentialId = credential.id
    await restoreTo(await makeBackup(), () =>
      runner.client.ok('createCredential', { body: { ...sent('present.example', NEW_SECRET), credentialId } }),
    )
    expect(await runner.client.ok('testCredential', { params: { credentialId } })).toMatchObject({
      ok: false,
      message: { code: 'credential_secret_gone' },
    })
    expect((await runner.client.ok('listCredentials')).credentials).toMatchObject([{ id: credentialId, status: 'needs_sign_in' }])
  })
})
