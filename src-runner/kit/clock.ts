/** The only source of time. Tests hand in one that they move by hand. */
export type Clock = {
  /** Epoch milliseconds; may jump when the machine's clock is set. */
  now(): number
  /** Milliseconds since an arbitrary point; never goes back. For durations and deadlines. */
  monotonic(): number
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `fn` every `ms` until the answered function is called. */
  every(ms: number, fn: () => void): () => void
}

/** The same clock, so far ahead. Durations are not touched by it. */
export function shiftClock(clock: Clock, aheadMs: number): Clock {
  return { ...clock, now: () => clock.now() + aheadMs }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error)
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal!.reason as Error)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  },
  every(ms, fn) {
    const timer = setInterval(fn, ms)
    timer.unref?.()
    return () => clearInterval(timer)
  },
}
