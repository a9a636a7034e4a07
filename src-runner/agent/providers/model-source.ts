import { DEMO_PROVIDER_ID, type ModelRef } from '../../contract/agents.ts'
import type { Model, ModelList, Price } from '../../contract/providers.ts'
import type { OutboundFetch } from '../../platform/net/outbound.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, problemOf } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { createDemoModel } from './demo.ts'
import { failure } from './failures.ts'
import { mapInBatches } from './listed-models.ts'
import { createLocalServers } from './local-servers.ts'
import type { KnownPrice, ListedModel, ModelSource, ProviderAccess } from './model.ts'
import { createPriceBook, FREE, isFree, knownPriceOf, type PricedProvider, shownPriceOf } from './prices.ts'
import { createProviderAdapter } from './provider-adapter.ts'
import { PROVIDER_DRIVERS } from './provider-drivers.ts'
import { openProvider, type OpenProvider } from './open-provider.ts'

export type ModelSourceDeps = {
  /** The provider with its key. null: there is none. Rejects while the vault is locked. */
  readProvider(id: string): Promise<ProviderAccess | null>
  /** The price that the person set. */
  readOwnPrice(ref: ModelRef): Price | null
  fetch: OutboundFetch
  clock: Clock
  /** The pace of the demo model; 0 in tests. */
  demoWordMs?: number
}

type ListedModels = Pick<ModelList, 'models' | 'problems'>

export type Models = ModelSource & {
  /** A provider that cannot be asked becomes a problem in the result. */
  listModels(providers: readonly { id: string; name: string }[]): Promise<ListedModels>
  /** Ignores the cache. Throws AppError('provider_refused'). */
  checkProvider(id: string): Promise<ListedModel[]>
  hasPrice(ref: ModelRef, provider: PricedProvider): Promise<boolean>
  /** For a provider that was changed or removed. */
  forget(id: string): void
}

export function createModelSource(deps: ModelSourceDeps): Models {
  const { clock, fetch } = deps
  const local = createLocalServers({ fetch, clock })
  const prices = createPriceBook(() => clock.now())
  const demo = createDemoModel({ clock, wordMs: deps.demoWordMs })
  const providers = new Map<string, OpenProvider>()

  /** null: there is none. Throws what the vault throws. */
  const find = async (id: string): Promise<OpenProvider | null> => {
    const access = id === DEMO_PROVIDER_ID ? DEMO_ACCESS : await deps.readProvider(id)
    if (access === null) return null
    let provider = providers.get(id)
    if (provider === undefined || !isSameAccess(provider.access, access)) {
      const adapter = access.kind === 'demo' ? demo : createProviderAdapter(PROVIDER_DRIVERS[access.kind], access, { fetch, clock })
      providers.set(id, (provider = openProvider(access, adapter, { clock, prices })))
    }
    return provider
  }

  const priceOf = async (ref: ModelRef, access: PricedProvider): Promise<{ price: KnownPrice | null; origin: Model['priceOrigin'] }> => {
    const own = deps.readOwnPrice(ref)
    if (own !== null) return { price: knownPriceOf(own), origin: 'user' }
    if (await isFree(access, ref.model, local)) return { price: FREE, origin: 'free' }
    const price = await prices.priceOf(access, ref.model)
    return price === null ? { price: null, origin: 'unknown' } : { price, origin: 'package' }
  }

  const describe = async (access: ProviderAccess, { model, label, contextTokens }: ListedModel): Promise<Model> => {
    const { price, origin } = await priceOf({ providerId: access.id, model }, access)
    return {
      providerId: access.id,
      providerName: access.name,
      providerKind: access.kind,
      model,
      label,
      contextTokens: contextTokens ?? (await prices.contextTokensOf(access, model)),
      price: price === null ? null : shownPriceOf(price),
      priceOrigin: origin,
    }
  }

  return {
    async open(ref) {
      let provider: OpenProvider | null
      try {
        provider = await find(ref.providerId)
      } catch (thrown) {
        if (thrown instanceof AppError && thrown.code === 'vault_unavailable')
          return { failure: failure('key_out_of_reach', thrown.detail) }
        return { failure: failure('auth', createMessage('model_key_unreadable', { problem: problemOf(thrown) })) }
      }
      if (provider === null) return { failure: failure('not_found', createMessage('model_provider_gone')) }
      const { access, adapter, readWindow } = provider
      return {
        adapter,
        price: (await priceOf(ref, access)).price,
        providerName: access.name,
        readWindow: (promptTokens, signal) => readWindow(ref.model, promptTokens, signal),
      }
    },

    async listModels(listed) {
      const results = await Promise.all(
        listed.map(async ({ id, name }): Promise<ListedModels> => {
          try {
            const provider = await find(id)
            const models = (await provider?.listModels()) ?? []
            return { models: await mapInBatches(models, (model) => describe(provider!.access, model)), problems: [] }
          } catch (thrown) {
            return { models: [], problems: [{ providerId: id, providerName: name, message: problemOf(thrown) }] }
          }
        }),
      )
      return { models: results.flatMap(({ models }) => models), problems: results.flatMap(({ problems }) => problems) }
    },

    async checkProvider(id) {
      providers.delete(id)
      const provider = await find(id)
      if (provider === null) throw new AppError('provider_not_found')
      return provider.listModels()
    },

    hasPrice: async (ref, provider) => (await priceOf(ref, provider)).price !== null,

    forget: (id) => void providers.delete(id),
  }
}

const DEMO_ACCESS: ProviderAccess = { id: DEMO_PROVIDER_ID, kind: 'demo', name: 'Demo', baseUrl: null, apiKey: null }

function isSameAccess(a: ProviderAccess, b: ProviderAccess): boolean {
  return a.kind === b.kind && a.name === b.name && a.baseUrl === b.baseUrl && a.apiKey === b.apiKey
}
