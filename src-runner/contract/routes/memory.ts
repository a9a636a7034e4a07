import { z } from 'zod'
import { CreateMemory, JobMemory, Memory, UpdateMemory } from '../memory.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { jobParams, Nothing, routeTable } from './route.ts'

const memoryParams = z.object({ memoryId: Id })

export const memoryRoutes = routeTable({
  listJobMemories: {
    method: 'GET',
    path: '/api/jobs/:jobId/memories',
    gate: 'runner',
    summary: 'What a job was given to read of the memory, word for word as it then was.',
    params: jobParams,
    status: 200,
    answer: z.object({ memories: z.array(JobMemory) }),
    errors: ['invalid_request', 'job_not_found'],
    shows: ['job'],
  },
  listMemories: {
    method: 'GET',
    path: '/api/memories',
    gate: 'runner',
    summary: 'What agents remember, newest first. `agentId` is an agent or `shared`; `q` is a full-text search.',
    query: PageQuery.extend({ agentId: z.union([Id, z.literal('shared')]).optional(), q: z.string().trim().max(500).optional() }),
    status: 200,
    answer: z.object({ memories: z.array(Memory), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['memories'],
  },
  createMemory: {
    method: 'POST',
    path: '/api/memories',
    gate: 'runner',
    summary: 'Let an agent, or all of them, remember something.',
    body: CreateMemory,
    status: 201,
    answer: z.object({ memory: Memory }),
    errors: ['invalid_request', 'agent_not_found', 'memory_full', 'disk_full'],
  },
  updateMemory: {
    method: 'PATCH',
    path: '/api/memories/:memoryId',
    gate: 'runner',
    summary: 'Write a memory anew. Whoever does vouches for it: it is trusted from then on.',
    params: memoryParams,
    body: UpdateMemory,
    status: 200,
    answer: z.object({ memory: Memory }),
    errors: ['invalid_request', 'memory_not_found', 'disk_full'],
  },
  deleteMemory: {
    method: 'DELETE',
    path: '/api/memories/:memoryId',
    gate: 'runner',
    summary: 'Remove a memory. What jobs have read of it stays with them.',
    params: memoryParams,
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'memory_not_found'],
  },
})
