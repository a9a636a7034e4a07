export const CRASH_LIMIT = 3
export const CRASH_WINDOW_MS = 5 * 60_000

/** The first restart is immediate, because a person waits; the second comes later, because the first did not help. */
const DELAYS_MS = [0, 500] as const

export type RestartDecision = { restart: true; delayMs: number; attempt: number } | { restart: false }

/**
 * What to do after a crash. `crashes`: monotonic times of all crashes, including the present one. The third crash within
 * five minutes is the last.
 */
export function decideRestart(crashes: readonly number[], now: number): RestartDecision {
  const recent = crashes.filter((at) => now - at < CRASH_WINDOW_MS).length
  if (recent >= CRASH_LIMIT) return { restart: false }
  return { restart: true, delayMs: DELAYS_MS[Math.max(0, recent - 1)] ?? DELAYS_MS.at(-1)!, attempt: recent }
}

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
