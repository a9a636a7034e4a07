import { setTimeout as sleep } from 'node:timers/promises'
import type { GuardedStreamFetch } from '../../platform/net/guarded-stream.ts'

/** Redirects count as well. */
const MAX_OPENED = 10
const WINDOW_MS = 10_000

/**
 * Requests of a library that opens a stream of messages again when the server has ended it, after the time that the server says, which
 * may be none. `closed` ends all of them: the library leaves a response open that it does not like.
 */
export function limitStreams(fetch: GuardedStreamFetch, monotonic: () => number, closed: AbortSignal): GuardedStreamFetch {
  let windowStart = monotonic()
  let opened = 0

  function mayOpen(): boolean {
    const now = monotonic()
    if (now - windowStart > WINDOW_MS) {
      windowStart = now
      opened = 0
    }
    return ++opened <= MAX_OPENED
  }

  return async (address, init = {}) => {
    const signal = init.signal == null ? closed : AbortSignal.any([closed, init.signal])
    const isStream = (init.method ?? 'GET') === 'GET'
    while (isStream && !mayOpen()) await sleep(WINDOW_MS, undefined, { signal })
    return fetch(address, { ...init, signal })
  }
}
