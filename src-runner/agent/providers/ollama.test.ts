import { afterEach, describe, expect, it } from 'vitest'
import { createOutbound } from '../../platform/net/outbound.ts'
import { systemClock } from '../../lib/clock.ts'
import { startModelServer, type ModelServer, type ModelServerOptions } from '../../testing/model-servers/model-server.ts'
import type { ModelEvent } from './model.ts'
import { largestWindow, readFacts, windowFor, type OllamaFacts } from './ollama-context-window.ts'
import { roomForPrompt } from './prompt-size.ts'
import { createProviderAdapter } from './provider-adapter.ts'
import { PROVIDER_DRIVERS } from './provider-drivers.ts'

const GIB = 1024 ** 3
const UNKNOWN: OllamaFacts = { trainedTokens: null, ownTokens: null, loadedTokens: null, bytesOfToken: null, isElsewhere: false }
/** As Ollama 0.40 says it of llama3.1, without what is not read. */
const LLAMA = {
  parameters: 'stop                           "<|eot_id|>"\nnum_ctx                        20000',
  model_info: {
    'general.architecture': 'llama',
    'llama.attention.head_count': 32,
    'llama.attention.head_count_kv': 8,
    'llama.block_count': 32,
    'llama.context_length': 131072,
    'llama.embedding_length': 4096,
    'tokenizer.ggml.tokens': null,
  },
}

describe('the facts of an Ollama model', () => {
  it('are trained, configured and loaded window, and bytes per token', () => {
    const running = {
      models: [
        { name: 'other:latest', context_length: 9 },
        { name: 'llama3.1:latest', model: 'llama3.1:latest', context_length: 4096 },
      ],
    }
    expect(readFacts('llama3.1', LLAMA, running)).toEqual({
      trainedTokens: 131_072,
      ownTokens: 20_000,
      loadedTokens: 4096,
      // Two of 32 layers of 8 heads of 128 numbers of two bytes: 128 KiB.
      bytesOfToken: 131_072,
      isElsewhere: false,
    })
  })

  it.each([
    null,
    undefined,
    'text',
    [],
    {},
    { model_info: null, parameters: 5 },
    { model_info: { 'general.architecture': 'x', 'x.context_length': 'many' } },
  ])('may be missing: %o', (show) => {
    expect(readFacts('llama3.1', show, show)).toEqual(UNKNOWN)
  })
})

describe('the largest window', () => {
  it.each([
    ['nothing is known', UNKNOWN, 16 * GIB, 32_768],
    ['a bucket of the memory holds it', { ...UNKNOWN, trainedTokens: 131_072, bytesOfToken: 131_072 }, 16 * GIB, 32_768],
    ['there is much memory', { ...UNKNOWN, trainedTokens: 262_144, bytesOfToken: 131_072 }, 256 * GIB, 131_072],
    ['there is little memory', { ...UNKNOWN, trainedTokens: 131_072, bytesOfToken: 131_072 }, 2 * GIB, 8_192],
    ['the model was trained for less', { ...UNKNOWN, trainedTokens: 4_096 }, 64 * GIB, 4_096],
    ['the server is another machine', { ...UNKNOWN, trainedTokens: 131_072, bytesOfToken: 1 }, null, 32_768],
    ['a larger one is configured', { ...UNKNOWN, trainedTokens: 131_072, ownTokens: 100_000 }, 8 * GIB, 100_000],
    ['a larger one is loaded', { ...UNKNOWN, trainedTokens: 131_072, loadedTokens: 65_536 }, 8 * GIB, 65_536],
    ['it runs in the cloud', { ...UNKNOWN, trainedTokens: 262_144, isElsewhere: true }, 8 * GIB, 262_144],
  ] as const)('if %s', (_where, facts, memory, tokens) => {
    expect(largestWindow(facts, memory)).toBe(tokens)
  })

  it('is requested in steps that leave room for a reply, and never shrinks', () => {
    expect(windowFor(1_000, 131_072, 0)).toBe(8_192)
    expect(windowFor(roomForPrompt(8_192), 131_072, 0)).toBe(8_192)
    expect(windowFor(roomForPrompt(8_192) + 1, 131_072, 0)).toBe(16_384)
    expect(windowFor(1_000, 131_072, 65_536)).toBe(65_536)
    expect(windowFor(500_000, 40_000, 8_192)).toBe(40_000)
    expect(windowFor(1_000, 4_096, 0)).toBe(4_096)
  })
})

describe('a prompt for Ollama', () => {
  let server: ModelServer
  const outbound = createOutbound()
  afterEach(() => server.close())

  async function start(options: ModelServerOptions) {
    server = await startModelServer({ looksLike: 'ollama', ...options })
    const access = { id: 'o', kind: 'ollama' as const, name: 'Ollama', baseUrl: server.url, apiKey: null }
    const adapter = createProviderAdapter(PROVIDER_DRIVERS.ollama, access, {
      fetch: outbound.fetch,
      clock: systemClock,
      memoryBytes: 32 * GIB,
    })
    return async (chars: number): Promise<ModelEvent> => {
      const messages = [{ role: 'user' as const, text: 'The task. ' + 'word '.repeat(chars / 5) }]
      const request = { model: 'small', messages, tools: [], maxOutputTokens: null }
      let last: ModelEvent | null = null
      for await (const event of adapter.stream(request, new AbortController().signal)) last = event
      return last!
    }
  }

  it('is read whole, and the model reloads once for each doubling', async () => {
    const ask = await start({ ollama: { trainedTokens: 131_072, modelInfo: LLAMA.model_info } })
    for (const chars of [100, 2_000, 15_000, 20_000, 30_000, 100, 60_000, 60_000]) expect((await ask(chars)).type).toBe('finish')
    expect(server.loads).toEqual([8_192, 16_384, 32_768])
    expect(server.cuts()).toBe(0)
  })

  it('is refused if the model holds less, even if the server would truncate it', async () => {
    const ask = await start({ ollama: { trainedTokens: 8_192, alwaysCuts: true } })
    expect(await ask(100_000)).toMatchObject({ type: 'failed', failure: { kind: 'context_too_long', tooLong: { windowTokens: 8_192 } } })
    expect(server.received).toEqual([])
  })

  it('is recognized as too long by the refusal of the server', async () => {
    const ask = await start({})
    server.play({ fault: { kind: 'status', status: 400, error: { message: 'the input length exceeds the context length' } } })
    expect(await ask(24_000)).toMatchObject({ type: 'failed', failure: { kind: 'context_too_long', retryable: false } })
  })

  it('is retried with a smaller window if memory is short', async () => {
    const ask = await start({ ollama: { trainedTokens: 131_072, affordableTokens: 16_384 } })
    expect((await ask(80_000)).type).toBe('failed')
    expect((await ask(40_000)).type).toBe('finish')
    expect(server.loads).toEqual([16_384])
    // What was found out is kept.
    expect(server.received).toHaveLength(2)
  })

  it('fails with a clear message if there is no memory at all', async () => {
    const ask = await start({ ollama: { trainedTokens: 131_072, affordableTokens: 1_000 } })
    expect(await ask(100)).toMatchObject({
      type: 'failed',
      failure: {
        kind: 'server',
        retryable: true,
        message: expect.objectContaining({ code: 'model_no_memory' }),
      },
    })
  })

  it('gets the configured window of the model if that is larger', async () => {
    const ask = await start({ ollama: { trainedTokens: 131_072, parameters: 'num_ctx 40000' } })
    await ask(100)
    expect(server.loads).toEqual([40_000])
  })
})
