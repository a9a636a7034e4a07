/** Resolves when `signal` aborts. Stops listening once `until` aborts, so that a long job collects no listeners. */
export function whenAborted(signal: AbortSignal, until: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true, signal: until }))
}

/** Settles like the promise, or rejects with the signal's reason as soon as it aborts. A later rejection is ignored. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {})
    throw signal.reason
  }
  const done = new AbortController()
  const aborted = whenAborted(signal, done.signal).then((): never => {
    throw signal.reason as Error
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    done.abort()
  }
}
