import { eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Provider } from '../../contract/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, required } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { listAgentsUsingProvider } from '../agents/agents.ts'
import { readSettings } from '../settings/settings.ts'
import { providers } from './providers-table.ts'

const hasId = eq(providers.id, sql.placeholder('id'))
const PROVIDER_BY_ID = prepareOnce((db: Db) => db.select().from(providers).where(hasId))

export function findProvider(db: Db, providerId: string): Provider | null {
  return PROVIDER_BY_ID(db).get({ id: providerId }) ?? null
}

/** Throws AppError provider_not_found. */
export function getProvider(db: Db, providerId: string): Provider {
  return required(findProvider(db, providerId), 'provider_not_found')
}

/** The demo first, then in the order in which they were added. */
export function listProviders(db: Db): Provider[] {
  return db
    .select()
    .from(providers)
    .orderBy(sql`origin <> 'built_in'`, providers.createdAt, providers.id)
    .all()
}

export function insertProvider(tx: Tx, { clock }: { clock: Clock }, provider: Omit<Provider, 'createdAt'>): Provider {
  const row = { ...provider, createdAt: clock.now() }
  tx.insert(providers).values(row).run()
  tx.emit({ type: 'provider.created', payload: { providerId: provider.id } })
  return row
}

/** Throws AppError provider_not_found, or provider_read_only for the demo. */
export function updateProvider(tx: Tx, providerId: string, change: { name?: string; baseUrl?: string | null; hasKey?: boolean }): Provider {
  const before = requireChangeable(tx, providerId)
  const { name = before.name, baseUrl = before.baseUrl, hasKey = before.hasKey } = change
  tx.update(providers).set({ name, baseUrl, hasKey }).where(eq(providers.id, providerId)).run()
  tx.emit({ type: 'provider.changed', payload: { providerId } })
  return getProvider(tx, providerId)
}

/** Its prices go with it. Throws AppError provider_not_found, provider_read_only, or provider_in_use. */
export function deleteProvider(tx: Tx, providerId: string): void {
  requireChangeable(tx, providerId)
  const [agent] = listAgentsUsingProvider(tx, providerId)
  if (agent !== undefined) throw new AppError('provider_in_use', createMessage('provider_of_agent', { agentName: agent.name }))
  if (readSettings(tx).defaultModel?.providerId === providerId) {
    throw new AppError('provider_in_use', createMessage('provider_of_default'))
  }
  tx.delete(providers).where(eq(providers.id, providerId)).run()
  tx.emit({ type: 'provider.deleted', payload: { providerId } })
}

function requireChangeable(db: Db, providerId: string): Provider {
  const provider = getProvider(db, providerId)
  if (provider.origin === 'built_in') throw new AppError('provider_read_only')
  return provider
}
