import type { Db } from '../../../platform/db/database.ts'
import type { Agent } from '../../../contract/agents.ts'
import { AppError } from '../../../lib/errors.ts'
import { findAgent, findAgentBySlug, findDefaultAgent } from '../../../domain/agents/agents.ts'
import { findDefaultEntity } from '../../../domain/entities/entities.ts'

/** The agent that a task names, or the default one of its entity. AppError agent_not_found. */
export function resolveAgent(db: Db, named: { agentId?: string; agentSlug?: string; entityId?: string }): Agent {
  const entityId = named.entityId ?? findDefaultEntity(db).id
  if (named.agentId !== undefined) {
    const agent = findAgent(db, named.agentId)
    // An agent of another entity than the one named is as good as none.
    if (agent === null || (named.entityId !== undefined && agent.entityId !== named.entityId))
      throw notFound('There is no agent with this id.')
    return agent
  }
  if (named.agentSlug !== undefined) {
    return findAgentBySlug(db, entityId, named.agentSlug) ?? fail('There is no agent with this slug.')
  }
  return findDefaultAgent(db, entityId) ?? fail('There is no default agent. Create an agent first, or name one.')
}

function fail(message: string): never {
  throw notFound(message)
}

function notFound(message: string): AppError {
  return new AppError('agent_not_found', message)
}
