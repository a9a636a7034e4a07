import { describe, expect, it } from 'vitest'
import { CRASH_WINDOW_MS, createHangWatch, decideRestart } from './restart-policy.ts'

const minute = 60_000

describe('after a crash', () => {
  it.each([
    ['the first restarts at once', [0], { restart: true, delayMs: 0, attempt: 1 }],
    ['the second after a breath', [0, 1_000], { restart: true, delayMs: 500, attempt: 2 }],
    ['the third within five minutes is the last', [0, 1_000, 2_000], { restart: false }],
    ['also when they are spread over them', [0, 2 * minute, CRASH_WINDOW_MS - 1], { restart: false }],
    ['but not when the first is older', [0, 2 * minute, CRASH_WINDOW_MS], { restart: true, delayMs: 500, attempt: 2 }],
    ['one crash an hour always restarts', [0, 60 * minute, 120 * minute, 180 * minute], { restart: true, delayMs: 0, attempt: 1 }],
  ] as const)('%s', (_case, crashes, expected) => {
    expect(decideRestart(crashes, crashes.at(-1)!)).toEqual(expected)
  })

  it('starts a runner that crashes at every start three times', () => {
    const crashes: number[] = []
    let now = 0
    let starts = 1
    for (;;) {
      crashes.push((now += 10))
      const decision = decideRestart(crashes, now)
      if (!decision.restart) break
      now += decision.delayMs
      starts++
    }
    expect(starts).toBe(3)
    expect(now).toBeLessThan(3_000)
  })
})

describe('silence', () => {
  const watch = () => createHangWatch({ limitMs: 30_000, tickMs: 5_000, now: 0 })

  it('is a hang only after the limit', () => {
    const hang = watch()
    const hung = [5, 10, 15, 20, 25, 30, 35].map((s) => hang.tick(s * 1_000))
    expect(hung).toEqual([false, false, false, false, false, false, true])
  })

  it('starts again with every message', () => {
    const hang = watch()
    for (let s = 5; s <= 300; s += 5) {
      if (s % 20 === 0) hang.heard(s * 1_000)
      expect(hang.tick(s * 1_000)).toBe(false)
    }
  })

  it('does not count while this machine sleeps', () => {
    const hang = watch()
    hang.heard(4_000)
    expect(hang.tick(5_000)).toBe(false)
    expect(hang.tick(3_600_000)).toBe(false)
    expect(hang.tick(3_605_000)).toBe(false)
    expect([10, 15, 20, 25, 30, 35].map((s) => hang.tick(3_600_000 + s * 1_000)).at(-1)).toBe(true)
  })
})
