import { problemOf } from '../../../lib/errors.ts'
import { transact } from '../../../platform/db/transact.ts'
import type { FoundServer, Provider, UpdateProvider } from '../../../contract/providers.ts'
import { AppError } from '../../../lib/errors.ts'
import { providerKey } from '../../../lib/vault.ts'
import { setPrice } from '../../../domain/prices/prices.ts'
import { deleteProvider, getProvider, insertProvider, listProviders, updateProvider } from '../../../domain/providers/providers.ts'
import { readSettings } from '../../../domain/settings/settings.ts'
import { PROVIDER_DRIVERS } from '../../../agent/providers/provider-drivers.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

type Routes =
  | 'listProviders'
  | 'createProvider'
  | 'updateProvider'
  | 'deleteProvider'
  | 'checkProvider'
  | 'listFoundServers'
  | 'listModels'
  | 'setModelPrice'

/**
 * Keys live in the vault, rows say only that there is one. The vault and the database know no common transaction, so
 * the order is such that a break in between leaves a key without a row (harmless), never a row whose key is missing.
 */
export function providerHandlers({ db, clock, ids, vault, models, findServers, log }: HandlerDeps): Pick<Handlers, Routes> {
  /** Sets or removes a key, runs `write`, and takes the key's change back when `write` fails. */
  async function withKey<T>(providerId: string, apiKey: string | null, write: () => T): Promise<T> {
    const key = providerKey(providerId)
    const before = await vault.get(key)
    await putKey(key, apiKey)
    try {
      return write()
    } catch (error) {
      // Of a provider that was removed in the meantime nothing may come back: nobody would find it any more.
      const back = error instanceof AppError && error.code === 'provider_not_found' ? null : before
      await putKey(key, back).catch((cause: unknown) => log.error({ error: cause, providerId }, 'a key could not be put back'))
      throw error
    }
  }

  function putKey(key: string, value: string | null): Promise<void> {
    return value === null ? vault.delete(key) : vault.set(key, value)
  }

  function write(providerId: string, { name, baseUrl }: UpdateProvider, hasKey?: boolean): Provider {
    return transact(db, (tx) => updateProvider(tx, providerId, { name, baseUrl, hasKey }))
  }

  /**
   * A key is for one server. The old one is gone before the new address is written, and a new one is put in place after,
   * so that no call in between finds a key beside an address that it was not given for.
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
        // Refused is an answer to the question that was asked; a vault that is shut is not.
        if (error instanceof AppError && error.code === 'provider_refused') {
          return { ok: false, models: 0, message: problemOf(error) }
        }
        throw error
      }
    },

    async listFoundServers() {
      const known = new Set(listProviders(db).map((provider) => originOf(provider.baseUrl)))
      return { servers: (await findServers()).filter((server: FoundServer) => !known.has(originOf(server.baseUrl))) }
    },

    async listModels() {
      const listed = await models.listModels(listProviders(db))
      return { ...listed, defaultModel: readSettings(db).defaultModel }
    },

    setModelPrice({ body }) {
      transact(db, (tx) => setPrice(tx, { clock }, body.model, body.price))
      return { ok: true }
    },
  }
}

function requireChangeable(provider: Provider, { baseUrl }: UpdateProvider): void {
  if (provider.origin === 'built_in') throw new AppError('provider_read_only', 'The built-in provider cannot be changed.')
  if (baseUrl === null && provider.kind === 'openai-compatible') {
    throw new AppError('invalid_request', 'This kind of provider needs a base URL.', {
      issues: [{ path: 'baseUrl', message: 'an OpenAI-compatible provider needs its base URL' }],
    })
  }
}

/** Without an address it is the one of its kind. */
function isSameServer({ kind, baseUrl }: Provider, now: string | null): boolean {
  const usual = kind === 'demo' ? null : PROVIDER_DRIVERS[kind].defaultBaseUrl
  const [before, after] = [baseUrl ?? usual, now ?? usual]
  return before === after || (before !== null && after !== null && new URL(before).origin === new URL(after).origin)
}

/** The same server under whichever of this machine's names it was written down. */
function originOf(baseUrl: string | null): string | null {
  if (baseUrl === null || !URL.canParse(baseUrl)) return null
  const { hostname, port, protocol } = new URL(baseUrl)
  return `${protocol}//${/^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname) ? 'localhost' : hostname}:${port}`
}
