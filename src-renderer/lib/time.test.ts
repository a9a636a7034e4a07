import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { durationText, relativeTime, startOfDay, startOfDayBefore, startOfMonth } from './time.ts'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

describe('time', () => {
  it.each([
    [0, 'now'],
    [-44 * S, 'now'],
    [-50 * S, '1 min. ago'],
    [-3 * M, '3 min. ago'],
    [-59 * M, '59 min. ago'],
    [-2 * H, '2 hr. ago'],
    [-1.2 * D, 'yesterday'],
    [-3 * D, '3 days ago'],
    [-20 * D, '2 wk. ago'],
    [+5 * M, 'in 5 min.'],
  ])('%s ms from now is "%s"', (distance, text) => {
    expect(relativeTime(1_700_000_000_000 + distance, 1_700_000_000_000, 'en')).toBe(text)
  })

  it.each([
    [-5, '0s'],
    [20, '<0.1s'],
    [420, '0.4s'],
    [990, '1s'],
    [59_999, '59s'],
    [3 * M + 5 * S, '3m 05s'],
    [2 * H + 7 * M, '2h 07m'],
    [4 * D + 3 * H, '4d 3h'],
    [Number.NaN, '0s'],
  ])('%s ms lasts "%s"', (ms, text) => {
    expect(durationText(ms, 'en')).toBe(text)
  })

  it('uses the decimal point of the language', () => {
    expect(durationText(420, 'de')).toBe('0,4s')
  })
})

// On this day the clock went from 00:00 to 01:00.
it.each([
  ['America/Havana', '2024-03-10', '-04:00'],
  ['Asia/Beirut', '2024-03-31', '+03:00'],
])('knows the start of days around a clock change at midnight in %s', (zone, changeDay, offset) => {
  vi.stubEnv('TZ', zone)
  onTestFinished(() => void vi.unstubAllEnvs())
  const noon = Date.parse(`${changeDay}T12:00${offset}`)
  const DAY = 86_400_000
  const start = Date.parse(`${changeDay}T01:00${offset}`)
  expect(startOfDay(noon)).toBe(start)
  expect(startOfDayBefore(noon + DAY, 1)).toBe(start)
  expect(startOfDayBefore(noon + DAY, 0)).toBe(start + 23 * 3_600_000)
  expect(startOfDayBefore(noon, 1)).toBe(start - DAY)
})

it.each([
  ['Europe/Berlin', '2026-03-31T23:59+02:00', '2026-03-01T00:00+01:00'],
  ['Asia/Beirut', '2026-05-31T00:30+03:00', '2026-05-01T00:00+03:00'],
  ['UTC', '2026-02-01T00:00Z', '2026-02-01T00:00Z'],
])('knows the start of the month in %s at %s', (zone, now, start) => {
  vi.stubEnv('TZ', zone)
  expect(startOfMonth(Date.parse(now))).toBe(Date.parse(start))
})
