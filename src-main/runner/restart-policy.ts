export const CRASH_LIMIT = 3
export const CRASH_WINDOW_MS = 5 * 60_000

/** Once at once, because a person waits; the second time after a breath, because the first did not help. */
const DELAYS_MS = [0, 500] as const

export type RestartDecision = { restart: true; delayMs: number; attempt: number } | { restart: false }

/**
 * What to do after a crash. `crashes` are the moments of all crashes so far, the present one included, of a clock that
 * never goes back. The third one within five minutes is the last.
 */
export function decideRestart(crashes: readonly number[], now: number): RestartDecision {
  const recent = crashes.filter((at) => now - at < CRASH_WINDOW_MS).length
  if (recent >= CRASH_LIMIT) return { restart: false }
  return { restart: true, delayMs: DELAYS_MS[Math.max(0, recent - 1)] ?? DELAYS_MS.at(-1)!, attempt: recent }
}
