import { messageMatching } from '../../testing/message-matching.ts'
import { englishText, quote } from '../../lib/messages.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createOutbound } from '../../platform/net/outbound.ts'
import { DEMO_MODEL } from '../../contract/agents.ts'
import { Model, type Price } from '../../contract/providers.ts'
import { AppError } from '../../lib/errors.ts'
import { createHandClock, type HandClock } from '../../testing/hand-clock.ts'
import { type ModelServer, startModelServer } from '../../testing/model-servers/model-server.ts'
import type { ProviderAccess } from './model.ts'
import { createModelSource, type ModelSourceDeps } from './model-source.ts'

let server: ModelServer
let clock: HandClock
let providers: Map<string, ProviderAccess>
let ownPrices: Map<string, Price>
const outbound = createOutbound()

beforeEach(async () => {
  server = await startModelServer({ models: ['gpt-5', 'strange'] })
  clock = createHandClock()
  ownPrices = new Map()
  providers = new Map([
    ['local', { id: 'local', kind: 'openai-compatible', name: 'Local', baseUrl: server.url, apiKey: null }],
    ['work', { id: 'work', kind: 'openai', name: 'Work', baseUrl: `${server.url}/v1`, apiKey: 'key-one' }],
  ])
})

afterEach(() => server.close())

function source(more: Partial<ModelSourceDeps> = {}) {
  return createModelSource({
    readProvider: async (id) => providers.get(id) ?? null,
    readOwnPrice: ({ providerId, model }) => ownPrices.get(`${providerId}/${model}`) ?? null,
    fetch: outbound.fetch,
    clock,
    demoWordMs: 0,
    ...more,
  })
}

async function say(models: ReturnType<typeof source>, providerId: string, model: string): Promise<string> {
  const opened = await models.open({ providerId, model })
  if ('failure' in opened) return englishText(opened.failure.message)
  let text = ''
  const request = { model, messages: [{ role: 'user' as const, text: 'Hello' }], tools: [], maxOutputTokens: null }
  for await (const event of opened.adapter.stream(request, new AbortController().signal)) {
    if (event.type === 'text') text += event.text
    if (event.type === 'failed') text += englishText(event.failure.message)
  }
  return text
}

it('opens the model of a provider with its price', async () => {
  const models = source()
  const opened = await models.open({ providerId: 'work', model: 'gpt-5' })
  expect(opened).toMatchObject({ providerName: 'Work', price: { inputMicros: 1_250_000, outputMicros: 10_000_000 } })
  expect(await say(models, 'work', 'gpt-5')).toBe('Hello from the server.')
})

it('always has the demo, without cost or network', async () => {
  const models = source()
  expect(await models.open(DEMO_MODEL)).toMatchObject({ price: { inputMicros: 0, outputMicros: 0 } })
  expect(await say(models, 'demo', 'demo')).toMatch(/demo model/)
  expect(server.received).toHaveLength(0)
})

it('has no price for an unknown model unless the person set one', async () => {
  const models = source()
  expect(await models.open({ providerId: 'work', model: 'strange' })).toMatchObject({ price: null })
  ownPrices.set('work/strange', { inputUsdPerMillion: 2, outputUsdPerMillion: 4 })
  expect(await models.open({ providerId: 'work', model: 'strange' })).toMatchObject({
    price: { inputMicros: 2_000_000, cachedInputMicros: 2_000_000 },
  })
  ownPrices.set('local/strange', { inputUsdPerMillion: 1, outputUsdPerMillion: 1 })
  expect(await models.open({ providerId: 'local', model: 'strange' })).toMatchObject({ price: { inputMicros: 1_000_000 } })
})

it('reports a deleted provider and an unreadable key', async () => {
  expect(await source().open({ providerId: 'gone', model: 'x' })).toMatchObject({ failure: { kind: 'not_found', retryable: false } })
  const locked = source({ readProvider: () => Promise.reject(new AppError('vault_unavailable', quote('The keychain is locked.'))) })
  expect(await locked.open({ providerId: 'work', model: 'x' })).toMatchObject({
    failure: { kind: 'key_out_of_reach', retryable: false, message: messageMatching(/keychain/i) },
  })
})

it('uses a changed key from the next call', async () => {
  const models = source()
  await say(models, 'work', 'gpt-5')
  providers.set('work', { ...providers.get('work')!, apiKey: 'key-two' })
  await say(models, 'work', 'gpt-5')
  expect(server.received.map((request) => request.headers['authorization'])).toEqual(['Bearer key-one', 'Bearer key-two'])
})

it('lists the models of all providers with their prices', async () => {
  const listed = await source().listModels([
    { id: 'demo', name: 'Demo' },
    { id: 'local', name: 'Local' },
    { id: 'work', name: 'Work' },
  ])
  for (const model of listed.models) Model.parse(model)
  expect(listed.problems).toEqual([])
  expect(
    listed.models.map(({ providerName, model, priceOrigin, price }) => [
      providerName,
      model,
      priceOrigin,
      price?.inputUsdPerMillion ?? null,
    ]),
  ).toEqual([
    ['Demo', 'demo', 'free', 0],
    ['Local', 'gpt-5', 'free', 0],
    ['Local', 'strange', 'free', 0],
    ['Work', 'gpt-5', 'package', 1.25],
    ['Work', 'strange', 'unknown', null],
  ])
})

it('lists the other models if one provider fails', async () => {
  providers.set('broken', { id: 'broken', kind: 'openai', name: 'Broken', baseUrl: `${server.url}/nowhere`, apiKey: 'k' })
  providers.set('keyless', { id: 'keyless', kind: 'anthropic', name: 'Keyless', baseUrl: null, apiKey: null })
  const listed = await source().listModels([
    { id: 'broken', name: 'Broken' },
    { id: 'keyless', name: 'Keyless' },
    { id: 'local', name: 'Local' },
  ])
  expect(listed.models).toHaveLength(2)
  expect(listed.problems).toEqual([
    {
      providerId: 'broken',
      providerName: 'Broken',
      message: { code: 'model_no_list', params: { provider: 'Broken' } },
    },
    {
      providerId: 'keyless',
      providerName: 'Keyless',
      message: expect.objectContaining({ code: 'model_no_key' }),
    },
  ])
})

it('lists two thousand models of a provider at most, lets other work go on meanwhile, and leaves out what nobody could choose', async () => {
  const long = await startModelServer({ models: ['x'.repeat(201), ...Array.from({ length: 2_500 }, (_, n) => `model-${n}`)] })
  providers.set('long', { id: 'long', kind: 'anthropic', name: 'Long', baseUrl: `${long.url}/v1`, apiKey: 'key-one' })
  try {
    const models = source()
    // Reads the list and loads the prices, so that the second listing waits for nothing.
    await models.listModels([{ id: 'long', name: 'Long' }])
    let turns = 0
    let isListed = false
    const count = () => void (++turns && !isListed && setImmediate(count))
    count()
    const listed = await models.listModels([{ id: 'long', name: 'Long' }])
    isListed = true
    expect(listed.models).toHaveLength(1_999)
    expect(listed.models[0]!.model).toBe('model-0')
    expect(turns).toBeGreaterThan(15)
  } finally {
    await long.close()
  }
})

it('lists models once in five minutes, and again after a change or an error', async () => {
  const models = source()
  const list = () => models.listModels([{ id: 'work', name: 'Work' }])
  await Promise.all([list(), list(), list()])
  expect(server.received).toHaveLength(1)
  clock.advance(299_999)
  await list()
  expect(server.received).toHaveLength(1)
  clock.advance(1)
  await list()
  expect(server.received).toHaveLength(2)
  providers.set('work', { ...providers.get('work')!, apiKey: 'key-two' })
  server.play({ fault: { kind: 'status', status: 500 } })
  expect((await list()).problems).toHaveLength(1)
  expect((await list()).models).toHaveLength(2)
  expect(server.received).toHaveLength(4)
  await models.checkProvider('work')
  expect(server.received).toHaveLength(5)
})

it('waits at most ten seconds for a list', async () => {
  server.play({ fault: { kind: 'stall', afterFrames: 0 } })
  const listing = source().listModels([
    { id: 'work', name: 'Work' },
    { id: 'demo', name: 'Demo' },
  ])
  await server.untilQuiet()
  clock.advance(10_000)
  expect(await listing).toMatchObject({
    models: [{ providerId: 'demo' }],
    problems: [{ message: { code: 'model_list_late', params: { provider: 'Work', seconds: 10 } } }],
  })
  await server.untilHungUp()
  expect(clock.sleepers()).toBe(0)
})

it('reports the problem of a check', async () => {
  server.play({ fault: { kind: 'status', status: 401 } })
  await expect(source().checkProvider('work')).rejects.toMatchObject({
    code: 'provider_refused',
    message: expect.stringMatching(/does not accept the key/),
  })
  await expect(source().checkProvider('gone')).rejects.toMatchObject({ code: 'provider_not_found' })
})

async function windowOf(
  models: ReturnType<typeof source>,
  providerId: string,
  model: string,
  promptTokens = 50_000,
): Promise<number | null> {
  const opened = await models.open({ providerId, model })
  if ('failure' in opened) throw new Error(englishText(opened.failure.message))
  return opened.readWindow!(promptTokens, new AbortController().signal)
}

it('reads a context window from the price package without a request', async () => {
  expect(await windowOf(source(), 'work', 'gpt-5')).toBe(400_000)
  expect(server.received).toEqual([])
})

it('lists models once to find a context window, and only for a large prompt', async () => {
  providers.set('google', { id: 'google', kind: 'google', name: 'Google', baseUrl: `${server.url}/v1beta`, apiKey: 'key-one' })
  const models = source()
  expect(await windowOf(models, 'google', 'strange', 1_000)).toBeNull()
  expect(server.received).toEqual([])
  expect(await windowOf(models, 'google', 'strange')).toBe(1_000_000)
  expect(await windowOf(models, 'google', 'strange')).toBe(1_000_000)
  expect(await windowOf(models, 'google', 'no such model')).toBeNull()
  expect(server.received.map(({ path }) => path)).toEqual(['/v1beta/models?pageSize=1000'])
})

it('does not retry a failed list with every call', async () => {
  server.play({ fault: { kind: 'status', status: 500 } })
  const models = source()
  for (let n = 0; n < 3; n++) expect(await windowOf(models, 'work', 'strange')).toBeNull()
  expect(server.received).toHaveLength(1)
})

it.each(['lm-studio', 'llama.cpp'] as const)('asks %s on this machine for the window of the loaded model', async (looksLike) => {
  const local = await startModelServer({ models: ['gpt-5'], looksLike, window: { tokens: 8_192 } })
  providers.set('own', { id: 'own', kind: 'openai-compatible', name: 'Own', baseUrl: local.url, apiKey: null })
  try {
    expect(await windowOf(source(), 'own', 'gpt-5', 3_500)).toBe(8_192)
  } finally {
    await local.close()
  }
})
