import type { LiveEvent, RecordedEvent } from '../../src-runner/contract/events.ts'
import { backoffMs, pause } from './backoff.ts'
import type { Client } from './client.ts'
import { readSse } from './sse.ts'

export type Connection = 'connecting' | 'open' | 'lost'

export type EventStreamListener = {
  onRecorded: (event: RecordedEvent) => void
  onLive: (event: LiveEvent) => void
  onConnection: (connection: Connection) => void
}

/** The runner sends a comment every 15 seconds. A stream that misses two of them is dead, for example after sleep. */
const QUIET_MS = 40_000

/**
 * Follows `GET /api/events` until stopped. After a break it resumes after the last id, so no recorded event is missed.
 * `nudge` ends the wait before the next try, for when the runner is known to be back.
 */
export function followEvents(client: Client, listener: EventStreamListener, wait = pause): { stop: () => void; nudge: () => void } {
  const whole = new AbortController()
  let waiting = new AbortController()
  let lastEventId: string | null = null

  const readOnce = async (onOpen: () => void) => {
    const connection = new AbortController()
    const abort = () => connection.abort()
    whole.signal.addEventListener('abort', abort)
    let timer: ReturnType<typeof setTimeout> | undefined
    const restartTimer = () => {
      clearTimeout(timer)
      timer = setTimeout(abort, QUIET_MS)
    }
    try {
      restartTimer()
      const body = await client.open('streamEvents', {}, { signal: connection.signal, lastEventId })
      onOpen()
      listener.onConnection('open')
      // Its schemas take long to make: neither the first screen nor the stream waits for them, only the first event.
      const { parseEvent } = await import('./parse-event.ts')
      for await (const raw of readSse(body, restartTimer)) {
        if (raw.id !== undefined) lastEventId = raw.id
        const event = parseEvent(raw)
        if (event?.kind === 'recorded') listener.onRecorded(event.event)
        else if (event?.kind === 'live') listener.onLive(event.event)
      }
    } finally {
      clearTimeout(timer)
      // The stream is still open if its parser could not be loaded.
      abort()
      whole.signal.removeEventListener('abort', abort)
    }
  }

  const run = async () => {
    let attempt = 0
    listener.onConnection('connecting')
    while (!whole.signal.aborted) {
      // Whatever failed: report the connection as lost, and try again.
      await readOnce(() => {
        attempt = 0
      }).catch(() => undefined)
      if (whole.signal.aborted) return
      listener.onConnection('lost')
      waiting = new AbortController()
      await wait(backoffMs(attempt++), AbortSignal.any([waiting.signal, whole.signal]))
    }
  }
  void run()
  return { stop: () => whole.abort(), nudge: () => waiting.abort() }
}
