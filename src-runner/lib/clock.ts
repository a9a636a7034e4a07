/** The only source of time. Tests move theirs by hand. */
export type Clock = {
  /** Epoch milliseconds. Jumps when the machine's clock is set. */
  now(): number
  /** Milliseconds since some point. Never goes back. For durations and deadlines. */
  monotonic(): number
  /** Milliseconds since some point, without the time that the machine slept. For limits of work. */
  awake(): number
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `fn` every `ms` until the returned function is called. */
  every(ms: number, fn: () => void): () => void
  /** Calls `fn` once after `ms` unless the returned function is called before. */
  after(ms: number, fn: () => void): () => void
}

/** The same clock, ahead by `aheadMs`. Durations stay the same. */
export function shiftClock(clock: Clock, aheadMs: number): Clock {
  return { ...clock, now: () => clock.now() + aheadMs }
}

/** The same clock, whose timers pass errors to `onError`. An error in a timer would end the process, and with it every job. */
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

/**
 * Calls `fn` once after `ms` without sleep, unless the returned function is called before. On macOS and Windows a timer alone also
 * counts sleep (https://github.com/libuv/libuv/pull/2894), so it may fire too early.
 */
export function afterAwake(clock: Pick<Clock, 'awake' | 'after'>, ms: number, fn: () => void): () => void {
  const until = clock.awake() + ms
  let stop = () => {}
  const wait = () => {
    const leftMs = until - clock.awake()
    if (leftMs <= 0) fn()
    else stop = clock.after(leftMs, wait)
  }
  wait()
  return () => stop()
}

const SAMPLE_EVERY_MS = 5000
/** A longer time between two samples is sleep, or a process that could do nothing. */
const LONGEST_AWAKE_MS = 3 * SAMPLE_EVERY_MS

/** The time awake, by samples: no system call tells it on every system. */
export function sampleAwake(clock: Pick<Clock, 'monotonic' | 'every'>): () => number {
  let sampledAt = clock.monotonic()
  let awakeMs = 0
  const sample = () => {
    const now = clock.monotonic()
    awakeMs += Math.min(now - sampledAt, LONGEST_AWAKE_MS)
    sampledAt = now
    return awakeMs
  }
  clock.every(SAMPLE_EVERY_MS, sample)
  return sample
}

let awakeOfSystem: (() => number) | null = null

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  awake: () => (awakeOfSystem ??= sampleAwake(systemClock))(),
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
