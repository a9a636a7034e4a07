import { problemOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { DEMO_PROVIDER_ID, type ModelRef } from '../../contract/agents.ts'
import type { Model, ModelList, Price } from '../../contract/providers.ts'
import type { OutboundFetch } from '../../platform/net/outbound.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { AnswerTimeouts } from './response-timeouts.ts'
import { createDemoModel } from './demo.ts'
import { failure } from './failures.ts'
import { createLocalServers } from './local-servers.ts'
import type { KnownPrice, ListedModel, ModelAdapter, ModelSource, ProviderAccess } from './model.ts'
import { createPriceBook, FREE, isFree, knownPriceOf, type PriceBook, type PricedProvider, shownPriceOf } from './prices.ts'
import { createProviderAdapter } from './provider-adapter.ts'
import { PROVIDER_DRIVERS } from './provider-drivers.ts'

export type ModelSourceDeps = {
  /** The provider with its key. null: there is none. Rejects while the vault is locked. */
  readProvider(id: string): Promise<ProviderAccess | null>
  /** The price that the person set. */
  readOwnPrice(ref: ModelRef): Price | null
  fetch: OutboundFetch
  clock: Clock
  prices?: PriceBook
  timeouts?: AnswerTimeouts
  /** The pace of the demo model; 0 in tests. */
  demoWordMs?: number
  listFreshMs?: number
  listTimeoutMs?: number
}

export type ListedModels = Pick<ModelList, 'models' | 'problems'>

export type Models = ModelSource & {
  /** A provider that cannot be asked becomes a problem in the result. */
  listModels(providers: readonly { id: string; name: string }[]): Promise<ListedModels>
  /** Ignores the cache. Throws AppError('provider_refused'). */
  checkProvider(id: string): Promise<ListedModel[]>
  hasPrice(ref: ModelRef, provider: PricedProvider): Promise<boolean>
  /** For a provider that was changed or removed. */
  forget(id: string): void
}

/** Every listed model holds a prompt of this size. */
const LISTED_FROM_TOKENS = 6_000

export function createModelSource(deps: ModelSourceDeps): Models {
  const { clock, fetch, prices = createPriceBook(() => clock.now()), listFreshMs = 300_000, listTimeoutMs = 10_000 } = deps
  const local = createLocalServers({ fetch, clock })
  const demo = createDemoModel({ clock, wordMs: deps.demoWordMs })
  const adapters = new Map<string, { access: ProviderAccess; adapter: ModelAdapter }>()
  const lists = new Map<string, { access: ProviderAccess; until: number; list: Promise<ListedModel[]> }>()

  const adapterFor = (access: ProviderAccess): ModelAdapter => {
    if (access.kind === 'demo') return demo
    const known = adapters.get(access.id)
    if (known !== undefined && isSameAccess(known.access, access)) return known.adapter
    const adapter = createProviderAdapter(PROVIDER_DRIVERS[access.kind], access, { fetch, clock, timeouts: deps.timeouts })
    adapters.set(access.id, { access, adapter })
    return adapter
  }

  const readAccess = async (id: string): Promise<ProviderAccess | null> => (id === DEMO_PROVIDER_ID ? DEMO_ACCESS : deps.readProvider(id))

  const priceOf = async (ref: ModelRef, access: PricedProvider): Promise<{ price: KnownPrice | null; origin: Model['priceOrigin'] }> => {
    const own = deps.readOwnPrice(ref)
    if (own !== null) return { price: knownPriceOf(own), origin: 'user' }
    if (await isFree(access, local)) return { price: FREE, origin: 'free' }
    const price = await prices.priceOf(access, ref.model)
    return price === null ? { price: null, origin: 'unknown' } : { price, origin: 'package' }
  }

  const ask = async (access: ProviderAccess): Promise<ListedModel[]> => {
    const over = new AbortController()
    const tooLate = clock.sleep(listTimeoutMs, over.signal).then(() => {
      const error = new AppError(
        'provider_refused',
        createMessage('model_list_late', { provider: access.name, seconds: Math.round(listTimeoutMs / 1000) }),
      )
      over.abort(error)
      throw error
    })
    const answer = adapterFor(access).listModels(over.signal)
    try {
      return await Promise.race([answer, tooLate])
    } finally {
      over.abort(new Error('the list is here'))
      await Promise.allSettled([answer, tooLate])
    }
  }

  const listOf = (access: ProviderAccess): Promise<ListedModel[]> => {
    const known = lists.get(access.id)
    if (known !== undefined && clock.monotonic() < known.until && isSameAccess(known.access, access)) return known.list
    const list = ask(access)
    lists.set(access.id, { access, until: clock.monotonic() + listFreshMs, list })
    // Errors are not cached: the person fixes the problem and tries again.
    list.catch(() => {
      if (lists.get(access.id)?.list === list) lists.delete(access.id)
    })
    return list
  }

  /** Do not ask for a list again with every call. */
  const unlisted = new Map<string, number>()

  /** What the provider itself says comes before the price package. */
  const readWindow = async (access: ProviderAccess, model: string, promptTokens: number, signal: AbortSignal): Promise<number | null> => {
    const own = await adapterFor(access).readWindow?.(model, signal)
    if (own !== undefined && own !== null) return own
    const fromList = async (list: Promise<ListedModel[]>) => (await list).find((listed) => listed.model === model)?.contextTokens ?? null
    const known = lists.get(access.id)
    const listed = known !== undefined && isSameAccess(known.access, access) ? await fromList(known.list) : null
    if (listed !== null) return listed
    const general = await prices.contextTokensOf(access, model)
    if (general !== null || promptTokens < LISTED_FROM_TOKENS || clock.monotonic() < (unlisted.get(access.id) ?? -Infinity)) return general
    unlisted.set(access.id, clock.monotonic() + listFreshMs)
    return fromList(listOf(access))
  }

  const describe = async (access: ProviderAccess, listed: ListedModel): Promise<Model> => {
    const { price, origin } = await priceOf({ providerId: access.id, model: listed.model }, access)
    return {
      providerId: access.id,
      providerName: access.name,
      providerKind: access.kind,
      model: listed.model,
      label: listed.label,
      contextTokens: listed.contextTokens ?? (await prices.contextTokensOf(access, listed.model)),
      price: price === null ? null : shownPriceOf(price),
      priceOrigin: origin,
    }
  }

  return {
    async open(ref) {
      let access: ProviderAccess | null
      try {
        access = await readAccess(ref.providerId)
      } catch (thrown) {
        if (thrown instanceof AppError && thrown.code === 'vault_unavailable') {
          return { failure: failure('key_out_of_reach', thrown.detail ?? createMessage('keychain_unusable')) }
        }
        return { failure: failure('auth', createMessage('model_key_unreadable', { problem: problemOf(thrown) })) }
      }
      if (access === null) {
        return { failure: failure('not_found', createMessage('model_provider_gone')) }
      }
      const { price } = await priceOf(ref, access)
      return {
        adapter: adapterFor(access),
        price,
        providerName: access.name,
        readWindow: (promptTokens, signal) =>
          readWindow(access, ref.model, promptTokens, signal).catch(() => {
            signal.throwIfAborted()
            return null
          }),
      }
    },

    async listModels(providers) {
      const answers = await Promise.all(
        providers.map(async ({ id, name }): Promise<ListedModels> => {
          try {
            const access = await readAccess(id)
            if (access === null) return { models: [], problems: [] }
            const listed = await listOf(access)
            return { models: await Promise.all(listed.map((model) => describe(access, model))), problems: [] }
          } catch (thrown) {
            return { models: [], problems: [{ providerId: id, providerName: name, message: problemOf(thrown) }] }
          }
        }),
      )
      return { models: answers.flatMap((answer) => answer.models), problems: answers.flatMap((answer) => answer.problems) }
    },

    async checkProvider(id) {
      const access = await readAccess(id)
      if (access === null) throw new AppError('provider_not_found', 'This provider does not exist.')
      lists.delete(id)
      return listOf(access)
    },

    hasPrice: async (ref, provider) => (await priceOf(ref, provider)).price !== null,

    forget(id) {
      adapters.delete(id)
      lists.delete(id)
      unlisted.delete(id)
    },
  }
}

const DEMO_ACCESS: ProviderAccess = { id: DEMO_PROVIDER_ID, kind: 'demo', name: 'Demo', baseUrl: null, apiKey: null }

function isSameAccess(a: ProviderAccess, b: ProviderAccess): boolean {
  return a.kind === b.kind && a.name === b.name && a.baseUrl === b.baseUrl && a.apiKey === b.apiKey
}
