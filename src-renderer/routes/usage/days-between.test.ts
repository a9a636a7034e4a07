import { expect, it, vi } from 'vitest'
import { daysBetween } from './days-between.ts'

it.each([
  ['UTC', '2026-02-27T00:00', '2026-03-01T23:59', ['2026-02-27', '2026-02-28', '2026-03-01']],
  // Clocks go forward on the 29th and back on the 25th.
  ['Europe/Berlin', '2026-03-28T23:59', '2026-03-30T00:00', ['2026-03-28', '2026-03-29', '2026-03-30']],
  ['Europe/Berlin', '2026-10-24T00:00', '2026-10-26T00:00', ['2026-10-24', '2026-10-25', '2026-10-26']],
  // The day begins at one here.
  ['America/Asuncion', '2022-10-01T12:00', '2022-10-03T00:30', ['2022-10-01', '2022-10-02', '2022-10-03']],
  ['UTC', '2026-12-31T10:00', '2026-12-31T09:00', ['2026-12-31']],
])('lists each day in %s from %s to %s once', (zone, from, to, keys) => {
  vi.stubEnv('TZ', zone)
  const days = daysBetween(new Date(from).getTime(), new Date(to).getTime())
  expect(days.map(({ key }) => key)).toEqual(keys)
  expect(days.map(({ at }) => new Date(at).getHours())).toEqual(keys.map(() => 12))
})
