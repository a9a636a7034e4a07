import type { Clock } from '../../lib/clock.ts'

const EVERY_MS = 60_000

type Deps = { clock: Pick<Clock, 'every' | 'monotonic'>; alive(): void }

/**
 * Gives a sign of life each minute while `work` is under way, because work may be silent without being stuck. After `limitMs` it
 * should have ended by itself, so there are no more.
 */
export async function giveSignsOfLife<T>({ clock, alive }: Deps, work: () => Promise<T>, limitMs = Infinity): Promise<T> {
  const until = clock.monotonic() + limitMs
  const stop = clock.every(EVERY_MS, () => {
    if (clock.monotonic() <= until) alive()
  })
  try {
    return await work()
  } finally {
    stop()
  }
}
