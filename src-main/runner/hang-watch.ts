export type HangWatch = {
  /** Anything was heard. */
  heard(now: number): void
  /** Called every `tickMs`. true: nothing was heard for longer than the limit. */
  tick(now: number): boolean
}

/**
 * Notices a runner that is there and does nothing. Silence counts only while this process was awake itself: after a
 * laptop's sleep both were silent, and the runner gets the whole limit again.
 */
export function createHangWatch({ limitMs, tickMs, now }: { limitMs: number; tickMs: number; now: number }): HangWatch {
  let lastHeard = now
  let lastTick = now
  return {
    heard(at) {
      lastHeard = at
    },
    tick(at) {
      if (at - lastTick > tickMs * 3) lastHeard = at
      lastTick = at
      return at - lastHeard > limitMs
    },
  }
}
