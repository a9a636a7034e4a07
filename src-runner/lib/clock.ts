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
  /** Calls `fn` once after `ms` unless the answered function is called before. */
  after(ms: number, fn: () => void): () => void
}

/** The same clock, so far ahead. Durations are not touched by it. */
export function shiftClock(clock: Clock, aheadMs: number): Clock {
  return { ...clock, now: () => clock.now() + aheadMs }
}

/**
 * The same clock, whose timers cannot end the process: what `fn` throws goes to `onError`. A timer has no caller to throw to,
 * and a database that cannot be read for a moment is no reason to stop every job.
 */
export function guardTimers(clock: Clock, onError: (error: unknown) => void): Clock {
  const guarded = (fn: () => void) => () => {
    try {
      fn()
    } catch (error) {
      onError(error)
    }
  }
  return { ...clock, every: (ms, fn) => clock.every(ms, guarded(fn)), after: (ms, fn) => clock.after(ms, guarded(fn)) }
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
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    timer.unref?.()
    return () => clearTimeout(timer)
  },
}
