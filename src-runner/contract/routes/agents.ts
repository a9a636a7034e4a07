import { UnpricedModels } from '../providers.ts'
import { z } from 'zod'
import { Agent, CreateAgent, UpdateAgent } from '../agents.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { del, get, Nothing, patch, post } from './route.ts'

const agentParams = z.object({ agentId: Id })

export const agentRoutes = {
  listAgents: get('/api/agents', {
    reach: 'workspace',
    summary: 'Agents, by name.',
    query: PageQuery.extend({ entityId: Id.optional() }),
    answer: z.object({ agents: z.array(Agent), nextCursor: NextCursor }),
    shows: ['agents'],
  }),
  createAgent: post('/api/agents', {
    reach: 'workspace',
    summary: 'Create an agent. Its slug is made from the name.',
    body: CreateAgent,
    status: 201,
    answer: z.object({ agent: Agent, unpricedModels: UnpricedModels }),
    errors: ['entity_not_found', 'provider_not_found', 'folder_not_usable'],
  }),
  getAgent: get('/api/agents/:agentId', {
    reach: 'workspace',
    summary: 'One agent.',
    params: agentParams,
    answer: z.object({ agent: Agent, unpricedModels: UnpricedModels }),
    errors: ['agent_not_found'],
    shows: ['agents'],
  }),
  updateAgent: patch('/api/agents/:agentId', {
    reach: 'workspace',
    summary: 'Change an agent. Omitted fields stay as they are. Running jobs keep the settings they started with.',
    params: agentParams,
    body: UpdateAgent,
    answer: z.object({ agent: Agent, unpricedModels: UnpricedModels }),
    errors: ['agent_not_found', 'provider_not_found', 'folder_not_usable'],
  }),
  deleteAgent: del('/api/agents/:agentId', {
    reach: 'workspace',
    summary: 'Delete an agent. Its unfinished jobs are cancelled; finished jobs stay in Activity.',
    params: agentParams,
    answer: Nothing,
    errors: ['agent_not_found', 'vault_unavailable'],
  }),
}
