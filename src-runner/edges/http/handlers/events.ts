import { findEventBounds, listEventsAfter } from '../../../base/events/event-log.ts'
import type { LiveEvent, StoredEvent } from '../../../contract/events.ts'
import type { Handlers } from '../handler.ts'
import { frame, numberedFrame, type EventSink } from '../stream.ts'
import type { HandlerDeps } from './deps.ts'

export function eventHandlers(deps: HandlerDeps): Pick<Handlers, 'streamEvents'> {
  return {
    streamEvents({ query }, call) {
      const from = call.lastEventId ?? query.after ?? null
      return (sink) => openEventStream(deps, from, sink)
    },
  }
}

/** Whoever missed more than this reads everything again anyway, which is less than to be told of each change. */
const MOST_REPEATED = 2000

/**
 * What happened after `from` (null: from now on; the newest of it, if it is very much), then what happens. Nothing is lost or doubled, and nothing waits in
 * memory: a reader that does not keep up is left alone, and goes on from the history once it has caught up.
 */
export function openEventStream({ db, hub }: Pick<HandlerDeps, 'db' | 'hub'>, from: number | null, sink: EventSink): () => void {
  const { newest } = findEventBounds(db)
  // A number from the future belongs to another database (a restored one): its reader starts anew.
  let sentId = from === null || from > newest ? newest : Math.max(from, newest - MOST_REPEATED)
  let behind = false

  function send(event: StoredEvent): void {
    if (event.id <= sentId) return
    sentId = event.id
    sink.send(numberedFrame(event.id, event.type, JSON.stringify(event.payload)))
  }

  /** Reading is synchronous, so between the last page and the first heard event nothing can slip through. */
  function catchUp(): void {
    behind = true
    for (;;) {
      const page = listEventsAfter(db, sentId)
      for (const event of page) send(event)
      if (page.length === 0) break
      if (!sink.keepsUp()) return sink.onDrain(catchUp)
    }
    behind = false
  }

  function onEvent(event: StoredEvent): void {
    if (behind) return
    send(event)
    if (sink.keepsUp()) return
    behind = true
    sink.onDrain(catchUp)
  }

  function onLive(event: LiveEvent): void {
    if (!behind) sink.send(frame(event.type, JSON.stringify(event.payload)))
  }

  const stops = [hub.subscribe(onEvent), hub.subscribeLive(onLive)]
  catchUp()
  return () => stops.forEach((stop) => stop())
}
