import { UnpricedModels } from '../providers.ts'
import { z } from 'zod'
import { Agent, CreateAgent, UpdateAgent } from '../agents.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { Nothing, routeTable } from './route.ts'

const agentParams = z.object({ agentId: Id })

export const agentRoutes = routeTable({
  listAgents: {
    method: 'GET',
    path: '/api/agents',
    gate: 'runner',
    summary: 'Agents, by name.',
    query: PageQuery.extend({ entityId: Id.optional() }),
    status: 200,
    answer: z.object({ agents: z.array(Agent), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['agents'],
  },
  createAgent: {
    method: 'POST',
    path: '/api/agents',
    gate: 'runner',
    summary: 'Create an agent. Its slug is made from the name.',
    body: CreateAgent,
    status: 201,
    answer: z.object({ agent: Agent, unpricedModels: UnpricedModels }),
    errors: ['invalid_request', 'entity_not_found', 'provider_not_found', 'folder_not_usable'],
  },
  getAgent: {
    method: 'GET',
    path: '/api/agents/:agentId',
    gate: 'runner',
    summary: 'One agent.',
    params: agentParams,
    status: 200,
    answer: z.object({ agent: Agent, unpricedModels: UnpricedModels }),
    errors: ['invalid_request', 'agent_not_found'],
    shows: ['agents'],
  },
  updateAgent: {
    method: 'PATCH',
    path: '/api/agents/:agentId',
    gate: 'runner',
    summary: 'Change an agent. Fields left out stay as they are; a job that runs goes on with what it started with.',
    params: agentParams,
    body: UpdateAgent,
    status: 200,
    answer: z.object({ agent: Agent, unpricedModels: UnpricedModels }),
    errors: ['invalid_request', 'agent_not_found', 'provider_not_found', 'folder_not_usable'],
  },
  deleteAgent: {
    method: 'DELETE',
    path: '/api/agents/:agentId',
    gate: 'runner',
    summary: 'Delete an agent. Its running and waiting jobs are cancelled; what it did stays in Activity.',
    params: agentParams,
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'agent_not_found'],
  },
})
