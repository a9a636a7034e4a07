/** Resolves when `signal` aborts. Stops listening once `until` aborts, so that a long job collects no listeners. */
export function whenAborted(signal: AbortSignal, until: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true, signal: until }))
}

/**
 * Settles like the promise, or rejects with the signal's reason as soon as it aborts. A later rejection is ignored. Runs for each
 * token.
 */
export function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
    promise.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject)
  })
}
