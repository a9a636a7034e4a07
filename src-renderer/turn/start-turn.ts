import type { ChatTurn } from '../../src-runner/contract/jobs.ts'
import { streamChat } from '../api/chat-stream.ts'
import { ApiError, type Client } from '../api/client.ts'

/**
 * Hands a turn over and answers where it went. What it says is heard by attaching to the job, like that of any other
 * job: one way to listen, whether the page began the turn, was reloaded, or waits for its place in the line.
 */
export async function startTurn(client: Client, turn: ChatTurn): Promise<{ jobId: string; conversationId: string }> {
  const listening = new AbortController()
  try {
    for await (const event of streamChat(client, turn, listening.signal)) {
      if (event.type === 'start' && event.conversationId !== null) return { jobId: event.jobId, conversationId: event.conversationId }
    }
  } finally {
    listening.abort()
  }
  throw new ApiError('unexpected_answer', 200, 'The turn was not accepted.')
}
