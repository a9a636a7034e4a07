import { z } from 'zod'
import { Conversation, Message } from '../conversations.ts'
import { JobSummary } from '../jobs.ts'
import { Id, NextCursor, PageQuery } from '../primitives.ts'
import { Nothing, routeTable } from './route.ts'

const conversationParams = z.object({ conversationId: Id })

export const conversationRoutes = routeTable({
  listConversations: {
    method: 'GET',
    path: '/api/conversations',
    gate: 'runner',
    summary: 'Conversations, the last used first.',
    query: PageQuery.extend({ agentId: Id.optional(), q: z.string().trim().max(500).optional() }),
    status: 200,
    answer: z.object({ conversations: z.array(Conversation), nextCursor: NextCursor }),
    errors: ['invalid_request'],
    shows: ['conversations'],
  },
  getConversation: {
    method: 'GET',
    path: '/api/conversations/:conversationId',
    gate: 'runner',
    summary: 'One conversation with its newest 200 messages, oldest first, and the jobs of its turns.',
    params: conversationParams,
    status: 200,
    answer: z.object({ conversation: Conversation, messages: z.array(Message), jobs: z.array(JobSummary) }),
    errors: ['invalid_request', 'conversation_not_found'],
    shows: ['conversation'],
  },
  deleteConversation: {
    method: 'DELETE',
    path: '/api/conversations/:conversationId',
    gate: 'runner',
    summary: 'Remove a conversation and its messages. Its jobs stay in Activity.',
    params: conversationParams,
    status: 200,
    answer: Nothing,
    errors: ['invalid_request', 'conversation_not_found'],
  },
})
