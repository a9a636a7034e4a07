import { transact } from '../../../platform/db/database.ts'
import { isOpening } from '../../../platform/net/address-guard.ts'
import type { Settings, UpdateWebSearch, WebSearch } from '../../../contract/settings.ts'
import { AppError, invalidAt, issueAt } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { WEB_SEARCH_KEY } from '../../../lib/vault.ts'
import { listAgentFolders } from '../../../domain/agents/agents.ts'
import { getProvider } from '../../../domain/providers/providers.ts'
import { changeSettings, readSettings } from '../../../domain/settings/settings.ts'
import { UTC_DAY_MS } from '../../../domain/spend/add-spend.sql.ts'
import { readSpend } from '../../../domain/spend/spend.sql.ts'
import { missingFrom } from '../../../agent/tools/web-search/search-providers.ts'
import { makeSampleFolder } from '../sample-folder.ts'
import { requireBackupFolder } from '../usable-folders.ts'
import { unpricedModelsOfAll } from '../unpriced-models.ts'
import { writeWithSecret } from '../write-with-secret.ts'
import type { Handlers } from '../handler.ts'
import type { HandlerDeps } from './deps.ts'

export function settingsHandlers(deps: HandlerDeps) {
  const { db, clock, money, worker } = deps
  const write = (change: Partial<Settings>) => transact(db, (tx) => changeSettings(tx, { clock }, change))
  return {
    getSettings: () => ({ settings: readSettings(db) }),

    async updateSettings({ body }) {
      if (body.defaultModel != null) getProvider(db, body.defaultModel.providerId)
      requireOpenedHosts(body.openedHosts ?? [])
      if (body.backupFolder != null) await requireBackupFolder(body.backupFolder, deps.dataDir, listAgentFolders(db))
      const settings = write(body)
      // More jobs may run now.
      worker.nudge()
      return { settings, ...(await unpricedModelsOfAll(deps)) }
    },

    setPauseAll({ body }) {
      const settings = write(body)
      worker.nudge()
      return { settings }
    },

    updateWebSearch: async ({ body }) => ({ settings: await withSearchKey(deps, body.webSearch, (webSearch) => write({ webSearch })) }),

    getMcpEndpoint: () => deps.mcpEndpoint(),

    makeSampleFolder: async () => ({ path: await makeSampleFolder(deps.home) }),

    // While the clock was days ahead, spending was dated in the future. It is shown only if the query asks for it.
    getSpend({ query }, { caller }) {
      const own = caller.entityId === undefined ? { timezone: deps.timezone() } : {}
      return readSpend(db, { to: endOfUtcDay(money.now()), ...own, ...query }, caller.entityId)
    },
  } satisfies Partial<Handlers>
}

function endOfUtcDay(at: number): number {
  return at - (at % UTC_DAY_MS) + UTC_DAY_MS
}

/**
 * Stores the key of web search, then writes the setting. A key belongs to one provider at one address: it is deleted when
 * either changes, so it is never sent to a service that it was not given for.
 */
async function withSearchKey(
  { db, vault, log }: HandlerDeps,
  wanted: UpdateWebSearch | null,
  write: (webSearch: WebSearch | null) => Settings,
): Promise<Settings> {
  const before = readSettings(db).webSearch
  const isSamePlace = before !== null && wanted !== null && before.kind === wanted.kind && before.baseUrl === wanted.baseUrl
  const keeps = isSamePlace && wanted.apiKey === undefined
  const apiKey = wanted?.apiKey ?? null
  const hasKey = keeps ? before.hasKey : apiKey !== null
  if (wanted !== null) requireComplete(wanted, hasKey)
  const kept = wanted === null ? null : { kind: wanted.kind, baseUrl: wanted.baseUrl, hasKey }
  // Without a keychain, a provider that needs no key still works.
  if (keeps || (apiKey === null && before?.hasKey !== true)) return write(kept)
  return writeWithSecret({ vault, log }, WEB_SEARCH_KEY, apiKey, () => write(kept))
}

function requireComplete({ kind, baseUrl }: UpdateWebSearch, hasKey: boolean): void {
  const missing = missingFrom({ kind, baseUrl }, hasKey)
  if (missing !== null) throw invalidAt(`webSearch.${missing.code === 'search_needs_key' ? 'apiKey' : 'baseUrl'}`, missing)
}

function requireOpenedHosts(hosts: readonly string[]): void {
  const issues = hosts.flatMap((host, i) => (isOpening(host) ? [] : [issueAt(`openedHosts.${i}`, createMessage('host_unreadable'))]))
  if (issues.length > 0) throw new AppError('invalid_request', issues[0]!.detail, { issues })
}
