import { z } from 'zod'
import { Id, Moment } from './primitives.ts'
import { JobStatus } from './jobs.ts'

export const Conversation = z.object({
  id: Id,
  entityId: Id,
  agentId: Id,
  agentName: z.string(),
  title: z.string(),
  /** The status of its newest turn. */
  lastJobStatus: JobStatus.nullable(),
  createdAt: Moment,
  updatedAt: Moment,
})
export type Conversation = z.infer<typeof Conversation>

export const Message = z.object({
  id: Id,
  conversationId: Id,
  /** The turn that this message started, or that wrote it. */
  jobId: Id,
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  createdAt: Moment,
})
export type Message = z.infer<typeof Message>
