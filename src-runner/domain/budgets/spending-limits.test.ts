import { expect, it } from 'vitest'
import { periodOf } from './spending-limits.ts'

const at = (text: string) => Date.parse(text)

it.each([
  ['UTC', '2026-11-20T09:30:00Z', '2026-11-20', '2026-11-20T00:00:00Z', '2026-11-01T00:00:00Z'],
  ['UTC', '2026-11-01T00:00:00Z', '2026-11-01', '2026-11-01T00:00:00Z', '2026-11-01T00:00:00Z'],
  ['America/Los_Angeles', '2026-11-20T06:00:00Z', '2026-11-19', '2026-11-19T08:00:00Z', '2026-11-01T07:00:00Z'],
  ['Asia/Kathmandu', '2026-11-20T09:30:00Z', '2026-11-20', '2026-11-19T18:15:00Z', '2026-10-31T18:15:00Z'],
  // A day of 25 hours and one of 23.
  ['Europe/Berlin', '2026-10-25T22:59:59Z', '2026-10-25', '2026-10-24T22:00:00Z', '2026-09-30T22:00:00Z'],
  ['Europe/Berlin', '2026-03-29T21:59:59Z', '2026-03-29', '2026-03-28T23:00:00Z', '2026-02-28T23:00:00Z'],
])('finds the day and month of %s at %s', (timezone, now, day, dayStart, monthStart) => {
  expect(periodOf('day', at(now), timezone)).toEqual({ name: day, startAt: at(dayStart) })
  expect(periodOf('month', at(now), timezone)).toEqual({ name: day.slice(0, 7), startAt: at(monthStart) })
})
