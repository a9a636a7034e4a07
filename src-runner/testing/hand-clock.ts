import type { Clock } from '../lib/clock.ts'

type Sleeper = { dueAt: number; wake: () => void; every: number | null }

/** A clock that a test moves by hand, so that no test waits for real time. */
export type HandClock = Clock & {
  /** Advances time and wakes the sleepers that are due, in order. */
  advance(ms: number): void
  /** Advances time at once, as if the process had stood still: each sleeper that is due by then wakes once. */
  skip(ms: number): void
  /** The machine sleeps, as on macOS and Windows: all clocks go on except the time awake, and each sleeper that is due wakes once. */
  suspend(ms: number): void
  /** Sets the wall clock forward or back. Sleepers do not notice, as after a sleep of the machine. */
  jump(ms: number): void
  /** Resolves with the remaining milliseconds of the first sleeper whose time `fits`. */
  untilSleeping(fits: (ms: number) => boolean): Promise<number>
  /** The number of sleepers. */
  sleepers(): number
}

export function createHandClock(startAt = Date.UTC(2026, 10, 20, 9, 30)): HandClock {
  let at = 0
  let set = 0
  let asleep = 0
  const sleepers = new Set<Sleeper>()
  const watchers = new Set<() => void>()
  const add = (sleeper: Sleeper) => {
    sleepers.add(sleeper)
    for (const look of Array.from(watchers)) look()
  }
  const clock: HandClock = {
    now: () => startAt + set + at,
    monotonic: () => at,
    awake: () => at - asleep,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason as Error)
        const onAbort = () => {
          sleepers.delete(sleeper)
          reject(signal!.reason as Error)
        }
        const sleeper: Sleeper = {
          dueAt: at + ms,
          every: null,
          wake: () => {
            signal?.removeEventListener('abort', onAbort)
            resolve()
          },
        }
        signal?.addEventListener('abort', onAbort, { once: true })
        add(sleeper)
      })
    },
    every(ms, fn) {
      const sleeper: Sleeper = { dueAt: at + ms, every: ms, wake: fn }
      add(sleeper)
      return () => void sleepers.delete(sleeper)
    },
    after(ms, fn) {
      const sleeper: Sleeper = { dueAt: at + ms, every: null, wake: fn }
      add(sleeper)
      return () => void sleepers.delete(sleeper)
    },
    advance(ms) {
      const until = at + ms
      for (;;) {
        let next: Sleeper | undefined
        for (const sleeper of sleepers) if (sleeper.dueAt <= until && (next === undefined || sleeper.dueAt < next.dueAt)) next = sleeper
        if (next === undefined) break
        at = Math.max(at, next.dueAt)
        if (next.every === null) sleepers.delete(next)
        else next.dueAt += next.every
        next.wake()
      }
      at = until
    },
    skip(ms) {
      at += ms
      for (const sleeper of [...sleepers].filter(({ dueAt }) => dueAt <= at).sort((a, b) => a.dueAt - b.dueAt)) {
        // A sleeper before it may have ended it.
        if (!sleepers.has(sleeper)) continue
        if (sleeper.every === null) sleepers.delete(sleeper)
        else sleeper.dueAt = at + sleeper.every
        sleeper.wake()
      }
    },
    suspend(ms) {
      asleep += ms
      clock.skip(ms)
    },
    jump(ms) {
      set += ms
    },
    untilSleeping(fits) {
      return new Promise((resolve) => {
        const look = () => {
          for (const sleeper of sleepers) {
            if (!fits(sleeper.dueAt - at)) continue
            watchers.delete(look)
            resolve(sleeper.dueAt - at)
            return
          }
        }
        watchers.add(look)
        look()
      })
    },
    sleepers: () => sleepers.size,
  }
  return clock
}
