import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createSystemAlarm, type Alarm } from './alarm.ts'

const DAY = 86_400_000

let alarm: Alarm
beforeEach(() => {
  vi.useFakeTimers()
  alarm = createSystemAlarm(() => Date.now())
})
afterEach(() => {
  alarm.set(null, () => {})
  vi.useRealTimers()
})

it("rings at its moment, even beyond the limit of Node's timers", () => {
  const ring = vi.fn()
  alarm.set(Date.now() + 60 * DAY, ring)
  vi.advanceTimersByTime(60 * DAY - 1)
  expect(ring).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2)
  expect(ring).toHaveBeenCalledOnce()
  vi.advanceTimersByTime(60 * DAY)
  expect(ring).toHaveBeenCalledOnce()
})

it('rings at once for a past moment, but not inside the call', () => {
  const ring = vi.fn()
  alarm.set(Date.now() - 1, ring)
  expect(ring).not.toHaveBeenCalled()
  vi.advanceTimersByTime(0)
  expect(ring).toHaveBeenCalledOnce()
})

it('replaces the moment set before', () => {
  const [first, second] = [vi.fn(), vi.fn()]
  alarm.set(Date.now() + 1000, first)
  alarm.set(Date.now() - 1, first)
  alarm.set(Date.now() + 500, second)
  vi.advanceTimersByTime(2000)
  expect(first).not.toHaveBeenCalled()
  expect(second).toHaveBeenCalledOnce()
  alarm.set(Date.now() + 500, second)
  alarm.set(null, () => {})
  vi.advanceTimersByTime(2000)
  expect(second).toHaveBeenCalledOnce()
})
