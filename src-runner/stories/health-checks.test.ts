import { afterEach, describe, expect, it } from 'vitest'
import type { HealthCheck } from '../contract/doctor.ts'
import { AppError } from '../lib/errors.ts'
import { createMemoryVault } from '../lib/vault.ts'
import { startBotApiServer } from '../testing/bot-api-server/bot-api-server.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from '../testing/create-test-runner.ts'
import { createHandClock } from '../testing/hand-clock.ts'

describe('the health checks', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  const open = async (options: TestRunnerOptions = {}) => {
    runner = await createTestRunner(options)
  }
  const examine = async () => {
    const { checks } = await runner.client.ok('getDoctor')
    return Object.fromEntries(checks.map((check) => [check.name, check])) as Record<HealthCheck['name'], HealthCheck>
  }

  it('report every result, and a fix for every problem', async () => {
    await open()
    const checks = await examine()
    expect(Object.keys(checks)).toEqual([
      'database',
      'disk',
      'sandbox',
      'programs',
      'trash',
      'keychain',
      'models',
      'schedules',
      'channels',
      'public_address',
    ])
    for (const check of Object.values(checks)) {
      expect(check.found, check.name).toMatch(/\.$/)
      expect(check.fix !== '' || check.state === 'ok', check.name).toBe(true)
    }
    expect(checks).toMatchObject({
      database: { state: 'ok', found: expect.stringMatching(/\d+(\.\d)? [kM]B/) as string },
      keychain: { state: 'ok' },
      schedules: { state: 'ok' },
      channels: { state: 'ok', found: 'No channel is on.' },
      public_address: { state: 'ok' },
      models: { state: 'problem', fix: expect.stringContaining('default model') as string },
    })
    expect(checks.disk.found).toContain(runner.dataDir)
  })

  it('ask whether the used models are available', async () => {
    await open()
    await runner.addAgent()
    expect((await examine()).models).toMatchObject({ state: 'ok', found: 'Test server answers.' })
    await runner.client.ok('createProvider', { body: { kind: 'openai-compatible', name: 'Gone', baseUrl: 'http://127.0.0.1:9/v1' } })
    expect((await examine()).models, 'nobody uses it').toMatchObject({ state: 'ok' })
    const { providers } = await runner.client.ok('listProviders')
    const gone = providers.find(({ name }) => name === 'Gone')!
    await runner.client.ok('updateSettings', { body: { defaultModel: { providerId: gone.id, model: 'any' } } })
    expect((await examine()).models).toMatchObject({ state: 'warning', found: expect.stringContaining('Gone: ') as string })
  })

  it('report the demo model as a demo', async () => {
    await open()
    await runner.client.ok('updateSettings', { body: { defaultModel: { providerId: 'demo', model: 'demo' } } })
    expect((await examine()).models).toMatchObject({ state: 'warning', found: expect.stringContaining('demo') as string })
  })

  it('report a locked keychain without writing to it', async () => {
    const vault = createMemoryVault()
    const written: string[] = []
    await open({
      vault: {
        ...vault,
        get: () => Promise.reject(new AppError('vault_unavailable', 'The keychain is locked.')),
        set: (key, value) => (written.push(key), vault.set(key, value)),
      },
    })
    expect((await examine()).keychain).toMatchObject({
      state: 'problem',
      found: 'The keychain is locked.',
      fix: expect.stringContaining('Unlock') as string,
    })
    expect(written).toEqual([])
  })

  it('do not wait for what does not respond', async () => {
    const clock = createHandClock()
    await open({ clock, vault: { ...createMemoryVault(), get: () => new Promise(() => {}) } })
    const asked = examine()
    await clock.untilSleeping((ms) => ms <= 2000 && ms > 1500)
    clock.advance(2000)
    expect((await asked).keychain).toMatchObject({ state: 'warning', found: expect.stringContaining('two seconds') as string })
  })

  it('report that schedules do not run in safe mode and while all agents are paused', async () => {
    await open({ config: { safeMode: true } })
    expect((await examine()).schedules).toMatchObject({ state: 'warning', found: expect.stringContaining('Safe mode') as string })
    await runner.restart({ config: { safeMode: false } })
    await runner.client.ok('updateSettings', { body: { pauseAll: true } })
    expect((await examine()).schedules).toMatchObject({
      state: 'warning',
      found: expect.stringContaining('All agents are paused') as string,
    })
  })

  it('report failing channels and how many messages wait for them', async () => {
    const bot = await startBotApiServer()
    try {
      await open()
      const agent = await runner.addAgent({ name: 'Ada' })
      const body = { agentId: agent.id, kind: 'telegram', token: bot.token, baseUrl: bot.url } as const
      const { id: channelId } = (await runner.client.ok('createChannel', { body })).channel
      const channels = async () => (await examine()).channels
      await expect.poll(channels).toEqual({
        name: 'channels',
        state: 'ok',
        found: `@${bot.botName}: the last round trip worked.`,
        fix: '',
        finding: { code: 'channels_work', names: [`@${bot.botName}`], waiting: 0 },
      })
      bot.fault('sendMessage', { kind: 'stall' })
      bot.say({ id: 7, first_name: 'Bo' }, 'Hello?')
      await expect.poll(channels).toMatchObject({ state: 'ok', found: expect.stringContaining('1 message waits to be sent.') as string })
      bot.fault('getUpdates', { kind: 'error', code: 401, description: 'Unauthorized' })
      bot.say({ id: 7, first_name: 'Bo' }, 'Hello??')
      await expect.poll(channels).toMatchObject({
        state: 'problem',
        fix: expect.stringContaining('new token') as string,
        fixKind: 'new_token',
        finding: { failures: [{ status: 'logged_out', why: { code: 'chat_token_refused' } }], waiting: expect.any(Number) as number },
      })
      await runner.client.ok('updateChannel', { params: { channelId }, body: { enabled: false } })
      await expect.poll(channels).toMatchObject({ state: 'ok', found: expect.stringContaining('No channel is on.') as string })
    } finally {
      await bot.close()
    }
  })
})
