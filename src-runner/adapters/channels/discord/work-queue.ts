type Work = () => Promise<void>

/** Does one thing after the other. */
export function createWorkQueue() {
  const waiting: Work[] = []
  let wake = () => {}
  return {
    length: () => waiting.length,
    add(work: Work): void {
      waiting.push(work)
      wake()
    },
    /** Never resolves. Rejects with the first error, or with the reason of `signal` when the current work is done. */
    async run(signal: AbortSignal): Promise<never> {
      signal.addEventListener('abort', () => wake(), { once: true })
      for (;;) {
        signal.throwIfAborted()
        const next = waiting.shift()
        if (next === undefined) await new Promise<void>((resolve) => (wake = resolve))
        else await next()
      }
    },
  }
}
