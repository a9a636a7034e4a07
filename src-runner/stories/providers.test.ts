import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { quote } from '../lib/messages.ts'
import { createMemoryVault, providerKey, type Vault } from '../lib/vault.ts'
import { startModelServer } from '../testing/model-servers/model-server.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'

const CANARY = 'sk-canary-9f8e7d6c5b4a39281706'

async function keyInVault(vault: Vault, providerId: string): Promise<unknown> {
  return (JSON.parse((await vault.get(providerKey(providerId)))!) as { apiKey: string }).apiKey
}

describe('providers', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  it('keep their key in the vault alone, and use it', async () => {
    runner = await createTestRunner()
    const provider = await runner.addProvider({ apiKey: CANARY })
    expect(provider).toMatchObject({ hasKey: true, origin: 'user' })
    expect(await keyInVault(runner.vault, provider.id)).toBe(CANARY)
    expect(await runner.client.ok('checkProvider', { params: { providerId: provider.id } })).toMatchObject({ ok: true, models: 2 })
    expect(runner.modelServer.received.at(-1)!.headers['authorization']).toBe(`Bearer ${CANARY}`)

    const { provider: changed } = await runner.client.ok('updateProvider', { params: { providerId: provider.id }, body: { apiKey: null } })
    expect(changed.hasKey).toBe(false)
    expect(await runner.vault.get(providerKey(provider.id))).toBeNull()
    await runner.client.ok('updateProvider', { params: { providerId: provider.id }, body: { apiKey: 'another-key-123' } })
    await runner.client.ok('deleteProvider', { params: { providerId: provider.id } })
    expect(await runner.vault.get(providerKey(provider.id))).toBeNull()
    expect((await runner.client.ok('listProviders')).providers.map((one) => one.id)).toEqual(['demo'])
  })

  it.each([
    'https://me:pw@models.test/v1',
    'HTTPS://me:pw@models.test/v1',
    'https:///me:pw@models.test/v1',
    'https://\\\\me@models.test/v1',
  ])('keep no user name and no password in their address: %s', async (baseUrl) => {
    runner = await createTestRunner()
    const { id: providerId } = await runner.addProvider()
    const answers = [
      await runner.client.ask('createProvider', { body: { kind: 'openai', name: 'Own', baseUrl } }),
      await runner.client.ask('updateProvider', { params: { providerId }, body: { baseUrl } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([400, 400])
  })

  it('let their key show up nowhere: no answer, no event, no log, no file, whatever goes wrong', async () => {
    runner = await createTestRunner()
    const provider = await runner.addProvider({ apiKey: CANARY })
    runner.scrubber.add(CANARY)
    const agent = await runner.addAgent({ model: { providerId: provider.id, model: 'small' } })
    const echo = { message: `invalid key ${CANARY} at https://example.com/?key=${CANARY}` }
    runner.modelServer.play({ fault: { kind: 'status', status: 401, error: echo } }, { text: [`Bearer ${CANARY}`.slice(0, 6)] })
    const failed = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    await runner.ended(failed.jobId)
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Hello again', agentId: agent.id } })
    await runner.ended(jobId)
    const answers = [
      await runner.client.ok('listProviders'),
      await runner.client.ok('listModels'),
      await runner.client.ok('getJob', { params: { jobId: failed.jobId } }),
      await runner.client.ask('createProvider', { body: { kind: 'nonsense', name: CANARY, apiKey: CANARY, baseUrl: CANARY } }),
      await runner.client.turn('streamJob', { params: { jobId } }),
    ]
    const { events } = await runner.client.stream('streamEvents', { query: { after: 0 } })
    const history: unknown[] = []
    for await (const event of events) {
      history.push(event)
      if (event.event === 'job.finished' && (event.data as { jobId: string }).jobId === jobId) break
    }
    const files = readdirSync(runner.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const everything = [
      JSON.stringify(answers),
      JSON.stringify(history),
      runner.logLines.join(''),
      ...files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')),
    ]
    const spellings = [CANARY, Buffer.from(CANARY).toString('hex'), Buffer.from(CANARY).toString('base64').replaceAll('=', '')]
    for (const text of everything) for (const spelling of spellings) expect(text.includes(spelling)).toBe(false)
  })

  describe('whose address changes', () => {
    const moveTo =
      (baseUrl: string | null, more: object = {}) =>
      async (providerId: string) =>
        runner.client.ok('updateProvider', { params: { providerId }, body: { baseUrl, ...more } })

    it('lose their key, which never reaches the new server, and say so', async () => {
      runner = await createTestRunner()
      const stranger = await startModelServer()
      try {
        const { id } = await runner.addProvider({ apiKey: CANARY })
        const { provider, keyRemoved } = await moveTo(`${stranger.url}/v1`)(id)
        expect({ hasKey: provider.hasKey, keyRemoved }).toEqual({ hasKey: false, keyRemoved: true })
        expect(await runner.vault.get(providerKey(id))).toBeNull()
        await runner.client.ok('checkProvider', { params: { providerId: id } })
        await runner.client.ok('listModels')
        expect(stranger.received.length).toBeGreaterThan(0)
        expect(JSON.stringify(stranger.received)).not.toContain(CANARY)
      } finally {
        await stranger.close()
      }
    })

    it.each([
      ['another port', (url: string) => url.replace(/:\d+/, ':1')],
      ['another scheme', (url: string) => url.replace('http:', 'https:')],
      ['another name', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ])('to %s lose it', async (_what, change) => {
      runner = await createTestRunner()
      const { id, baseUrl } = await runner.addProvider({ apiKey: CANARY })
      expect(await moveTo(change(baseUrl!))(id)).toMatchObject({ keyRemoved: true, provider: { hasKey: false } })
    })

    it('to the address of their kind lose it too, unless it was that one', async () => {
      runner = await createTestRunner()
      const openai = await runner.addProvider({ apiKey: CANARY, kind: 'openai' })
      expect(await moveTo(null)(openai.id)).toMatchObject({ keyRemoved: true })
      const { provider } = await runner.client.ok('createProvider', { body: { kind: 'openai', name: 'Real', apiKey: CANARY } })
      expect(await moveTo('https://api.openai.com/v1')(provider.id)).toMatchObject({ keyRemoved: false, provider: { hasKey: true } })
    })

    it('within the same server keep it', async () => {
      runner = await createTestRunner()
      const { id, baseUrl } = await runner.addProvider({ apiKey: CANARY })
      expect(await moveTo(`${baseUrl!}/other/`)(id)).toMatchObject({ keyRemoved: false, provider: { hasKey: true } })
      expect(await keyInVault(runner.vault, id)).toBe(CANARY)
    })

    it('take the key that is given with the new address, and never show it to the old one', async () => {
      const vault = createMemoryVault()
      runner = await createTestRunner({ vault })
      const { id } = await runner.addProvider({ apiKey: CANARY })
      const check = () => runner.client.ok('checkProvider', { params: { providerId: id } })
      const { set } = vault
      // While the vault has changed and the row has not, somebody asks the provider.
      let checked: unknown
      vault.set = async (key, value) => {
        await set(key, value)
        checked = await check()
      }
      const { provider, keyRemoved } = await moveTo('http://127.0.0.1:1/v1', { apiKey: 'key-of-the-new-one' })(id)
      expect({ hasKey: provider.hasKey, keyRemoved }).toEqual({ hasKey: true, keyRemoved: false })
      expect(await keyInVault(vault, id)).toBe('key-of-the-new-one')
      expect(checked).toMatchObject({ ok: false, message: { code: 'model_key_gone' } })
      expect(JSON.stringify(runner.modelServer.received)).not.toContain('key-of-the-new-one')
    })
  })

  it('whose models have no price are named where a limit in money is set, until they have one', async () => {
    runner = await createTestRunner({ modelServer: { looksLike: 'gateway' } })
    const { client } = runner
    const provider = await runner.addProvider()
    const model = { providerId: provider.id, model: 'small' }
    const { agent, ...created } = await client.ok('createAgent', { body: { name: 'Ada', model } })
    const unpriced = { unpricedModels: [model] }
    expect(created).toEqual(unpriced)
    const schedule = await client.ok('createSchedule', {
      body: { name: 'Daily', agentId: agent.id, cron: '0 9 * * *', timezone: 'UTC', task: 'Look' },
    })
    expect(schedule).toMatchObject(unpriced)
    expect(await client.ok('updateSettings', { body: { dayBudgetUsd: 5 } })).toMatchObject(unpriced)
    const { jobId } = await client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed', priced: false })

    const price = { inputUsdPerMillion: 1, outputUsdPerMillion: 2 }
    await client.ok('setModelPrice', { body: { model, price } })
    const params = { scheduleId: schedule.schedule.id }
    expect(await client.ok('getSchedule', { params })).not.toHaveProperty('unpricedModels')
    expect(await client.ok('getAgent', { params: { agentId: agent.id } })).not.toHaveProperty('unpricedModels')
  })

  it('leave no key behind when they are removed while somebody gives them another one', async () => {
    const vault = createMemoryVault()
    let meanwhile = async () => {}
    runner = await createTestRunner({ vault: { ...vault, set: (key, value) => meanwhile().then(() => vault.set(key, value)) } })
    const { id: providerId } = await runner.addProvider({ apiKey: 'an invented key' })
    meanwhile = async () => {
      meanwhile = async () => {}
      await runner.client.ok('deleteProvider', { params: { providerId } })
    }
    const answer = await runner.client.ask('updateProvider', { params: { providerId }, body: { apiKey: 'another one' } })
    expect(answer).toMatchObject({ status: 404 })
    expect(await vault.get(providerKey(providerId))).toBeNull()
  })

  it('change nothing when the vault is shut, and say so', async () => {
    const shut = () => Promise.reject(new AppError('vault_unavailable', quote('The keychain is locked. Unlock it and try again.')))
    const vault = createMemoryVault()
    runner = await createTestRunner({ vault })
    const provider = await runner.addProvider({ apiKey: CANARY })
    Object.assign(vault, { get: shut, set: shut, delete: shut })
    const message = 'The keychain is locked. Unlock it and try again.'
    const refused = { status: 503, body: { error: 'vault_unavailable', message, detail: quote(message) } }
    const { client } = runner
    const params = { providerId: provider.id }
    expect(await client.ask('createProvider', { body: { kind: 'openai', name: 'New', apiKey: 'key-of-new' } })).toEqual(refused)
    expect(await client.ask('updateProvider', { params, body: { apiKey: 'other-key' } })).toEqual(refused)
    expect(await client.ask('deleteProvider', { params })).toEqual(refused)
    expect(await client.ask('checkProvider', { params })).toEqual(refused)
    expect((await client.ok('listProviders')).providers.map((one) => [one.name, one.hasKey])).toEqual([['Demo', false], ['Test server', true]]) // prettier-ignore
    // What needs no key still works.
    expect(await client.ok('createProvider', { body: { kind: 'ollama', name: 'Local' } })).toMatchObject({ provider: { hasKey: false } })
  })

  it('are not called without the key that they should have', async () => {
    runner = await createTestRunner()
    const { client, modelServer, vault } = runner
    const provider = await runner.addProvider({ apiKey: CANARY })
    const agent = await runner.addAgent({ model: { providerId: provider.id, model: 'small' } })
    const asked = modelServer.received.length
    await vault.delete(providerKey(provider.id))
    const message = { code: 'model_key_gone', params: { provider: provider.name } }

    const { jobId } = await client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    expect(await runner.ended(jobId)).toMatchObject({
      status: 'failed',
      error: 'model_auth',
      errorMessage: { code: 'model_key_unreadable', params: { problem: message } },
    })
    expect(await client.ok('checkProvider', { params: { providerId: provider.id } })).toEqual({ ok: false, models: 0, message })
    expect(modelServer.received.slice(asked)).toEqual([])
    expect((await client.ok('listModels')).problems).toEqual([{ providerId: provider.id, providerName: provider.name, message }])

    await client.ok('updateProvider', { params: { providerId: provider.id }, body: { apiKey: CANARY } })
    expect(await client.ok('checkProvider', { params: { providerId: provider.id } })).toMatchObject({ ok: true })
  })

  it('put a key back when the row cannot go', async () => {
    runner = await createTestRunner()
    const provider = await runner.addProvider({ apiKey: CANARY })
    await runner.addAgent({ model: { providerId: provider.id, model: 'small' } })
    const refused = await runner.client.ask('deleteProvider', { params: { providerId: provider.id } })
    expect(refused).toMatchObject({ status: 409, body: { error: 'provider_in_use' } })
    expect(await keyInVault(runner.vault, provider.id)).toBe(CANARY)
  })

  it('leave the built-in one as it is', async () => {
    runner = await createTestRunner()
    for (const [route, body] of [
      ['updateProvider', { name: 'Mine' }],
      ['deleteProvider', undefined],
    ] as const) {
      const answer = await runner.client.ask(route, { params: { providerId: 'demo' }, body })
      expect(answer).toMatchObject({ status: 409, body: { error: 'provider_read_only' } })
    }
    for (const route of ['updateProvider', 'deleteProvider', 'checkProvider'] as const) {
      const answer = await runner.client.ask(route, {
        params: { providerId: 'nobody' },
        body: route === 'updateProvider' ? { name: 'x' } : undefined,
      })
      expect(answer).toMatchObject({ status: 404, body: { error: 'provider_not_found' } })
    }
  })

  it('list their models with prices, and say which of them could not be asked', async () => {
    runner = await createTestRunner()
    const local = await runner.addProvider({ name: 'Local' })
    const away = (
      await runner.client.ok('createProvider', { body: { kind: 'openai-compatible', name: 'Away', baseUrl: 'http://127.0.0.1:9/v1' } })
    ).provider
    const { models, problems, defaultModel } = await runner.client.ok('listModels')
    expect(defaultModel).toBeNull()
    expect(models.filter((model) => model.providerId === local.id).map((model) => [model.model, model.priceOrigin])).toEqual([['small', 'free'], ['large', 'free']]) // prettier-ignore
    expect(problems).toMatchObject([{ providerId: away.id, providerName: 'Away' }])
    await runner.client.ok('updateSettings', { body: { defaultModel: { providerId: local.id, model: 'large' } } })
    expect((await runner.client.ok('listModels')).defaultModel).toEqual({ providerId: local.id, model: 'large' })
  })

  it('are offered when they answer on this machine, until they are added', async () => {
    runner = await createTestRunner({ modelServer: { looksLike: 'ollama' }, findsModelServer: true })
    const { servers } = await runner.client.ok('listFoundServers')
    expect(servers).toEqual([{ kind: 'ollama', name: 'Ollama', baseUrl: runner.modelServer.url, models: ['small', 'large'] }])
    await runner.client.ok('createProvider', {
      body: { kind: 'ollama', name: 'Ollama', baseUrl: runner.modelServer.url.replace('127.0.0.1', 'localhost') },
    })
    expect((await runner.client.ok('listFoundServers')).servers).toEqual([])
  })

  it('without a known price are shown as unpriced, in the job and in what was spent', async () => {
    runner = await createTestRunner()
    const provider = await runner.addProvider({ kind: 'openai', name: 'Strange', apiKey: 'key-123456' })
    const agent = await runner.addAgent({ model: { providerId: provider.id, model: 'nobody-knows-this-model' } })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed', priced: false, costUsd: 0 })
    for (const by of ['day', 'agent', 'model', 'channel'] as const) {
      const spend = await runner.client.ok('getSpend', { query: { by } })
      expect(spend).toMatchObject({ totalUsd: 0, unpricedCalls: 1, rows: [{ jobs: 1, unpricedCalls: 1 }] })
    }
    await runner.client.ok('setModelPrice', { body: { model: agent.model!, price: { inputUsdPerMillion: 100, outputUsdPerMillion: 0 } } })
    const second = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    expect(await runner.ended(second.jobId)).toMatchObject({ priced: true, costUsd: 0.0012 })
    expect(await runner.client.ok('getSpend', { query: { by: 'agent' } })).toMatchObject({
      totalUsd: 0.0012,
      rows: [{ key: agent.id, label: agent.name, jobs: 2 }],
    })
  })
})
