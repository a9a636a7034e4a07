import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { CreateTrigger } from '../contract/triggers.ts'
import { AppError } from '../lib/errors.ts'
import { quote } from '../lib/messages.ts'
import { createMemoryVault, type Vault } from '../lib/vault.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { postWebhook } from '../testing/webhook-sender.ts'

let runner: TestRunner
let agentId: string

async function start(options: Parameters<typeof createTestRunner>[0] = {}): Promise<void> {
  runner = await createTestRunner(options)
  agentId = (await runner.addAgent()).id
  await runner.client.ok('updateSettings', { body: { pauseAll: true } })
}

const fieldsOf = (fields: Partial<CreateTrigger>) => ({ name: 'Build failed', agentId, taskTemplate: 'Look.', ...fields })
const add = (fields: Partial<CreateTrigger> = {}) => runner.client.ok('createTrigger', { body: fieldsOf(fields) })
const here = (url: string) => url.replace(/:\d+\//, `:${runner.port}/`)

afterEach(() => runner.stop())

describe('the owner of a webhook', () => {
  it('sees the address once, and a new one after rotating the secret', async () => {
    await start()
    const { trigger, url } = await add()
    expect(url).toMatch(new RegExp(`^${runner.url}/webhooks/build-failed/[\\w-]{43}$`))
    const secret = url.split('/').at(-1)!
    const { jobs } = await runner.client.ok('listJobs')
    const seen = [
      jobs,
      await runner.client.ok('getTrigger', { params: { triggerId: trigger.id } }),
      await runner.client.ok('listTriggers'),
      await runner.client.ok('pauseTrigger', { params: { triggerId: trigger.id } }),
      await runner.client.ok('resumeTrigger', { params: { triggerId: trigger.id } }),
    ]
    expect(JSON.stringify(seen)).not.toContain(secret)
    await postWebhook(url)
    const rotated = await runner.client.ok('rotateTriggerSecret', { params: { triggerId: trigger.id } })
    expect(rotated.url).not.toBe(url)
    expect(rotated.trigger).toMatchObject({ triggerCount: 1, status: 'active' })
    expect((await postWebhook(url)).status).toBe(404)
    expect((await postWebhook(rotated.url)).status).toBe(202)
  })

  it('pauses and resumes with the same address and counters', async () => {
    await start()
    const { trigger, url } = await add()
    await postWebhook(url)
    const params = { triggerId: trigger.id }
    for (let i = 0; i < 2; i++) {
      expect(await runner.client.ok('pauseTrigger', { params })).toMatchObject({ trigger: { status: 'paused', triggerCount: 1 } })
    }
    expect(await postWebhook(url)).toMatchObject({ status: 404, text: '{"error":"not_found"}' })
    await runner.restart()
    expect((await postWebhook(here(url))).status).toBe(404)
    expect(await runner.client.ok('resumeTrigger', { params })).toMatchObject({ trigger: { status: 'active', firesThisHour: 1 } })
    expect((await postWebhook(here(url))).status).toBe(202)
    expect(await runner.client.ok('getTrigger', { params })).toMatchObject({ trigger: { triggerCount: 2 } })
  })

  it.each([
    ['Build failed!', 'build-failed'],
    ['Ärger im Büro', 'arger-im-buro'],
    ['構築', 'webhook'],
    ['x'.repeat(120), 'x'.repeat(60)],
  ])('gets a slug from the name %j: %s, with a suffix the second time', async (name, slug) => {
    await start()
    expect((await add({ name })).trigger.slug).toBe(slug)
    const second = (await add({ name })).trigger.slug
    expect(second).toMatch(new RegExp(`^${slug.slice(0, 55)}-[0-9a-f]{6}$`))
  })

  it('chooses a slug that is free', async () => {
    await start()
    const { trigger, url } = await add({ slug: 'mine' })
    expect(trigger.slug).toBe('mine')
    const ask = (fields: object) => runner.client.ask('createTrigger', { body: { ...fieldsOf({}), ...fields } })
    expect(await ask({ slug: 'mine' })).toMatchObject({ status: 409, body: { error: 'trigger_slug_taken' } })
    expect(await ask({ slug: 'probe' })).toMatchObject({ status: 409, body: { error: 'trigger_slug_taken' } })
    expect((await add({ name: 'Probe' })).trigger.slug).toMatch(/^probe-[0-9a-f]{6}$/)
    expect(await ask({ slug: 'Mine' })).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(await ask({ agentId: '019a0000-0000-7000-8000-000000000000' })).toMatchObject({
      status: 404,
      body: { error: 'agent_not_found' },
    })
    await runner.client.ok('deleteTrigger', { params: { triggerId: trigger.id } })
    const again = await add({ slug: 'mine' })
    expect((await postWebhook(url)).status).toBe(404)
    expect((await postWebhook(again.url)).status).toBe(202)
  })

  it('sees the public address', async () => {
    await start({ config: { publicRunnerUrl: 'https://hooks.example.com/' } })
    expect((await add()).url).toMatch(/^https:\/\/hooks\.example\.com\/webhooks\/build-failed\//)
  })

  it('lists webhooks, newest first and by agent', async () => {
    await start()
    const other = await runner.addAgent({ name: 'Other' })
    const made = []
    for (const name of ['a', 'b', 'c']) made.push((await add({ name, agentId: name === 'b' ? other.id : agentId })).trigger.id)
    const page = await runner.client.ok('listTriggers', { query: { limit: 2 } })
    const rest = await runner.client.ok('listTriggers', { query: { limit: 2, cursor: page.nextCursor! } })
    expect([...page.triggers, ...rest.triggers].map(({ id }) => id)).toEqual(made.toReversed())
    const { triggers } = await runner.client.ok('listTriggers', { query: { agentId: other.id } })
    expect(triggers.map(({ name, agentName }) => [name, agentName])).toEqual([['b', 'Other']])
    await runner.client.ok('deleteAgent', { params: { agentId: other.id } })
    expect(await runner.client.ok('getTrigger', { params: { triggerId: made[1]! } })).toMatchObject({
      trigger: { agentId: null, agentName: null },
    })
  })

  it('gets trigger_not_found for an unknown webhook', async () => {
    await start()
    const params = { triggerId: '019a0000-0000-7000-8000-000000000000' }
    for (const name of ['getTrigger', 'pauseTrigger', 'resumeTrigger', 'rotateTriggerSecret', 'deleteTrigger', 'listDeliveries'] as const) {
      expect([name, await runner.client.ask(name, { params })]).toMatchObject([name, { status: 404, body: { error: 'trigger_not_found' } }])
    }
  })
})

describe('a signature', () => {
  const secret = 'It is the secret of this test'
  const signed = (body: string, key = secret) => ({
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
  })

  it('accepts only what was signed with the secret', async () => {
    await start()
    const { trigger, url } = await add({ signature: { scheme: 'github', secret } })
    const body = '{"zen": "Keep it logically awesome."}'
    expect((await postWebhook(url, { body, headers: signed(body) })).status).toBe(202)
    const plain = await postWebhook(url, { body })
    const forged = await postWebhook(url, { body, headers: signed(body, 'another') })
    const changed = await postWebhook(url, { body: `${body} `, headers: signed(body) })
    const unknown = await postWebhook(`${runner.url}/webhooks/nowhere/secret`, { body })
    for (const answer of [plain, forged, changed]) expect(answer.text).toBe(unknown.text)
    for (const answer of [plain, forged, changed]) expect({ ...answer.headers, date: '' }).toEqual({ ...unknown.headers, date: '' })
    const { deliveries } = await runner.client.ok('listDeliveries', { params: { triggerId: trigger.id } })
    expect(deliveries.map(({ outcome, status, times }) => [outcome, status, times])).toEqual([
      ['bad_signature', 404, 3],
      ['accepted', 202, 1],
    ])
    const { delivery } = await runner.client.ok('getDelivery', { params: { deliveryId: deliveries[0]!.id } })
    expect(delivery).toMatchObject({ payload: null, headers: {} })
  })

  it('is checked after a restart with the secret from the vault', async () => {
    await start()
    const { trigger, url } = await add({ signature: { scheme: 'github', secret } })
    expect(JSON.stringify(trigger)).not.toContain(secret)
    await runner.restart({ crash: true })
    expect((await postWebhook(here(url), { body: '{}', headers: signed('{}') })).status).toBe(202)
    expect((await postWebhook(here(url), { body: '{}' })).status).toBe(404)
    await runner.client.ok('deleteTrigger', { params: { triggerId: trigger.id } })
    expect(await runner.vault.get(`trigger:${trigger.id}:signature`)).toBeNull()
  })

  it('refuses everything if its secret is missing from the vault', async () => {
    await start()
    const { trigger, url } = await add({ signature: { scheme: 'github', secret } })
    await runner.vault.delete(`trigger:${trigger.id}:signature`)
    expect((await postWebhook(url, { body: '{}', headers: signed('{}') })).status).toBe(404)
    expect((await postWebhook(url, { body: '{}', headers: signed('{}', '') })).status).toBe(404)
  })

  it('answers vault_unavailable while the vault is locked', async () => {
    const inner = createMemoryVault()
    let isLocked = false
    const vault: Vault = {
      ...inner,
      get: (key) => (isLocked ? Promise.reject(new AppError('vault_unavailable', quote('The keychain is locked.'))) : inner.get(key)),
    }
    await start({ vault })
    const { trigger, url } = await add({ signature: { scheme: 'github', secret } })
    isLocked = true
    expect(await postWebhook(url, { body: '{}', headers: signed('{}') })).toMatchObject({
      status: 503,
      text: '{"error":"vault_unavailable"}',
    })
    isLocked = false
    expect((await postWebhook(url, { body: '{}', headers: signed('{}') })).status).toBe(202)
    expect(await runner.client.ok('getTrigger', { params: { triggerId: trigger.id } })).toMatchObject({ trigger: { triggerCount: 1 } })
  })

  it('creates no webhook if the vault fails', async () => {
    const vault: Vault = {
      ...createMemoryVault(),
      set: () => Promise.reject(new AppError('vault_unavailable', quote('The keychain is locked.'))),
    }
    runner = await createTestRunner({ vault })
    agentId = (await runner.client.ok('createAgent', { body: { name: 'Ada' } })).agent.id
    const answer = await runner.client.ask('createTrigger', { body: fieldsOf({ signature: { scheme: 'github', secret } }) })
    expect(answer).toMatchObject({ status: 503, body: { error: 'vault_unavailable' } })
    expect(await runner.client.ok('listTriggers')).toMatchObject({ triggers: [] })
  })
})
