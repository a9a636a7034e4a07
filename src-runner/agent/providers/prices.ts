import type { ModelInfo, ModelPrice, TieredPrices } from '@pydantic/genai-prices'
import type { Price, ProviderKind } from '../../contract/providers.ts'
import { OLLAMA_URL } from './base-url.ts'
import type { LocalServers } from './local-servers.ts'
import type { KnownPrice, TokenRates, Usage } from './model.ts'

export type PriceBook = ReturnType<typeof createPriceBook>

export type PricedProvider = { kind: ProviderKind; baseUrl: string | null }

export const FREE: KnownPrice = { inputMicros: 0, outputMicros: 0, cachedInputMicros: 0 }

/**
 * The demo and models that a server is known to run on this machine cost nothing. Any other server at a local address may be a
 * proxy to a paid service, so its models have no price until a person sets one.
 */
export async function isFree({ kind, baseUrl }: PricedProvider, model: string, local: LocalServers): Promise<boolean> {
  if (kind === 'demo') return true
  if (kind === 'ollama') return local.runsModel(baseUrl ?? OLLAMA_URL, model)
  return kind === 'openai-compatible' && baseUrl !== null && local.runsModel(baseUrl, model)
}

/** Whole micro-dollars, rounded up. Above the long-prompt limit, the higher price applies to the whole call. */
export function costMicros(usage: Usage, price: KnownPrice): number {
  const long = price.longPrompt
  const rate = long !== undefined && usage.input > long.fromInputTokens ? long : price
  const written = usage.cacheWrite ?? 0
  const plain = Math.max(0, usage.input - usage.cached - written)
  const perMillion =
    plain * rate.inputMicros +
    usage.cached * rate.cachedInputMicros +
    written * (rate.cacheWriteMicros ?? rate.inputMicros) +
    usage.output * rate.outputMicros
  return Math.ceil(perMillion / 1_000_000 + (rate.requestMicros ?? 0))
}

/** Without a price for cached input, the full price applies. */
export function knownPriceOf(price: Price): KnownPrice {
  return {
    inputMicros: toMicros(price.inputUsdPerMillion),
    outputMicros: toMicros(price.outputUsdPerMillion),
    cachedInputMicros: toMicros(price.cachedInputUsdPerMillion ?? price.inputUsdPerMillion),
  }
}

export function shownPriceOf(price: KnownPrice): Price {
  return {
    inputUsdPerMillion: price.inputMicros / 1_000_000,
    outputUsdPerMillion: price.outputMicros / 1_000_000,
    cachedInputUsdPerMillion: price.cachedInputMicros / 1_000_000,
  }
}

/** The package's names for the providers with a fixed address. */
const PACKAGE_IDS: Partial<Record<ProviderKind, string>> = { anthropic: 'anthropic', openai: 'openai', google: 'google' }

/** Prices and context windows from the package, without network. Loads it on first use: its data is almost a megabyte. */
export function createPriceBook(now: () => number) {
  let loaded: Promise<typeof import('@pydantic/genai-prices')> | null = null

  const find = async (provider: PricedProvider, model: string): Promise<{ info: ModelInfo; price: ModelPrice } | null> => {
    const { calcPrice } = await (loaded ??= import('@pydantic/genai-prices'))
    const providerId = PACKAGE_IDS[provider.kind]
    if (providerId === undefined && provider.baseUrl === null) return null
    const found = calcPrice({ input_tokens: 1 }, model, {
      ...(providerId === undefined ? { providerApiUrl: provider.baseUrl! } : { providerId }),
      timestamp: new Date(now()),
    })
    return found === null ? null : { info: found.model, price: found.model_price }
  }

  return {
    async priceOf(provider: PricedProvider, model: string): Promise<KnownPrice | null> {
      const found = await find(provider, model)
      return found === null ? null : readPrice(found.price)
    },
    async contextTokensOf(provider: PricedProvider, model: string): Promise<number | null> {
      return (await find(provider, model))?.info.context_window ?? null
    },
  }
}

function readPrice(listed: ModelPrice): KnownPrice | null {
  const base = ratesOf(listed, (price) => price.base)
  if (base === null) return null
  const start = Object.values(listed)
    .flatMap((price) => (typeof price === 'object' ? price.tiers.map((tier) => tier.start) : []))
    .reduce((least, from) => Math.min(least, from), Infinity)
  if (start === Infinity) return base
  const long = ratesOf(listed, (price) => price.tiers.find((tier) => tier.start === start)?.price ?? price.base)
  return long === null ? base : { ...base, longPrompt: { ...long, fromInputTokens: start } }
}

/** null: the model is not priced by tokens. */
function ratesOf(listed: ModelPrice, pick: (price: TieredPrices) => number): TokenRates | null {
  const of = (key: string) => {
    const price = listed[key]
    return price === undefined ? undefined : toMicros(typeof price === 'number' ? price : pick(price))
  }
  const inputMicros = of('input_mtok')
  const outputMicros = of('output_mtok')
  if (inputMicros === undefined || outputMicros === undefined) return null
  const cacheWriteMicros = of('cache_write_mtok')
  const thousandRequests = of('requests_kcount')
  return {
    inputMicros,
    outputMicros,
    cachedInputMicros: of('cache_read_mtok') ?? inputMicros,
    ...(cacheWriteMicros === undefined ? {} : { cacheWriteMicros }),
    ...(thousandRequests === undefined ? {} : { requestMicros: thousandRequests / 1_000 }),
  }
}

function toMicros(usd: number): number {
  return Math.round(usd * 1_000_000)
}
