import { z } from 'zod'
import { CreateMemory, JobMemory, Memory, UpdateMemory } from '../memory.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { del, get, jobParams, Nothing, patch, post } from './route.ts'

const memoryParams = z.object({ memoryId: Id })

export const memoryRoutes = {
  listJobMemories: get('/api/jobs/:jobId/memories', {
    reach: 'workspace',
    summary: 'The memories that a job read, as they were at that time.',
    params: jobParams,
    answer: z.object({ memories: z.array(JobMemory) }),
    errors: ['job_not_found'],
    shows: ['job'],
  }),
  listMemories: get('/api/memories', {
    reach: 'workspace',
    summary: 'Memories, newest first. `agentId` is an agent or `shared`; `q` is a full-text search.',
    query: PageQuery.extend({ agentId: z.union([Id, z.literal('shared')]).optional(), q: z.string().trim().max(500).optional() }),
    answer: z.object({ memories: z.array(Memory), nextCursor: NextCursor }),
    shows: ['memories'],
  }),
  createMemory: post('/api/memories', {
    reach: 'workspace',
    summary: 'Create a memory for an agent, or for all agents.',
    body: CreateMemory,
    status: 201,
    answer: z.object({ memory: Memory }),
    errors: ['agent_not_found', 'memory_full'],
  }),
  updateMemory: patch('/api/memories/:memoryId', {
    reach: 'workspace',
    summary: 'Change a memory. It is trusted from then on.',
    params: memoryParams,
    body: UpdateMemory,
    answer: z.object({ memory: Memory }),
    errors: ['memory_not_found'],
  }),
  deleteMemory: del('/api/memories/:memoryId', {
    reach: 'workspace',
    summary: 'Delete a memory. Jobs that read it keep their copy.',
    params: memoryParams,
    answer: Nothing,
    errors: ['memory_not_found'],
  }),
}
