import type { ChatStreamEvent, ChatTurn } from '../../src-runner/contract/jobs.ts'
import { backoffMs, pause } from './backoff.ts'
import { ApiError, type Client } from './client.ts'
import { readSse } from './sse.ts'

/**
 * The events of a turn. `attached` is added here: a new stream was opened, and the current reply comes again from its
 * beginning, so the text shown so far must be replaced.
 */
export type TurnEvent = ChatStreamEvent | { type: 'attached'; jobId: string }

type Pause = (ms: number, signal: AbortSignal) => Promise<void>

/**
 * Starts a turn and follows it to its end. After a broken connection it follows the running job, so the turn is never sent
 * twice. Ends after `done` (a failed turn sends `error` before it), or when the signal aborts; the turn itself goes on.
 * Throws an `ApiError` when the turn was not accepted.
 */
export async function* streamChat(client: Client, turn: ChatTurn, signal: AbortSignal, wait: Pause = pause): AsyncGenerator<TurnEvent> {
  // Before the turn is sent: after an update, a page that is still open may not find it.
  await loadParser()
  let jobId: string | null = null
  try {
    for await (const event of eventsOf(await client.open('chatStream', { body: turn }, { signal }))) {
      if (event.type === 'start') jobId = event.jobId
      yield event
      if (event.type === 'done') return
    }
  } catch (thrown) {
    if (signal.aborted) return
    // The turn was refused, or it is unknown whether it was accepted. The person decides whether to send it again.
    if (jobId === null) throw thrown
  }
  if (signal.aborted) return
  if (jobId === null) throw new ApiError('unexpected_answer', 200, 'The answer ended before the turn began.')
  yield* streamJob(client, jobId, signal, wait)
}

/** Follows an existing job, for example after a reload. Yields `attached` first, and again after each break. */
export async function* streamJob(client: Client, jobId: string, signal: AbortSignal, wait: Pause = pause): AsyncGenerator<TurnEvent> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const body = await client.open('streamJob', { params: { jobId } }, { signal })
      yield { type: 'attached', jobId }
      for await (const event of eventsOf(body)) {
        attempt = 0
        yield event
        if (event.type === 'done') return
      }
    } catch (thrown) {
      if (signal.aborted) return
      if (thrown instanceof ApiError && thrown.code !== 'runner_unavailable') throw thrown
    }
    await wait(backoffMs(attempt), signal)
  }
}

/** Its schemas take long to make, and the first screen does not need them. */
const loadParser = () => import('./parse-chat-event.ts')

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ChatStreamEvent> {
  const { parseChatEvent } = await loadParser()
  for await (const message of readSse(body)) {
    const event = parseChatEvent(message)
    if (event !== null) yield event
  }
}
