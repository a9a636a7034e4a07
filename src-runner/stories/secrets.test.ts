import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMemoryVault } from '../lib/vault.ts'
import { startBotApiServer, type BotApiServer, type ServedUser } from '../testing/bot-api-server/bot-api-server.ts'
import { findLeaks } from '../testing/secret-scanner.ts'
import { createTestRunner, TEST_SECRET, type TestRunner } from '../testing/create-test-runner.ts'
import { postWebhook } from '../testing/webhook-sender.ts'

const ANNA: ServedUser = { id: 4711, first_name: 'Anna' }
const SIGNING_KEY = 'signing-canary-5512-0123456789'
const API_KEY = 'key-canary-9027-0123456789'

/** All that the machine keeps, logs, tells and answers in the life of a webhook, a channel and a schedule, good days and bad ones. */
describe('secrets', () => {
  let runner: TestRunner
  let bot: BotApiServer
  const inVault = new Map<string, string>()
  const answers: string[] = []
  const secretsInVault = () => [...inVault.values()].map((value) => /"apiKey":"([^"]*)"/.exec(value)?.[1] ?? value).toSorted()

  beforeEach(async () => {
    bot = await startBotApiServer()
    const vault = createMemoryVault()
    const { set, delete: remove } = vault
    vault.set = (key, value) => (inVault.set(key, value), set(key, value))
    vault.delete = (key) => (inVault.delete(key), remove(key))
    runner = await createTestRunner({ vault })
  })
  afterEach(async () => {
    await runner.stop()
    await bot.close()
  })

  /** Keeps what was answered, but for what is meant to be shown once. */
  async function hear<T>(answer: Promise<T>): Promise<T> {
    const heard = await answer
    answers.push(JSON.stringify(heard).replaceAll(/"url":"[^"]*\/webhooks\/[^"]*"/g, ''))
    return heard
  }

  const sign = (body: string, key = SIGNING_KEY) => ({
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
  })

  async function liveThroughWebhooks(agentId: string): Promise<string[]> {
    const { client } = runner
    const body = { name: 'Build', agentId, taskTemplate: 'See {a}', signature: { scheme: 'github' as const, secret: SIGNING_KEY } }
    const { trigger, url } = await hear(client.ok('createTrigger', { body }))
    const params = { triggerId: trigger.id }
    const first = await postWebhook(url, { body: '{"a":1}', headers: { ...sign('{"a":1}'), referer: url, cookie: url } })
    expect(first.status).toBe(202)
    await runner.ended(first.body.jobId!)
    // GitHub greets a new webhook with its own settings.
    const ping = JSON.stringify({ a: { config: { url } } })
    const greeted = await postWebhook(url, { body: ping, headers: sign(ping) })
    expect((await runner.ended(greeted.body.jobId!)).task).toContain('"url"')
    await hear(postWebhook(url, { body: `${ping}}`, headers: sign(`${ping}}`) }))
    const bad = [
      { body: '{"a":1}', headers: sign('{"a":1}', 'another') },
      { body: '{"a":', headers: sign('{"a":') },
      { body: 'x', headers: { 'content-type': 'text/plain' } },
      { body: ' '.repeat(1_000_001), headers: sign('') },
    ]
    for (const request of bad) await hear(postWebhook(url, request))
    await hear(postWebhook(`${url}x`))
    const { deliveries } = await hear(client.ok('listDeliveries', { params, query: { limit: 200 } }))
    for (const { id } of deliveries) await hear(client.ok('getDelivery', { params: { deliveryId: id } }))
    await hear(client.ok('replayDelivery', { params: { deliveryId: deliveries.at(-1)!.id } }))
    await hear(client.ok('testTrigger', { params, body: { payload: '{"a":2}' } }))
    const rotated = await hear(client.ok('rotateTriggerSecret', { params }))
    expect((await postWebhook(url, { body: '{}', headers: sign('{}') })).status).toBe(404)
    expect((await postWebhook(rotated.url, { body: '{}', headers: sign('{}') })).status).toBe(202)
    await hear(client.ok('pauseTrigger', { params }))
    // The vault is gone for a moment, in the middle of a delivery.
    await hear(client.ok('resumeTrigger', { params }))
    const { get } = runner.vault
    runner.vault.get = () => Promise.reject(new Error('the keychain is locked'))
    await hear(postWebhook(rotated.url, { body: '{}', headers: sign('{}') }))
    runner.vault.get = get
    return [url, rotated.url].map((one) => one.split('/').at(-1)!)
  }

  async function liveThroughChannels(agentId: string): Promise<string> {
    const { client } = runner
    const wrong = `${bot.botId}:AAwrong-canary-0123456789-0123456789`
    const connect = { agentId, kind: 'telegram', baseUrl: bot.url }
    await hear(client.ask('createChannel', { body: { ...connect, token: wrong } }))
    bot.fault('getMe', { kind: 'error', code: 400, description: `Bad Request: /bot${bot.token}/getMe` })
    await hear(client.ask('createChannel', { body: { ...connect, token: bot.token } }))
    const { channel } = await hear(client.ok('createChannel', { body: { ...connect, kind: 'telegram', token: bot.token } }))
    const params = { channelId: channel.id }
    await hear(client.ask('createChannel', { body: { ...connect, token: bot.token } }))
    const channelNow = async () => (await hear(client.ok('getChannel', { params }))).channel
    bot.say(ANNA, 'Hello?')
    await expect.poll(async () => (await channelNow()).people).toHaveLength(1)
    const personId = (await channelNow()).people[0]!.id
    await hear(client.ok('updateChannelPerson', { params: { ...params, personId }, body: { role: 'owner' } }))
    for (const method of ['sendMessage', 'getUpdates']) {
      bot.fault(method, { kind: 'error', code: 500, description: `Internal: ${bot.url}/bot${bot.token}/${method}` })
      bot.fault(method, { kind: 'redirect', to: `/bot${bot.token}/${method}` })
    }
    await hear(client.ok('testChannel', { params }))
    await hear(client.ok('testChannel', { params }))
    bot.revokeToken()
    await expect.poll(async () => (await channelNow()).status).toBe('logged_out')
    await hear(client.ask('updateChannel', { params, body: { token: wrong } }))
    return wrong
  }

  async function askEverything(): Promise<void> {
    const { client } = runner
    const { jobs } = await hear(client.ok('listJobs', { query: { limit: 200 } }))
    for (const { id: jobId } of jobs) {
      await hear(client.ok('getJob', { params: { jobId } }))
      await hear(client.ok('listSteps', { params: { jobId } }))
    }
    const lists = ['listTriggers', 'listChannels', 'listOutbox', 'listSchedules', 'listAttention', 'getPublicAddress', 'getDoctor'] as const
    for (const name of [...lists, 'getSettings', 'listProviders', 'listAgents', 'listApprovals', 'health'] as const) {
      const answer = await hear(client.ask(name))
      expect([name, answer.status]).toEqual([name, 200])
    }
  }

  it('are in no log line, no file, no event, no notification, no job and no answer', async () => {
    const { id: providerId } = await runner.addProvider({ apiKey: API_KEY })
    const agent = await runner.addAgent({ model: { providerId, model: 'small' } })
    const secrets = [API_KEY, SIGNING_KEY, TEST_SECRET, bot.token, ...(await liveThroughWebhooks(agent.id))]
    secrets.push(await liveThroughChannels(agent.id))
    await askEverything()
    expect(secretsInVault()).toEqual([API_KEY, SIGNING_KEY, bot.token].sort())
    const { events, close } = await runner.client.stream('streamEvents', { lastEventId: 0 })
    const told: string[] = []
    await runner.client.ok('deleteAgent', { params: { agentId: agent.id } })
    for await (const event of events) if (told.push(JSON.stringify(event)) && event.event === 'agent.deleted') break
    close()
    await expect.poll(secretsInVault).toEqual([API_KEY, SIGNING_KEY].sort())

    const files = readdirSync(runner.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const places = {
      'the log': runner.logLines.join('\n'),
      'the notifications': JSON.stringify([runner.notifications, runner.reports]),
      'the events': told.join('\n'),
      'the answers': answers.join('\n'),
      'what models were told': JSON.stringify(runner.modelServer.received.map(({ body }) => body)),
      ...Object.fromEntries(files.map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name)).toString('latin1')])),
    }
    // Whoever searches wrongly finds nothing either.
    expect(Object.values(places).filter((text) => text.includes(agent.id)).length).toBeGreaterThanOrEqual(3)
    expect(places['the log']).toContain('a channel does not work')
    expect(told.length).toBeGreaterThan(20)
    expect(findLeaks(places, secrets)).toEqual([])
  })
})
