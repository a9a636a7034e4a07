import { findEventBounds, listEventsAfter } from '../../../platform/events/event-log.sql.ts'
import type { LiveEvent, StoredEvent } from '../../../contract/events.ts'
import { isEventOf } from '../workspace-scope.ts'
import type { Handlers } from '../handler.ts'
import { frame, numberedFrame, type EventSink } from '../stream.ts'
import type { HandlerDeps } from './deps.ts'

export function eventHandlers(deps: HandlerDeps) {
  return {
    streamEvents({ query }, call) {
      const from = call.lastEventId ?? query.after ?? null
      return (sink) => openEventStream(deps, from, sink, call.caller.entityId)
    },
  } satisfies Partial<Handlers>
}

/** A reader that missed more than this reads the lists again instead. */
const MAX_REPEATED = 2000
/** Events whose workspace is looked up in one go. Each needs a few reads, and others wait meanwhile. */
const LOOKED_UP_AT_ONCE = 100

/**
 * Sends the recorded events after `from` (null: from now on), then new ones, each once. Nothing is buffered: a reader that
 * falls behind continues from the recorded events when it has drained. `entityId`: only the events of this workspace.
 */
export function openEventStream(
  { db, hub, log }: Pick<HandlerDeps, 'db' | 'hub' | 'log'>,
  from: number | null,
  sink: EventSink,
  entityId?: string,
): () => void {
  const { newest } = findEventBounds(db)
  // A number from the future belongs to another database, such as a restored one. Its reader starts from now.
  let sentId = from === null || from > newest ? newest : Math.max(from, newest - MAX_REPEATED)
  let behind = false
  let stopped = false

  const isVisible = (event: StoredEvent | LiveEvent) => entityId === undefined || isEventOf(db, event, entityId)

  function send(event: StoredEvent): void {
    if (event.id <= sentId) return
    sentId = event.id
    if (!isVisible(event)) return
    sink.send(numberedFrame(event.id, event.type, JSON.stringify(event.payload)))
  }

  /** Reading the last page is synchronous, so no event is missed between it and the first new event. */
  function catchUp(): void {
    if (stopped) return
    behind = true
    for (;;) {
      const page = listEventsAfter(db, sentId, entityId === undefined ? undefined : LOOKED_UP_AT_ONCE)
      for (const event of page) send(event)
      if (page.length === 0) break
      if (!sink.keepsUp()) return sink.onDrain(catchUpLater)
      if (entityId !== undefined) return void setImmediate(catchUpLater)
    }
    behind = false
  }

  /** Nobody catches what it throws. A reader whose stream ends comes back with its place. */
  function catchUpLater(): void {
    try {
      catchUp()
    } catch (error) {
      log.error({ error }, 'could not read the events of a stream')
      sink.end()
    }
  }

  function onEvent(event: StoredEvent): void {
    if (behind) return
    send(event)
    if (sink.keepsUp()) return
    behind = true
    sink.onDrain(catchUpLater)
  }

  function onLive(event: LiveEvent): void {
    if (!behind && isVisible(event)) sink.send(frame(event.type, JSON.stringify(event.payload)))
  }

  const stops = [hub.subscribe(onEvent), hub.subscribeLive(onLive)]
  catchUp()
  return () => {
    stopped = true
    stops.forEach((stop) => stop())
  }
}
