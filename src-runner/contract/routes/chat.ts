import { z } from 'zod'
import { ChatReply, ChatTurn } from '../jobs.ts'
import { routeTable } from './route.ts'

export const chatRoutes = routeTable({
  chat: {
    method: 'POST',
    path: '/api/chat',
    gate: 'runner',
    summary: 'One chat turn, answered when the turn ends or waits. The same request with the same `clientId` joins the turn.',
    body: ChatTurn,
    status: 200,
    answer: ChatReply,
    errors: [
      'invalid_request',
      'agent_not_found',
      'conversation_not_found',
      'agent_has_no_model',
      'client_id_reused',
      'job_creation_failed',
      'disk_full',
    ],
  },
  chatStream: {
    method: 'POST',
    path: '/api/chat/stream',
    gate: 'runner',
    summary:
      'The same turn, streamed. Closing the connection does not stop it. Send a `clientId` if your library reconnects by itself: the same request ' +
      'with the same `clientId` joins the turn that runs, or reads how it ended, and starts none.',
    body: ChatTurn,
    status: 200,
    stream: true,
    answer: z.unknown(),
    errors: [
      'invalid_request',
      'agent_not_found',
      'conversation_not_found',
      'agent_has_no_model',
      'client_id_reused',
      'job_creation_failed',
      'disk_full',
    ],
  },
})
