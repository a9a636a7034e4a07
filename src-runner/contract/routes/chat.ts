import { z } from 'zod'
import { ChatReply, ChatTurn } from '../jobs.ts'
import { routeTable } from './route.ts'

export const chatRoutes = routeTable({
  chat: {
    method: 'POST',
    path: '/api/chat',
    gate: 'runner',
    summary: 'One chat turn, answered when the turn ends or waits.',
    body: ChatTurn,
    status: 200,
    answer: ChatReply,
    errors: ['invalid_request', 'agent_not_found', 'conversation_not_found', 'agent_has_no_model', 'job_creation_failed', 'disk_full'],
  },
  chatStream: {
    method: 'POST',
    path: '/api/chat/stream',
    gate: 'runner',
    summary: 'The same turn, streamed. Closing the connection does not stop it.',
    body: ChatTurn,
    status: 200,
    stream: true,
    answer: z.unknown(),
    errors: ['invalid_request', 'agent_not_found', 'conversation_not_found', 'agent_has_no_model', 'job_creation_failed', 'disk_full'],
  },
})
