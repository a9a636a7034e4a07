export type HangWatch = {
  heard(now: number): void
  /** Called every `tickMs`. true: the runner was silent for longer than the limit. */
  tick(now: number): boolean
}

/**
 * Detects a runner that no longer responds. Silence counts only while this process was awake itself: after sleep, the
 * runner gets the whole limit again.
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
