import { type ChatTurn, ChatStreamEvent } from '../../src-runner/contract/jobs.ts'
import { backoffMs, pause } from './backoff.ts'
import { ApiError, type Client } from './client.ts'
import { readSse } from './sse.ts'

/**
 * What a turn tells while it runs. `attached` is the page's own: the connection was made again, and the text of the
 * reply under way comes again from its beginning, so what was shown of it must be dropped first.
 */
export type TurnEvent = ChatStreamEvent | { type: 'attached'; jobId: string }

type Pause = (ms: number, signal: AbortSignal) => Promise<void>

/**
 * Starts a turn and follows it to its end. A connection that breaks is made again with the running job, so the turn
 * is never sent twice. Ends after `done` (a failed turn says `error` before it), or quietly when the signal aborts (the turn itself goes on).
 * Throws an `ApiError` when the turn was not accepted.
 */
export async function* streamChat(client: Client, turn: ChatTurn, signal: AbortSignal, wait: Pause = pause): AsyncGenerator<TurnEvent> {
  let jobId: string | null = null
  try {
    for await (const event of eventsOf(await client.open('chatStream', { body: turn }, { signal }))) {
      if (event.type === 'start') jobId = event.jobId
      yield event
      if (event.type === 'done') return
    }
  } catch (thrown) {
    if (signal.aborted) return
    // Not accepted, or lost before it was known whether it was: both are for the person to decide.
    if (jobId === null) throw thrown
  }
  if (signal.aborted) return
  if (jobId === null) throw new ApiError('unexpected_answer', 200, 'The answer ended before the turn began.')
  yield* streamJob(client, jobId, signal, wait)
}

/** Follows a job that is there already, for example after a reload. Begins with `attached`, again after each break. */
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

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ChatStreamEvent> {
  for await (const { event, data } of readSse(body)) {
    const parsed = ChatStreamEvent.safeParse({ ...asObject(data), type: event })
    // An event of a kind this page does not know yet is none of its business.
    if (parsed.success) yield parsed.data
  }
}

function asObject(json: string): object {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
