import { type ChatTurn, isTerminal, type Step } from '../../src-runner/contract/jobs.ts'
import { streamChat, streamJob, type TurnEvent } from './chat-stream.ts'
import { ApiError, type Client } from './client.ts'

export type TurnStreams = {
  /** Sends a turn. Its stream stays open until `follow` takes it over. */
  start: (turn: ChatTurn) => Promise<{ jobId: string; conversationId: string }>
  /** Follows a job to its end: on the stream that started it, or on a new one, for example after a reload. */
  follow: (jobId: string, signal: AbortSignal) => AsyncGenerator<TurnEvent>
  /** Its stream brings each new step, so the page need not fetch it. */
  isFollowed: (jobId: string) => boolean
  stop: () => void
}

export type StepSink = {
  keepStep: (jobId: string, step: Step) => void
  /** Steps may have been recorded that no stream brought. */
  fetchSteps: (jobId: string) => void
}

/** How long a stream waits for `follow`. A turn that is queued for longer is followed on a new stream. */
const MAX_UNFOLLOWED_MS = 10_000

export function createTurnStreams(client: Client, steps: StepSink): TurnStreams {
  const followed = new Set<string>()
  const unfollowed = new Map<string, { events: AsyncGenerator<TurnEvent>; controller: AbortController; timer: number }>()

  function keep(jobId: string, events: AsyncGenerator<TurnEvent>, controller: AbortController): void {
    const timer = window.setTimeout(() => {
      unfollowed.delete(jobId)
      controller.abort()
    }, MAX_UNFOLLOWED_MS)
    unfollowed.set(jobId, { events, controller, timer })
  }

  function takeStream(jobId: string, signal: AbortSignal): AsyncGenerator<TurnEvent> {
    const started = unfollowed.get(jobId)
    if (started === undefined) return streamJob(client, jobId, signal)
    unfollowed.delete(jobId)
    clearTimeout(started.timer)
    signal.addEventListener('abort', () => started.controller.abort(), { once: true })
    return started.events
  }

  return {
    async start(turn) {
      const controller = new AbortController()
      const events = streamChat(client, turn, controller.signal)
      for (let next = await events.next(); next.done !== true; next = await events.next()) {
        const event = next.value
        if (event.type !== 'start' || event.conversationId === null) continue
        keep(event.jobId, events, controller)
        return { jobId: event.jobId, conversationId: event.conversationId }
      }
      throw new ApiError('unexpected_answer', 200, 'The turn was not accepted.')
    },
    async *follow(jobId, signal) {
      let done: Extract<TurnEvent, { type: 'done' }> | undefined
      followed.add(jobId)
      // After the end, the job stays followed until its reader knows the end too: late events of its steps come before that.
      signal.addEventListener('abort', () => followed.delete(jobId), { once: true })
      try {
        for await (const event of takeStream(jobId, signal)) {
          if (event.type === 'attached') steps.fetchSteps(jobId)
          if (event.type === 'step') steps.keepStep(jobId, event.step)
          if (event.type === 'done') done = event
          yield event
        }
      } finally {
        if (done === undefined) steps.fetchSteps(jobId)
        if (done === undefined || !isTerminal(done.status)) followed.delete(jobId)
      }
    },
    isFollowed: (jobId) => followed.has(jobId),
    stop() {
      for (const { controller, timer } of unfollowed.values()) {
        clearTimeout(timer)
        controller.abort()
      }
      unfollowed.clear()
    },
  }
}
