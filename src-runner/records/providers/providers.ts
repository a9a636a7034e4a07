import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { Provider, ProviderKind } from '../../contract/providers.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import { say } from '../../kit/said.ts'
import { listAgentsUsingProvider } from '../agents/agents.ts'
import { readSettings } from '../settings/settings.ts'

/** What is known of providers besides their keys, which are in the vault. */

type ProviderRow = {
  id: string
  kind: ProviderKind
  name: string
  base_url: string | null
  has_key: number
  origin: Provider['origin']
  created_at: number
}

export function findProvider(db: Db, providerId: string): Provider | null {
  const row = db.prepare<ProviderRow>('SELECT * FROM providers WHERE id = ?').get(providerId)
  return row === undefined ? null : providerOf(row)
}

/** Throws AppError provider_not_found. */
export function getProvider(db: Db, providerId: string): Provider {
  const provider = findProvider(db, providerId)
  if (provider === null) throw new AppError('provider_not_found', 'There is no such provider.')
  return provider
}

/** The demo first, then in the order they were added. */
export function listProviders(db: Db): Provider[] {
  return db.prepare<ProviderRow>("SELECT * FROM providers ORDER BY origin <> 'built_in', created_at, id").all().map(providerOf)
}

export function insertProvider(tx: Tx, { clock }: { clock: Clock }, provider: Omit<Provider, 'createdAt'>): Provider {
  tx.prepare('INSERT INTO providers (id, kind, name, base_url, has_key, origin, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)').run(
    provider.id,
    provider.kind,
    provider.name,
    provider.baseUrl,
    provider.hasKey ? 1 : 0,
    provider.origin,
    clock.now(),
  )
  tx.emit({ type: 'provider.created', payload: { providerId: provider.id } })
  return getProvider(tx, provider.id)
}

/** Throws AppError provider_not_found, or provider_read_only for the demo. */
export function updateProvider(tx: Tx, providerId: string, change: { name?: string; baseUrl?: string | null; hasKey?: boolean }): Provider {
  const before = requireChangeable(tx, providerId)
  tx.prepare('UPDATE providers SET name = ?, base_url = ?, has_key = ? WHERE id = ?').run(
    change.name ?? before.name,
    change.baseUrl === undefined ? before.baseUrl : change.baseUrl,
    (change.hasKey ?? before.hasKey) ? 1 : 0,
    providerId,
  )
  tx.emit({ type: 'provider.changed', payload: { providerId } })
  return getProvider(tx, providerId)
}

/** Its prices go with it. Throws AppError provider_not_found, provider_read_only, or provider_in_use. */
export function deleteProvider(tx: Tx, providerId: string): void {
  requireChangeable(tx, providerId)
  const [agent] = listAgentsUsingProvider(tx, providerId)
  if (agent !== undefined) throw new AppError('provider_in_use', say('provider_of_agent', { agentName: agent.name }))
  if (readSettings(tx).defaultModel?.providerId === providerId) {
    throw new AppError('provider_in_use', say('provider_of_default'))
  }
  tx.prepare('DELETE FROM providers WHERE id = ?').run(providerId)
  tx.emit({ type: 'provider.deleted', payload: { providerId } })
}

function requireChangeable(db: Db, providerId: string): Provider {
  const provider = getProvider(db, providerId)
  if (provider.origin === 'built_in') throw new AppError('provider_read_only', 'The built-in demo cannot be changed or removed.')
  return provider
}

function providerOf(row: ProviderRow): Provider {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    baseUrl: row.base_url,
    hasKey: row.has_key === 1,
    origin: row.origin,
    createdAt: row.created_at,
  }
}
