import { describe, expect, it } from 'vitest'
import { isTimezone, localDate, localDayStart, nextLocalDayStart } from './zone-offsets.ts'

const HOUR_MS = 3_600_000
const at = (iso: string) => Date.parse(iso)
const iso = (ms: number) => new Date(ms).toISOString()

describe('a local day', () => {
  it.each([
    ['an ordinary day', 'Europe/Berlin', '2026-06-10T15:00+02:00', '2026-06-10T00:00+02:00', 24],
    ['its first instant', 'Europe/Berlin', '2026-06-10T00:00+02:00', '2026-06-10T00:00+02:00', 24],
    ['its last millisecond', 'Europe/Berlin', '2026-06-10T23:59:59.999+02:00', '2026-06-10T00:00+02:00', 24],
    ['Kathmandu', 'Asia/Kathmandu', '2026-06-10T00:10+05:45', '2026-06-10T00:00+05:45', 24],
    ['23 hours in spring', 'America/New_York', '2026-03-08T22:00-04:00', '2026-03-08T00:00-05:00', 23],
    ['25 hours in autumn', 'America/New_York', '2026-11-01T22:00-05:00', '2026-11-01T00:00-04:00', 25],
    ['between two equal hours', 'America/New_York', '2026-11-01T01:30-05:00', '2026-11-01T00:00-04:00', 25],
    ['23.5 hours on Lord Howe', 'Australia/Lord_Howe', '2026-10-04T12:00+11:00', '2026-10-04T00:00+10:30', 23.5],
    ['24.5 hours on Lord Howe', 'Australia/Lord_Howe', '2026-04-05T12:00+10:30', '2026-04-05T00:00+11:00', 24.5],
    ['22 hours at Troll', 'Antarctica/Troll', '2026-03-29T12:00+02:00', '2026-03-29T00:00+00:00', 22],
    ['26 hours at Troll', 'Antarctica/Troll', '2026-10-25T12:00+00:00', '2026-10-25T00:00+02:00', 26],
    ['no midnight in Cairo', 'Africa/Cairo', '2026-04-24T12:00+03:00', '2026-04-24T01:00+03:00', 23],
    ['its last hour twice in Cairo', 'Africa/Cairo', '2026-10-29T23:30+02:00', '2026-10-29T00:00+03:00', 25],
    ['no midnight in Santiago', 'America/Santiago', '2026-09-06T12:00-03:00', '2026-09-06T01:00-03:00', 23],
    ['its last hour twice in Santiago', 'America/Santiago', '2026-04-04T23:30-04:00', '2026-04-04T00:00-03:00', 25],
    ['no last hour in Nuuk', 'America/Nuuk', '2026-03-28T12:00-02:00', '2026-03-28T00:00-02:00', 23],
    ['midnight twice in Havana', 'America/Havana', '2026-11-01T00:30-05:00', '2026-11-01T00:00-04:00', 25],
    ['the day before one that is left out', 'Pacific/Apia', '2011-12-29T12:00-10:00', '2011-12-29T00:00-10:00', 24],
  ])('%s', (_what, timezone, now, start, hours) => {
    expect(iso(localDayStart(at(now), timezone))).toBe(iso(at(start)))
    expect(iso(nextLocalDayStart(at(now), timezone))).toBe(iso(at(start) + hours * HOUR_MS))
  })
})

it('accepts a timezone only by its name', () => {
  expect(['UTC', 'Europe/Berlin', 'Asia/Calcutta', 'Etc/GMT+5'].filter((name) => !isTimezone(name))).toEqual([])
  expect(['', '+02:00', 'Berlin', 'Mars/Phobos', ' UTC', '../UTC'].filter(isTimezone)).toEqual([])
})

describe('the local date', () => {
  it.each([
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'America/Santiago',
    'Africa/Cairo',
    'Pacific/Apia',
    'Pacific/Chatham',
  ])(
    'is the one that the calendar of %s shows',
    (zone) => {
      const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
      const wrong: number[] = []
      for (let ms = Date.UTC(2025, 0, 1); ms < Date.UTC(2027, 0, 1); ms += 900_000)
        if (localDate(ms, zone) !== format.format(ms)) wrong.push(ms)
      expect(wrong).toEqual([])
    },
    30_000,
  )
})
