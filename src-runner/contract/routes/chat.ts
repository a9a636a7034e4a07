import { z } from 'zod'
import { ChatReply, ChatTurn } from '../jobs.ts'
import { post } from './route.ts'

export const chatRoutes = {
  chat: post('/api/chat', {
    reach: 'workspace',
    summary: 'One chat turn. Responds when the turn ends or waits for a person. The same request with the same `clientId` joins the turn.',
    body: ChatTurn,
    answer: ChatReply,
    errors: ['agent_not_found', 'conversation_not_found', 'agent_has_no_model', 'client_id_reused', 'job_creation_failed'],
  }),
  chatStream: post('/api/chat/stream', {
    reach: 'workspace',
    summary:
      'The same turn, streamed. Closing the connection does not stop it. Send a `clientId` if your library reconnects by itself: the same request ' +
      'with the same `clientId` joins the running turn, or returns how it ended.',
    body: ChatTurn,
    stream: true,
    answer: z.unknown(),
    errors: [
      'too_many_streams',
      'agent_not_found',
      'conversation_not_found',
      'agent_has_no_model',
      'client_id_reused',
      'job_creation_failed',
    ],
  }),
}
