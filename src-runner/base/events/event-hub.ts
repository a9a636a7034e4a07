import type { LiveEvent, StoredEvent } from '../../contract/events.ts'
import { messageOf } from '../../kit/errors.ts'
import { silentLog, type Log } from '../../kit/log.ts'
import type { Database } from '../db/database.ts'

/** What happened and what is going on, for everybody in this process who wants to hear of it. */
export type EventHub = {
  /** Recorded events in the order of their ids, each after its commit. Answers how to stop. */
  subscribe(listener: (event: StoredEvent) => void): () => void
  subscribeLive(listener: (event: LiveEvent) => void): () => void
  /** Never stored: whoever is not listening reads the recorded truth instead. */
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
