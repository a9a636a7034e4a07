import { z } from 'zod'
import { Conversation, Message } from '../conversations.ts'
import { JobSummary } from '../jobs.ts'
import { Cursor, Id, NextCursor, PageQuery } from '../primitives.ts'
import { del, get, Nothing } from './route.ts'

const conversationParams = z.object({ conversationId: Id })

export const conversationRoutes = {
  listConversations: get('/api/conversations', {
    reach: 'workspace',
    summary: 'Conversations, last used first.',
    query: PageQuery.extend({ agentId: Id.optional(), q: z.string().trim().max(500).optional() }),
    answer: z.object({ conversations: z.array(Conversation), nextCursor: NextCursor }),
    shows: ['conversations'],
  }),
  getConversation: get('/api/conversations/:conversationId', {
    reach: 'workspace',
    summary:
      'One conversation with its newest 200 messages, oldest first, and the jobs of its turns. `before`: the `nextCursor` of an answer returns the messages before those.',
    params: conversationParams,
    query: z.object({ before: Cursor.optional() }),
    answer: z.object({ conversation: Conversation, messages: z.array(Message), jobs: z.array(JobSummary), nextCursor: NextCursor }),
    errors: ['conversation_not_found'],
    shows: ['conversation'],
  }),
  deleteConversation: del('/api/conversations/:conversationId', {
    reach: 'workspace',
    summary: 'Delete a conversation and its messages, and cancel its unfinished jobs. All its jobs stay in Activity.',
    params: conversationParams,
    answer: Nothing,
    errors: ['conversation_not_found'],
  }),
}
