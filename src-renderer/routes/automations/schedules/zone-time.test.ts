import { describe, expect, it, vi } from 'vitest'
import { ownTimezone } from '../../../lib/time.ts'
import { allTimezones, nextDayIn, timeOfDay, zoneTime, zoneTimes } from './zone-time.ts'

describe('nextDayIn', () => {
  it.each([
    ['an ordinary day', 'Europe/Berlin', '2026-05-12T15:20:30Z', '2026-05-12T22:00:00Z'],
    ['just before midnight', 'Europe/Berlin', '2026-05-12T21:59:59Z', '2026-05-12T22:00:00Z'],
    ['at midnight, the one after', 'Europe/Berlin', '2026-05-12T22:00:00Z', '2026-05-13T22:00:00Z'],
    ['a day of 23 hours', 'Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['a day of 25 hours', 'Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ['a day that begins at one o’clock', 'America/Santiago', '2026-09-05T12:00:00Z', '2026-09-06T04:00:00Z'],
    ['a zone that the page does not know, as in UTC', 'Mars/Base', '2026-05-12T18:29:00Z', '2026-05-13T00:00:00Z'],
    ['a zone of half hours', 'Asia/Kolkata', '2026-05-12T18:29:00Z', '2026-05-12T18:30:00Z'],
  ])('%s', (_, zone, now, next) => {
    expect(new Date(nextDayIn(zone, Date.parse(now))).toISOString()).toBe(new Date(next).toISOString())
  })
})

it('formats a time in a zone, and in UTC for an unknown zone', () => {
  const at = Date.parse('2026-05-12T07:00:00Z')
  expect(zoneTime(at, 'Asia/Tokyo', 'en-GB')).toBe('Tue 12 May, 16:00')
  expect(zoneTime(at, 'Mars/Olympus', 'en-GB')).toBe('Tue 12 May, 07:00')
})

it('formats a span with the day only once', () => {
  const at = Date.parse('2026-05-12T07:00:00Z')
  expect(zoneTimes(at, at + 3_600_000, 'Asia/Tokyo', 'en-GB')).toMatch(/^Tue 12 May, 16:00.?–.?17:00$/)
  expect(zoneTimes(at, at + 86_400_000, 'Asia/Tokyo', 'en-GB')).toMatch(/^Tue 12 May, 16:00.?–.?Wed 13 May, 16:00$/)
})

it('formats the time of day where the machine is, also after it has travelled', () => {
  const at = Date.parse('2026-05-12T07:00:00Z')
  vi.stubEnv('TZ', 'Asia/Tokyo')
  expect(timeOfDay(at, 'en-GB')).toBe('16:00')
  vi.stubEnv('TZ', 'America/Los_Angeles')
  expect(timeOfDay(at, 'en-GB')).toMatch(/^0?0:00$/)
})

it('lists all zones, with the machine’s own and UTC', () => {
  expect(allTimezones()).toEqual(expect.arrayContaining(['Europe/Berlin', 'UTC', ownTimezone()]))
})
