import { expect, it } from 'vitest'
import { createHandClock } from '../testing/hand-clock.ts'
import { afterAwake, sampleAwake } from './clock.ts'

it('counts the time that a process could work, and almost none of the time asleep', () => {
  const clock = createHandClock()
  const awake = sampleAwake(clock)
  clock.advance(3_601_500)
  expect(awake()).toBe(3_601_500)
  clock.suspend(72 * 3_600_000)
  expect(awake()).toBe(3_601_500 + 15_000)
  clock.advance(60_000)
  expect(awake()).toBe(3_601_500 + 75_000)
})

it('waits longer when its timer fired during sleep', () => {
  const clock = createHandClock()
  let calls = 0
  afterAwake(clock, 60_000, () => calls++)
  const stop = afterAwake(clock, 60_000, () => calls++)
  clock.advance(20_000)
  clock.suspend(72 * 3_600_000)
  stop()
  clock.advance(39_999)
  expect(calls).toBe(0)
  clock.advance(1)
  expect(calls).toBe(1)
})
