import { z } from 'zod'
import { Id, Moment } from './primitives.ts'

/** `agentId` null: shared by all agents. */
export const Memory = z.object({
  id: Id,
  agentId: Id.nullable(),
  text: z.string(),
  /** null: a person wrote it. */
  jobId: Id.nullable(),
  /** Written by a job that had read untrusted text, so reading it adds the taint again. */
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

/** A memory as a job read it: in its prompt, or with `recall`. */
export const JobMemory = z.object({
  memoryId: Id,
  text: z.string(),
  via: z.enum(['prompt', 'recall']),
  untrusted: z.boolean(),
  at: Moment,
})
export type JobMemory = z.infer<typeof JobMemory>
