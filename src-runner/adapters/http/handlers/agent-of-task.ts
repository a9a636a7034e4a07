import type { Db } from '../../../platform/db/database.ts'
import type { Agent } from '../../../contract/agents.ts'
import type { Message } from '../../../contract/messages.ts'
import { AppError } from '../../../lib/errors.ts'
import { createMessage } from '../../../lib/messages.ts'
import { findAgent, findAgentBySlug, findDefaultAgent } from '../../../domain/agents/agents.ts'
import { findDefaultEntity } from '../../../domain/entities/entities.ts'

/** The agent that a task names, or the default agent of its workspace. Throws AppError agent_not_found. */
export function resolveAgent(db: Db, task: { agentId?: string; agentSlug?: string; entityId?: string }): Agent {
  if (task.agentId !== undefined) {
    const agent = findAgent(db, task.agentId)
    const isElsewhere = task.entityId !== undefined && agent?.entityId !== task.entityId
    return agent === null || isElsewhere ? fail() : agent
  }
  const entityId = task.entityId ?? findDefaultEntity(db).id
  if (task.agentSlug !== undefined) return findAgentBySlug(db, entityId, task.agentSlug) ?? fail()
  return findDefaultAgent(db, entityId) ?? fail(createMessage('agent_missing'))
}

function fail(detail?: Message): never {
  throw new AppError('agent_not_found', detail)
}
