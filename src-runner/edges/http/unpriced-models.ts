import type { Db } from '../../base/db/database.ts'
import type { Agent, ModelRef } from '../../contract/agents.ts'
import { listAgents } from '../../records/agents/agents.ts'
import { findProvider } from '../../records/providers/providers.ts'
import { readSettings } from '../../records/settings/settings.ts'
import type { Models } from '../../thinking/models/model-source.ts'
import { modelsOf } from '../../work/agent-work.ts'

type Deps = { db: Db; models: Pick<Models, 'hasPrice'> }

/**
 * Which models of these agents have no price, for answers about limits in money: their calls cost nothing as far as
 * anybody can count, so a limit never holds them.
 */
export async function unpricedModels(
  { db, models }: Deps,
  agents: readonly Pick<Agent, 'model' | 'fallbacks'>[],
): Promise<{ unpricedModels?: ModelRef[] }> {
  const { defaultModel } = readSettings(db)
  const all = new Map<string, ModelRef>()
  for (const agent of agents) for (const ref of modelsOf(agent, defaultModel)) all.set(JSON.stringify([ref.providerId, ref.model]), ref)
  const unpriced: ModelRef[] = []
  for (const ref of all.values()) {
    const provider = findProvider(db, ref.providerId)
    if (provider !== null && !(await models.hasPrice(ref, provider))) unpriced.push(ref)
  }
  return unpriced.length === 0 ? {} : { unpricedModels: unpriced }
}

const MOST_AGENTS = 200

/** Of the limit of all agents together. */
export async function unpricedModelsOfAll(deps: Deps): Promise<{ unpricedModels?: ModelRef[] }> {
  return unpricedModels(deps, listAgents(deps.db, { limit: MOST_AGENTS }).agents)
}
