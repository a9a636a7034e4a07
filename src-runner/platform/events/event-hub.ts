import type { LiveEvent, StoredEvent } from '../../contract/events.ts'
import { messageOf } from '../../lib/errors.ts'
import { silentLog, type Log } from '../../lib/log.ts'
import type { Database } from '../db/database.ts'

/** Recorded and live events, for listeners in this process. */
export type EventHub = {
  /** Recorded events in the order of their ids, each after its commit. Returns how to stop. */
  subscribe(listener: (event: StoredEvent) => void): () => void
  subscribeLive(listener: (event: LiveEvent) => void): () => void
  /** Live events are not stored. */
  publishLive(event: LiveEvent): void
}

export function createEventHub({ db, log = silentLog }: { db: Pick<Database, 'onEvents'>; log?: Log }): EventHub {
  const liveListeners = new Set<(event: LiveEvent) => void>()
  return {
    subscribe: (listener) => db.onEvents(listener),
    subscribeLive(listener) {
      liveListeners.add(listener)
      return () => liveListeners.delete(listener)
    },
    publishLive(event) {
      for (const listener of liveListeners) {
        try {
          listener(event)
        } catch (error) {
          log.error({ err: error, type: event.type }, `a listener of live events failed: ${messageOf(error)}`)
        }
      }
    },
  }
}
