/** The shortest time between two flushes, so that in a burst of events a refetch can finish before the next begins. */
const LEAST_GAP_MS = 200

export type StaleBatch = {
  mark: (tags: readonly string[]) => void
  /** Flushes nothing from now on: the page is gone. */
  stop: () => void
}

/** A hidden page gets no frames, but it must learn, for example, that a job continues: it flushes this late. */
const HIDDEN_MS = 1000

function nextFrame(fn: () => void): void {
  const run = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    fn()
  }
  const frame = requestAnimationFrame(run)
  const timer = setTimeout(run, HIDDEN_MS)
}

/** Collects stale tags and flushes them with the next frame, at most five times a second. */
export function createStaleBatch(
  flush: (tags: ReadonlySet<string>) => void,
  onFrame: (fn: () => void) => void = nextFrame,
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
