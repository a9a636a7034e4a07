const MOST_MS = 60_000

/** Runs with twice the limit until the result fits: on a busy machine a program may take longer than a short limit to start. */
export async function withGrowingLimit<T>(run: (limitMs: number) => Promise<T>, fits: (result: T) => boolean): Promise<T> {
  for (let limitMs = 500; ; limitMs *= 2) {
    const result = await run(limitMs)
    if (fits(result) || limitMs > MOST_MS) return result
  }
}
