import { z } from 'zod'
import { AttentionItem, Recovery } from '../notifications.ts'
import { OutboundMessage, OutboundState } from '../outbox.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { routeTable } from './route.ts'

export const outboxRoutes = routeTable({
  listOutbox: {
    method: 'GET',
    path: '/api/outbox',
    gate: 'runner',
    summary: 'Messages that agents send through channels, newest first.',
    query: PageQuery.extend({ state: OutboundState.optional(), agentId: Id.optional(), jobId: Id.optional() }),
    status: 200,
    answer: z.object({ messages: z.array(OutboundMessage), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['outbox'],
  },
  retryOutbound: {
    method: 'POST',
    path: '/api/outbox/:messageId/retry',
    gate: 'runner',
    summary: 'Try again to send a message that was given up.',
    params: z.object({ messageId: Id }),
    bodyOptional: true,
    status: 202,
    answer: z.object({ message: OutboundMessage }),
    errors: ['invalid_request', 'outbound_not_found', 'outbound_already_sent', 'disk_full'],
  },
  listAttention: {
    method: 'GET',
    path: '/api/attention',
    gate: 'runner',
    summary: 'What needs the person besides approvals and failed jobs, the newest first.',
    status: 200,
    /** `recovery`: Deckhand started after a crash in the middle of jobs. It needs nobody. */
    answer: z.object({ items: z.array(AttentionItem), recovery: Recovery.optional() }),
    errors: [],
    shows: ['attention'],
  },
})
