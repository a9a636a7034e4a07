import { transact } from '../../../platform/db/database.ts'
import type { Provider, UpdateProvider } from '../../../contract/providers.ts'
import { AppError, invalidAt, problemOf } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { providerKey } from '../../../lib/vault.ts'
import { setPrice } from '../../../domain/prices/prices.ts'
import { pageOfList } from '../../../domain/cursors.ts'
import { writeProviderSecret } from '../../../domain/providers/provider-secret.ts'
import { deleteProvider, getProvider, insertProvider, listProviders, updateProvider } from '../../../domain/providers/providers.ts'
import { readSettings } from '../../../domain/settings/settings.ts'
import { originOfProvider } from '../../../agent/providers/provider-drivers.ts'
import type { Handlers } from '../handler.ts'
import { writeWithSecret } from '../write-with-secret.ts'
import type { HandlerDeps } from './deps.ts'

/** Keys are in the vault. A row only says that there is one. */
export function providerHandlers({ db, clock, ids, vault, models, findServers, log }: HandlerDeps) {
  /** `apiKey`: null deletes it. */
  function withKey<T>({ id, ...server }: Pick<Provider, 'id' | 'kind' | 'baseUrl'>, apiKey: string | null, write: () => T): Promise<T> {
    const secret = apiKey === null ? null : writeProviderSecret(apiKey, originOfProvider(server))
    return writeWithSecret({ vault, log }, providerKey(id), secret, write)
  }

  function write(providerId: string, { name, baseUrl }: UpdateProvider, hasKey?: boolean): Provider {
    return transact(db, (tx) => updateProvider(tx, providerId, { name, baseUrl, hasKey }))
  }

  return {
    listProviders({ query }) {
      const { items: providers, nextCursor } = pageOfList(listProviders(db), query, ({ id }) => id)
      return { providers, nextCursor }
    },

    async createProvider({ body: { kind, name, baseUrl = null, apiKey } }) {
      const row = { id: ids.next(), kind, name, baseUrl, hasKey: apiKey !== undefined, origin: 'user' as const }
      const insert = () => transact(db, (tx) => insertProvider(tx, { clock }, row))
      return { provider: apiKey === undefined ? insert() : await withKey(row, apiKey, insert) }
    },

    async updateProvider({ params: { providerId }, body }) {
      const before = getProvider(db, providerId)
      requireChangeable(before, body)
      const after = { ...before, ...(body.baseUrl === undefined ? {} : { baseUrl: body.baseUrl }) }
      // A key belongs to one server.
      const keyRemoved = before.hasKey && typeof body.apiKey !== 'string' && originOfProvider(after) !== originOfProvider(before)
      const apiKey = keyRemoved ? null : body.apiKey
      try {
        if (apiKey === undefined) return { provider: write(providerId, body), keyRemoved }
        return { provider: await withKey(after, apiKey, () => write(providerId, body, apiKey !== null)), keyRemoved }
      } finally {
        models.forget(providerId)
      }
    },

    async deleteProvider({ params: { providerId } }) {
      const provider = getProvider(db, providerId)
      const remove = () => transact(db, (tx) => deleteProvider(tx, providerId))
      if (provider.hasKey) await withKey(provider, null, remove)
      else remove()
      models.forget(providerId)
      return { ok: true }
    },

    async checkProvider({ params: { providerId } }) {
      try {
        const listed = await models.checkProvider(providerId)
        return { ok: true, models: listed.length, message: null }
      } catch (error) {
        // A refusal is a result of the check. Any other error, such as a locked vault, is not.
        if (!(error instanceof AppError) || error.code !== 'provider_refused') throw error
        return { ok: false, models: 0, message: problemOf(error) }
      }
    },

    async listFoundServers() {
      const known = new Set(listProviders(db).map((provider) => originOf(provider.baseUrl)))
      return { servers: (await findServers()).filter((server) => !known.has(originOf(server.baseUrl))) }
    },

    async listModels({ query }) {
      const { models: listed, problems } = await models.listModels(listProviders(db))
      const { items, nextCursor } = pageOfList(listed, query, ({ providerId, model }) => `${providerId}/${model}`)
      return { models: items, problems, defaultModel: readSettings(db).defaultModel, nextCursor }
    },

    setModelPrice({ body }) {
      transact(db, (tx) => setPrice(tx, { clock }, body.model, body.price))
      return { ok: true }
    },
  } satisfies Partial<Handlers>
}

function requireChangeable(provider: Provider, { baseUrl }: UpdateProvider): void {
  if (provider.origin === 'built_in') throw new AppError('provider_read_only')
  if (baseUrl === null && provider.kind === 'openai-compatible') throw invalidAt('baseUrl', createMessage('provider_needs_url'))
}

/** The same for every name of this machine. */
function originOf(baseUrl: string | null): string | null {
  if (baseUrl === null || !URL.canParse(baseUrl)) return null
  const { hostname, port, protocol } = new URL(baseUrl)
  return `${protocol}//${/^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ? 'localhost' : hostname}:${port}`
}
