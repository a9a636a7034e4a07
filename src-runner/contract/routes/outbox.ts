import { z } from 'zod'
import { AttentionItem, Recovery } from '../notifications.ts'
import { OutboundMessage, OutboundState } from '../outbox.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { get, post } from './route.ts'

export const outboxRoutes = {
  listOutbox: get('/api/outbox', {
    reach: 'workspace',
    summary: 'Messages of agents to channels, newest first.',
    query: PageQuery.extend({ state: OutboundState.optional(), agentId: Id.optional(), jobId: Id.optional() }),
    answer: z.object({ messages: z.array(OutboundMessage), nextCursor: NextCursor }),
    shows: ['outbox'],
  }),
  retryOutbound: post('/api/outbox/:messageId/retry', {
    reach: 'workspace',
    summary: 'Send a failed message again.',
    params: z.object({ messageId: Id }),
    status: 202,
    answer: z.object({ message: OutboundMessage }),
    errors: ['outbound_not_found', 'outbound_already_sent'],
  }),
  listAttention: get('/api/attention', {
    reach: 'workspace',
    summary: 'What needs attention besides approvals and failed jobs, newest first.',
    /** `recovery`: Deckhand started after a crash during jobs. It needs no action. */
    answer: z.object({ items: z.array(AttentionItem), recovery: Recovery.optional() }),
    shows: ['attention'],
  }),
}
