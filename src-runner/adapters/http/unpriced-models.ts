import type { Db } from '../../platform/db/database.ts'
import type { Agent, ModelRef } from '../../contract/agents.ts'
import { listAgents } from '../../domain/agents/agents.ts'
import { findProvider } from '../../domain/providers/providers.ts'
import { readSettings } from '../../domain/settings/settings.ts'
import type { Models } from '../../agent/providers/model-source.ts'
import { modelsOf } from '../../execution/agent-work.ts'

type Deps = { db: Db; models: Pick<Models, 'hasPrice'> }

/** The models of these agents without a known price. A spending limit cannot stop their calls. */
export async function unpricedModels({ db, models }: Deps, agents: readonly Pick<Agent, 'model' | 'fallbacks'>[]) {
  const { defaultModel } = readSettings(db)
  const refs = agents.flatMap((agent) => modelsOf(agent, defaultModel))
  const unpriced: ModelRef[] = []
  for (const ref of new Map(refs.map((one) => [`${one.providerId} ${one.model}`, one])).values()) {
    const provider = findProvider(db, ref.providerId)
    if (provider !== null && !(await models.hasPrice(ref, provider))) unpriced.push(ref)
  }
  return unpriced.length === 0 ? {} : { unpricedModels: unpriced }
}

const MAX_AGENTS = 200

export function unpricedModelsOfAll(deps: Deps) {
  return unpricedModels(deps, listAgents(deps.db, { limit: MAX_AGENTS }).agents)
}
