/** Never more often than this, so that a burst of events lets a refetch finish before the next one begins. */
const LEAST_GAP_MS = 200

export type StaleBatch = {
  mark: (tags: readonly string[]) => void
  /** Hands nothing over any more: the page has gone. */
  stop: () => void
}

/**
 * Collects stale tags and hands them over once per frame, and at most five times a second. A hidden page gets no
 * frames, so it asks for nothing until it is looked at again.
 */
export function createStaleBatch(
  flush: (tags: ReadonlySet<string>) => void,
  onFrame: (fn: () => void) => void = (fn) => void requestAnimationFrame(fn),
  now: () => number = () => performance.now(),
  after: (ms: number, fn: () => void) => void = (ms, fn) => void setTimeout(fn, ms),
): StaleBatch {
  let waiting = new Set<string>()
  let isScheduled = false
  let isStopped = false
  let lastFlushAt = Number.NEGATIVE_INFINITY
  const run = () => {
    if (isStopped) return
    isScheduled = false
    lastFlushAt = now()
    const tags = waiting
    waiting = new Set()
    flush(tags)
  }
  return {
    mark(tags) {
      for (const tag of tags) waiting.add(tag)
      if (isScheduled || isStopped || waiting.size === 0) return
      isScheduled = true
      const gap = lastFlushAt + LEAST_GAP_MS - now()
      if (gap > 0) after(gap, () => isStopped || onFrame(run))
      else onFrame(run)
    },
    stop: () => void (isStopped = true),
  }
}
