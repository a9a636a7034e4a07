import { transact } from '../../../platform/db/database.ts'
import type { Provider, UpdateProvider } from '../../../contract/providers.ts'
import { AppError, invalidAt, problemOf } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { providerKey } from '../../../lib/vault.ts'
import { setPrice } from '../../../domain/prices/prices.ts'
import { deleteProvider, getProvider, insertProvider, listProviders, updateProvider } from '../../../domain/providers/providers.ts'
import { readSettings } from '../../../domain/settings/settings.ts'
import { PROVIDER_DRIVERS } from '../../../agent/providers/provider-drivers.ts'
import type { Handlers } from '../handler.ts'
import { writeWithSecret } from '../write-with-secret.ts'
import type { HandlerDeps } from './deps.ts'

/** Keys are in the vault. A row only says that there is one. */
export function providerHandlers({ db, clock, ids, vault, models, findServers, log }: HandlerDeps) {
  function withKey<T>(providerId: string, apiKey: string | null, write: () => T): Promise<T> {
    return writeWithSecret({ vault, log }, providerKey(providerId), apiKey, write)
  }

  function write(providerId: string, { name, baseUrl }: UpdateProvider, hasKey?: boolean): Provider {
    return transact(db, (tx) => updateProvider(tx, providerId, { name, baseUrl, hasKey }))
  }

  /**
   * A key belongs to one server. The old one is deleted before the new address is written and the new one stored after, so no
   * call in between finds a key with an address that it was not given for.
   */
  async function moveProvider(providerId: string, body: UpdateProvider): Promise<Provider> {
    const moved = await withKey(providerId, null, () => write(providerId, body, false))
    const { apiKey } = body
    return typeof apiKey === 'string' ? withKey(providerId, apiKey, () => write(providerId, {}, true)) : moved
  }

  return {
    listProviders: () => ({ providers: listProviders(db), nextCursor: null }),

    async createProvider({ body: { kind, name, baseUrl, apiKey } }) {
      const id = ids.next()
      const insert = () =>
        transact(db, (tx) =>
          insertProvider(tx, { clock }, { id, kind, name, baseUrl: baseUrl ?? null, hasKey: apiKey !== undefined, origin: 'user' }),
        )
      return { provider: apiKey === undefined ? insert() : await withKey(id, apiKey, insert) }
    },

    async updateProvider({ params: { providerId }, body }) {
      const before = getProvider(db, providerId)
      requireChangeable(before, body)
      const { apiKey, baseUrl } = body
      const moves = baseUrl !== undefined && !isSameServer(before, baseUrl)
      try {
        if (moves && (before.hasKey || typeof apiKey === 'string')) {
          return { provider: await moveProvider(providerId, body), keyRemoved: before.hasKey && typeof apiKey !== 'string' }
        }
        if (apiKey === undefined) return { provider: write(providerId, body), keyRemoved: false }
        return { provider: await withKey(providerId, apiKey, () => write(providerId, body, apiKey !== null)), keyRemoved: false }
      } finally {
        models.forget(providerId)
      }
    },

    async deleteProvider({ params: { providerId } }) {
      const provider = getProvider(db, providerId)
      const remove = () => transact(db, (tx) => deleteProvider(tx, providerId))
      if (provider.hasKey) await withKey(providerId, null, remove)
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

    listModels: async () => ({ ...(await models.listModels(listProviders(db))), defaultModel: readSettings(db).defaultModel }),

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

/** Without an address, a provider has the default one of its kind. */
function isSameServer({ kind, baseUrl }: Provider, now: string | null): boolean {
  const usual = kind === 'demo' ? null : PROVIDER_DRIVERS[kind].defaultBaseUrl
  const [before, after] = [baseUrl ?? usual, now ?? usual]
  return before === after || (before !== null && after !== null && new URL(before).origin === new URL(after).origin)
}

/** The same for every name of this machine. */
function originOf(baseUrl: string | null): string | null {
  if (baseUrl === null || !URL.canParse(baseUrl)) return null
  const { hostname, port, protocol } = new URL(baseUrl)
  return `${protocol}//${/^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ? 'localhost' : hostname}:${port}`
}
