import { z } from 'zod'
import { Id, Moment } from './primitives.ts'

/** Something an agent was told to remember, or remembered by itself. agentId null: shared by all agents. */
export const Memory = z.object({
  id: Id,
  agentId: Id.nullable(),
  text: z.string(),
  /** The job that wrote it; null: a person did. */
  jobId: Id.nullable(),
  /** Written by a job that had seen untrusted text: shown, and read back as untrusted. */
  untrusted: z.boolean(),
  createdAt: Moment,
  updatedAt: Moment,
})
export type Memory = z.infer<typeof Memory>

export const MEMORY_MAX_CHARS = 4000

export const CreateMemory = z.object({ agentId: Id.nullable().default(null), text: z.string().trim().min(1).max(MEMORY_MAX_CHARS) })
export type CreateMemory = z.infer<typeof CreateMemory>

export const UpdateMemory = z.object({ text: z.string().trim().min(1).max(MEMORY_MAX_CHARS) })
export type UpdateMemory = z.infer<typeof UpdateMemory>

/** A memory as a job read it: in its prompt from the beginning, or because it asked. */
export const JobMemory = z.object({
  memoryId: Id,
  text: z.string(),
  via: z.enum(['prompt', 'recall']),
  untrusted: z.boolean(),
  at: Moment,
})
export type JobMemory = z.infer<typeof JobMemory>
