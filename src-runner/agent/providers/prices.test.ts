import { describe, expect, it } from 'vitest'
import type { KnownPrice } from './model.ts'
import { costMicros, createPriceBook, FREE, isFree, knownPriceOf, shownPriceOf } from './prices.ts'

const NOW = Date.UTC(2026, 10, 20)
const book = createPriceBook(() => NOW)
const at = (kind: 'anthropic' | 'openai' | 'google' | 'openai-compatible' | 'ollama' | 'demo', baseUrl: string | null = null) => ({
  kind,
  baseUrl,
})

describe('costMicros', () => {
  it('counts what each call costs beside its tokens', async () => {
    const book = createPriceBook(Date.now)
    const price = await book.priceOf({ kind: 'openai-compatible', baseUrl: 'https://api.perplexity.ai' }, 'sonar')
    // The package lists $1 for a million tokens, and $12 for a thousand requests.
    expect(costMicros({ input: 500, output: 300, cached: 0 }, price!)).toBe(12_800)
  })

  const price: KnownPrice = { inputMicros: 3_000_000, outputMicros: 15_000_000, cachedInputMicros: 300_000, cacheWriteMicros: 3_750_000 }

  it.each([
    // 1000 × $3 + 100 × $15 per million
    [{ input: 1000, output: 100, cached: 0 }, 4500],
    // 400 × $3 + 600 × $0.30 + 100 × $15
    [{ input: 1000, output: 100, cached: 600 }, 2880],
    // 100 × $3 + 600 × $0.30 + 300 × $3.75 + 100 × $15
    [{ input: 1000, output: 100, cached: 600, cacheWrite: 300 }, 3105],
    [{ input: 1_000_000, output: 0, cached: 0 }, 3_000_000],
    [{ input: 0, output: 0, cached: 0 }, 0],
  ])('%o costs %i', (usage, micros) => {
    expect(costMicros(usage, price)).toBe(micros)
  })

  it('never rounds a paid call to zero', () => {
    expect(costMicros({ input: 1, output: 0, cached: 0 }, { inputMicros: 50_000, outputMicros: 0, cachedInputMicros: 0 })).toBe(1)
  })

  it('charges the whole of a long prompt at its own price', () => {
    const long = {
      ...price,
      longPrompt: { inputMicros: 6_000_000, outputMicros: 22_500_000, cachedInputMicros: 600_000, fromInputTokens: 200_000 },
    }
    expect(costMicros({ input: 200_000, output: 0, cached: 0 }, long)).toBe(600_000)
    expect(costMicros({ input: 200_001, output: 1000, cached: 0 }, long)).toBe(1_222_506)
  })

  it('is zero for a free model', () => {
    expect(costMicros({ input: 5_000_000, output: 5_000_000, cached: 0 }, FREE)).toBe(0)
  })

  it('is exact for the price of a person', () => {
    const own = { inputUsdPerMillion: 0.1, outputUsdPerMillion: 0.4 }
    expect(costMicros({ input: 30, output: 10, cached: 10 }, knownPriceOf(own))).toBe(7)
    expect(shownPriceOf(knownPriceOf(own))).toEqual({ ...own, cachedInputUsdPerMillion: 0.1 })
  })
})

describe('the price book', () => {
  it('has the published prices', async () => {
    expect(await book.priceOf(at('anthropic'), 'claude-sonnet-4-5-20250929')).toMatchObject({
      inputMicros: 3_000_000,
      outputMicros: 15_000_000,
      cachedInputMicros: 300_000,
      cacheWriteMicros: 3_750_000,
    })
    expect(await book.priceOf(at('openai'), 'gpt-5')).toEqual({
      inputMicros: 1_250_000,
      outputMicros: 10_000_000,
      cachedInputMicros: 125_000,
    })
    expect(await book.priceOf(at('google'), 'gemini-2.5-pro')).toEqual({
      inputMicros: 1_250_000,
      outputMicros: 10_000_000,
      cachedInputMicros: 125_000,
      longPrompt: { fromInputTokens: 200_000, inputMicros: 2_500_000, outputMicros: 15_000_000, cachedInputMicros: 250_000 },
    })
  })

  it('finds the prices of a compatible provider by its address', async () => {
    expect(await book.priceOf(at('openai-compatible', 'https://api.groq.com/openai/v1'), 'llama-3.3-70b-versatile')).not.toBeNull()
    expect(await book.priceOf(at('openai-compatible', 'https://models.example.org/v1'), 'gpt-5')).toBeNull()
  })

  it('has no price for an unknown model', async () => {
    expect(await book.priceOf(at('openai'), 'gpt-of-tomorrow')).toBeNull()
    expect(await book.priceOf(at('ollama', 'https://ollama.example.org'), 'llama3')).toBeNull()
  })

  it('has context windows', async () => {
    expect(await book.contextTokensOf(at('anthropic'), 'claude-sonnet-4-5')).toBe(200_000)
    expect(await book.contextTokensOf(at('openai'), 'gpt-of-tomorrow')).toBeNull()
  })

  it.each([
    [at('demo'), true],
    [at('ollama'), true],
    [at('ollama', 'http://localhost:11434'), true],
    [at('ollama', 'http://localhost:4000'), false],
    [at('ollama', 'http://192.168.1.9:11434'), false],
    [at('openai-compatible', 'http://127.0.0.1:1234/v1'), true],
    [at('openai-compatible', 'http://127.0.0.1:4000/v1'), false],
    [at('anthropic', 'http://127.0.0.1:4000'), false],
  ])('%o is free: %s', async (provider, free) => {
    const known = ['http://127.0.0.1:1234/v1', 'http://127.0.0.1:11434', 'http://localhost:11434']
    const local = { runsModel: (baseUrl: string, model: string) => Promise.resolve(known.includes(baseUrl) && model === 'small') }
    expect(await isFree(provider, 'small', local)).toBe(free)
  })
})
