import type { Db } from '../../platform/db/database.ts'
import type { Agent, ModelRef } from '../../contract/agents.ts'
import { listAgents } from '../../domain/agents/agents.ts'
import { findProvider } from '../../domain/providers/providers.ts'
import { readSettings } from '../../domain/settings/settings.ts'
import type { Models } from '../../agent/providers/model-source.ts'
import { modelsOf } from '../../execution/agent-work.ts'

type Deps = { db: Db; models: Pick<Models, 'hasPrice'> }

/** The models of these agents without a known price. A spending limit cannot stop their calls. */
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

export async function unpricedModelsOfAll(deps: Deps): Promise<{ unpricedModels?: ModelRef[] }> {
  return unpricedModels(deps, listAgents(deps.db, { limit: MOST_AGENTS }).agents)
}
