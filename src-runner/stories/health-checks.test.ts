import { afterEach, describe, expect, it } from 'vitest'
import type { HealthCheck } from '../contract/doctor.ts'
import { AppError } from '../lib/errors.ts'
import { englishText, quote } from '../lib/messages.ts'
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
      'backups',
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
    for (const { name, state, finding, fix } of Object.values(checks)) {
      expect(englishText(finding), name).toMatch(/\.$/)
      expect(fix !== null || state === 'ok', name).toBe(true)
    }
    expect(englishText(checks.database.finding)).toMatch(/\d+(\.\d)? [kM]B/)
    expect(checks).toMatchObject({
      database: { state: 'ok' },
      disk: { finding: { params: { folder: runner.dataDir } } },
      keychain: { state: 'ok' },
      schedules: { state: 'ok' },
      channels: { state: 'ok', finding: { code: 'check_no_channel' } },
      public_address: { state: 'ok' },
      models: { state: 'problem', fix: { code: 'fix_choose_model' } },
    })
  })

  it('ask whether the used models are available', async () => {
    await open()
    await runner.addAgent()
    expect((await examine()).models).toMatchObject({ state: 'ok', finding: { params: { names: ['Test server'] } } })
    await runner.client.ok('createProvider', { body: { kind: 'openai-compatible', name: 'Gone', baseUrl: 'http://127.0.0.1:9/v1' } })
    expect((await examine()).models, 'nobody uses it').toMatchObject({ state: 'ok' })
    const { providers } = await runner.client.ok('listProviders')
    const gone = providers.find(({ name }) => name === 'Gone')!
    await runner.client.ok('updateSettings', { body: { defaultModel: { providerId: gone.id, model: 'any' } } })
    expect((await examine()).models).toMatchObject({ state: 'warning', finding: { code: 'check_failed', params: { name: 'Gone' } } })
  })

  it('report the demo model as a demo', async () => {
    await open()
    await runner.client.ok('updateSettings', { body: { defaultModel: { providerId: 'demo', model: 'demo' } } })
    expect((await examine()).models).toMatchObject({ state: 'warning', finding: { code: 'check_demo_model' } })
  })

  it('report a locked keychain without writing to it', async () => {
    const vault = createMemoryVault()
    const written: string[] = []
    await open({
      vault: {
        ...vault,
        get: () => Promise.reject(new AppError('vault_unavailable', quote('The keychain is locked.'))),
        set: (key, value) => (written.push(key), vault.set(key, value)),
      },
    })
    expect((await examine()).keychain).toMatchObject({
      state: 'problem',
      finding: quote('The keychain is locked.'),
      fix: { code: 'fix_unlock_keychain' },
    })
    expect(written).toEqual([])
  })

  it('do not wait for what does not respond', async () => {
    const clock = createHandClock()
    await open({ clock, vault: { ...createMemoryVault(), get: () => new Promise(() => {}) } })
    const asked = examine()
    await clock.untilSleeping((ms) => ms <= 2000 && ms > 1500)
    clock.advance(2000)
    expect((await asked).keychain).toMatchObject({ state: 'warning', finding: { code: 'check_no_response' } })
  })

  it('report that schedules do not run in safe mode and while all agents are paused', async () => {
    await open({ config: { safeMode: true } })
    expect((await examine()).schedules).toMatchObject({ state: 'warning', finding: { code: 'check_safe_mode' } })
    await runner.restart({ config: { safeMode: false } })
    await runner.client.ok('updateSettings', { body: { pauseAll: true } })
    expect((await examine()).schedules).toMatchObject({ state: 'warning', finding: { code: 'check_all_paused' } })
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
        finding: { code: 'check_channels', params: { names: [`@${bot.botName}`] } },
        fix: null,
      })
      bot.fault('sendMessage', { kind: 'stall' })
      bot.say({ id: 7, first_name: 'Bo' }, 'Hello?')
      await expect.poll(channels).toMatchObject({
        state: 'ok',
        finding: { params: { second: { code: 'check_messages_waiting', params: { count: 1 } } } },
      })
      bot.fault('getUpdates', { kind: 'error', code: 401, description: 'Unauthorized' })
      bot.say({ id: 7, first_name: 'Bo' }, 'Hello??')
      await expect.poll(channels).toMatchObject({
        state: 'problem',
        finding: { params: { first: { code: 'check_failed', params: { problem: { code: 'chat_token_refused' } } } } },
        fix: { code: 'fix_new_token' },
      })
      await runner.client.ok('updateChannel', { params: { channelId }, body: { enabled: false } })
      await expect.poll(channels).toMatchObject({ state: 'ok', finding: { params: { first: { code: 'check_no_channel' } } } })
    } finally {
      await bot.close()
    }
  })
})
