/** Resolves when `signal` aborts. Stops listening once `until` aborts, so that a long job collects no listeners. */
export function whenAborted(signal: AbortSignal, until: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true, signal: until }))
}

/**
 * The promise's own outcome, or a rejection with the signal's reason as soon as it aborts. What loses the race is
 * left behind: its late failure is nobody's any more.
 */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {})
    throw signal.reason
  }
  const over = new AbortController()
  const aborted = whenAborted(signal, over.signal).then((): never => {
    throw signal.reason as Error
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    over.abort()
  }
}
