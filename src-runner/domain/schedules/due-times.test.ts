import { describe, expect, it } from 'vitest'
import { dueTimesBetween, isWatcher, nextDueAfter, nextDueTimes, parseCron } from './due-times.ts'

const at = (iso: string) => Date.parse(iso)

/** Due times after the first instant, each with its offset from UTC. */
const CLOCK_CHANGES: [what: string, zone: string, cron: string, after: string, due: string[]][] = [
  // 2026-03-08: 02:00 becomes 03:00. 2026-11-01: 02:00 becomes 01:00.
  [
    'a time in the hour that is left out',
    'America/New_York',
    '30 2 * * *',
    '2026-03-08T00:00-05:00',
    ['2026-03-08T03:00-04:00', '2026-03-09T02:30-04:00'],
  ],
  [
    'the minute of the change itself',
    'America/New_York',
    '0 2 * * *',
    '2026-03-07T12:00-05:00',
    ['2026-03-08T03:00-04:00', '2026-03-09T02:00-04:00'],
  ],
  [
    'two times in the hour that is left out, due once',
    'America/New_York',
    '0,30 2 * * *',
    '2026-03-08T00:00-05:00',
    ['2026-03-08T03:00-04:00', '2026-03-09T02:00-04:00'],
  ],
  [
    'a left-out time that meets one that exists',
    'America/New_York',
    '0 2-4 * * *',
    '2026-03-08T01:00-05:00',
    ['2026-03-08T03:00-04:00', '2026-03-08T04:00-04:00'],
  ],
  ['a time well after the change', 'America/New_York', '0 9 * * *', '2026-03-07T09:00-05:00', ['2026-03-08T09:00-04:00']],
  [
    'an interval over the hour that is left out',
    'America/New_York',
    '*/30 * * * *',
    '2026-03-08T01:00-05:00',
    ['2026-03-08T01:30-05:00', '2026-03-08T03:00-04:00', '2026-03-08T03:30-04:00'],
  ],
  ['every second hour, without the one left out', 'America/New_York', '0 */2 * * *', '2026-03-08T00:00-05:00', ['2026-03-08T04:00-04:00']],
  [
    'a time that comes twice',
    'America/New_York',
    '30 1 * * *',
    '2026-11-01T00:00-04:00',
    ['2026-11-01T01:30-04:00', '2026-11-02T01:30-05:00'],
  ],
  [
    'a time that comes twice, seen from between the two',
    'America/New_York',
    '30 1 * * *',
    '2026-11-01T01:45-04:00',
    ['2026-11-02T01:30-05:00'],
  ],
  [
    'a list of hours of which one comes twice',
    'America/New_York',
    '0 1,5 * * *',
    '2026-11-01T00:30-04:00',
    ['2026-11-01T01:00-04:00', '2026-11-01T05:00-05:00'],
  ],
  [
    'an interval in both of two equal hours',
    'America/New_York',
    '*/30 * * * *',
    '2026-11-01T01:00-04:00',
    ['2026-11-01T01:30-04:00', '2026-11-01T01:00-05:00', '2026-11-01T01:30-05:00', '2026-11-01T02:00-05:00'],
  ],
  [
    'every hour in both of two equal hours',
    'America/New_York',
    '15 * * * *',
    '2026-11-01T00:30-04:00',
    ['2026-11-01T01:15-04:00', '2026-11-01T01:15-05:00', '2026-11-01T02:15-05:00'],
  ],
  [
    'a step in the minute of one hour that comes twice',
    'America/New_York',
    '*/30 1 * * *',
    '2026-11-01T00:00-04:00',
    ['2026-11-01T01:00-04:00', '2026-11-01T01:30-04:00', '2026-11-01T01:00-05:00', '2026-11-01T01:30-05:00', '2026-11-02T01:00-05:00'],
  ],
  ['Berlin in spring', 'Europe/Berlin', '30 2 * * *', '2026-03-29T00:00+01:00', ['2026-03-29T03:00+02:00', '2026-03-30T02:30+02:00']],
  ['Berlin in autumn', 'Europe/Berlin', '30 2 * * *', '2026-10-25T00:00+02:00', ['2026-10-25T02:30+02:00', '2026-10-26T02:30+01:00']],
  // 2026-04-24: midnight becomes 01:00. 2026-10-29: at 24:00 it is 23:00 again.
  [
    'a day of Cairo without midnight',
    'Africa/Cairo',
    '0 0 * * *',
    '2026-04-23T12:00+02:00',
    ['2026-04-24T01:00+03:00', '2026-04-25T00:00+03:00'],
  ],
  [
    'a weekday of Cairo without midnight',
    'Africa/Cairo',
    '15 0 * * FRI',
    '2026-04-23T12:00+02:00',
    ['2026-04-24T01:00+03:00', '2026-05-01T00:15+03:00'],
  ],
  [
    'the last hour of a day of Cairo, twice',
    'Africa/Cairo',
    '30 23 * * *',
    '2026-10-29T12:00+03:00',
    ['2026-10-29T23:30+03:00', '2026-10-30T23:30+02:00'],
  ],
  ['midnight after the last hour of Cairo came twice', 'Africa/Cairo', '0 0 * * *', '2026-10-29T12:00+03:00', ['2026-10-30T00:00+02:00']],
  // 2026-09-06: midnight becomes 01:00. 2026-04-04: at 24:00 it is 23:00 again.
  [
    'a day of Santiago without midnight',
    'America/Santiago',
    '0 0 * * *',
    '2026-09-05T12:00-04:00',
    ['2026-09-06T01:00-03:00', '2026-09-07T00:00-03:00'],
  ],
  [
    'the last hour of a day of Santiago, twice',
    'America/Santiago',
    '0 23 * * *',
    '2026-04-04T12:00-03:00',
    ['2026-04-04T23:00-03:00', '2026-04-05T23:00-04:00'],
  ],
  // 2026-10-04: 02:00 becomes 02:30. 2026-04-05: 02:00 becomes 01:30.
  [
    'the half hour that Lord Howe leaves out',
    'Australia/Lord_Howe',
    '15 2 * * *',
    '2026-10-04T00:00+10:30',
    ['2026-10-04T02:30+11:00', '2026-10-05T02:15+11:00'],
  ],
  [
    'every hour while Lord Howe leaves out a full one',
    'Australia/Lord_Howe',
    '0 * * * *',
    '2026-10-04T00:30+10:30',
    ['2026-10-04T01:00+10:30', '2026-10-04T03:00+11:00'],
  ],
  [
    'the half hour that comes twice on Lord Howe',
    'Australia/Lord_Howe',
    '45 1 * * *',
    '2026-04-05T00:00+11:00',
    ['2026-04-05T01:45+11:00', '2026-04-06T01:45+10:30'],
  ],
  [
    'an interval in the half hour that comes twice',
    'Australia/Lord_Howe',
    '*/15 * * * *',
    '2026-04-05T01:30+11:00',
    ['2026-04-05T01:45+11:00', '2026-04-05T01:30+10:30', '2026-04-05T01:45+10:30', '2026-04-05T02:00+10:30'],
  ],
  ['Kathmandu, three quarters beside the hour', 'Asia/Kathmandu', '0 9 * * *', '2026-06-01T09:00+05:45', ['2026-06-02T09:00+05:45']],
  // 2026-03-29: 01:00 becomes 03:00. 2026-10-25: 03:00 becomes 01:00.
  [
    'two hours that Troll leaves out',
    'Antarctica/Troll',
    '30 1,2 * * *',
    '2026-03-29T00:00+00:00',
    ['2026-03-29T03:00+02:00', '2026-03-30T01:30+02:00'],
  ],
  [
    'two hours that come twice at Troll',
    'Antarctica/Troll',
    '30 1,2 * * *',
    '2026-10-25T00:00+02:00',
    ['2026-10-25T01:30+02:00', '2026-10-25T02:30+02:00', '2026-10-26T01:30+00:00'],
  ],
  // 2026-03-28: 23:00 becomes midnight.
  [
    'the last hour of a day, which Nuuk leaves out',
    'America/Nuuk',
    '30 23 * * SAT',
    '2026-03-28T12:00-02:00',
    ['2026-03-29T00:00-01:00', '2026-04-04T23:30-01:00'],
  ],
  // 2026-11-01: 01:00 becomes midnight.
  [
    'the midnight that comes twice in Havana',
    'America/Havana',
    '0 0 * * *',
    '2026-10-31T12:00-04:00',
    ['2026-11-01T00:00-04:00', '2026-11-02T00:00-05:00'],
  ],
  // After 2011-12-29 came 2011-12-31.
  [
    'the day that Apia left out',
    'Pacific/Apia',
    '0 9 * * *',
    '2011-12-29T12:00-10:00',
    ['2011-12-31T00:00+14:00', '2011-12-31T09:00+14:00'],
  ],
]

describe('a clock change', () => {
  it.each(CLOCK_CHANGES)('%s: %s "%s"', (_what, zone, cron, after, due) => {
    expect(nextDueTimes(cron, zone, at(after), due.length).map((ms) => new Date(ms).toISOString())).toEqual(
      due.map((iso) => new Date(iso).toISOString()),
    )
  })
})

describe('the days of an expression', () => {
  const dates = (cron: string, after: string, count: number) =>
    nextDueTimes(cron, 'UTC', at(after), count).map((ms) => new Date(ms).toISOString().slice(0, 16))

  it('match either field if both name days', () => {
    expect(dates('0 9 13 * FRI', '2026-03-10', 3)).toEqual(['2026-03-13T09:00', '2026-03-20T09:00', '2026-03-27T09:00'])
    expect(dates('0 9 13 * FRI', '2026-04-11', 2)).toEqual(['2026-04-13T09:00', '2026-04-17T09:00'])
  })

  it('match both fields if one starts with a star', () => {
    expect(dates('0 9 */2 * FRI', '2026-03-01', 3)).toEqual(['2026-03-13T09:00', '2026-03-27T09:00', '2026-04-03T09:00'])
  })

  it('can be in leap years only', () => {
    expect(dates('0 0 29 2 *', '2026-01-01', 2)).toEqual(['2028-02-29T00:00', '2032-02-29T00:00'])
    expect(dates('0 0 29 2 *', '2096-03-01', 1)).toEqual(['2104-02-29T00:00'])
    // A February has a fifth Sunday once in 28 years, and once in 40 around a year like 2100.
    expect(dates('0 0 29 2 */7', '2088-03-01', 1)).toEqual(['2128-02-29T00:00'])
  })

  it('can be the last day of each month', () => {
    expect(dates('30 22 L * *', '2028-01-15', 3)).toEqual(['2028-01-31T22:30', '2028-02-29T22:30', '2028-03-31T22:30'])
    expect(dates('0 9 l 2 *', '2026-01-01', 2)).toEqual(['2026-02-28T09:00', '2027-02-28T09:00'])
    expect(dates('0 9 L * FRI', '2026-03-26', 3)).toEqual(['2026-03-27T09:00', '2026-03-31T09:00', '2026-04-03T09:00'])
    expect(dates('0 9 L * */2', '2026-03-01', 1)).toEqual(['2026-03-31T09:00'])
  })

  it('accept names, lists, ranges and steps', () => {
    expect(dates('0 0 1-10/3 jan,Jul *', '2026-01-05', 4)).toEqual([
      '2026-01-07T00:00',
      '2026-01-10T00:00',
      '2026-07-01T00:00',
      '2026-07-04T00:00',
    ])
    expect(dates('0 0 * * fri-sun', '2026-03-02', 4)).toEqual([
      '2026-03-06T00:00',
      '2026-03-07T00:00',
      '2026-03-08T00:00',
      '2026-03-13T00:00',
    ])
    expect(dates('0 0 * * 7', '2026-03-02', 1)).toEqual(['2026-03-08T00:00'])
  })
})

describe('the first due time after an instant', () => {
  it('is never the instant itself', () => {
    expect(nextDueAfter('* * * * *', 'UTC', at('2026-03-01T10:00:00.000Z'))).toBe(at('2026-03-01T10:01Z'))
    expect(nextDueAfter('* * * * *', 'UTC', at('2026-03-01T09:59:59.999Z'))).toBe(at('2026-03-01T10:00Z'))
    expect(nextDueAfter('* * * * *', 'UTC', at('2026-03-01T09:59:59.999Z') + 0.5)).toBe(at('2026-03-01T10:00Z'))
  })

  it('does not exist for an impossible date', () => {
    expect(nextDueAfter('0 0 30 2 *', 'UTC', 0)).toBeNull()
    expect(nextDueAfter('0 0 31 4,6,9,11 *', 'Europe/Berlin', 0)).toBeNull()
    expect(nextDueTimes('0 0 30 2 *', 'UTC', 0, 5)).toEqual([])
  })

  it('exists for an impossible date with a weekday', () => {
    expect(nextDueAfter('0 0 30 2 MON', 'UTC', at('2026-01-01'))).toBe(at('2026-02-02'))
  })

  it('throws for an invalid expression', () => {
    expect(() => nextDueAfter('every day', 'UTC', 0)).toThrow(RangeError)
    expect(() => nextDueAfter('* * * * *', 'Mars/Phobos', 0)).toThrow(RangeError)
  })
})

describe('the due times between two instants', () => {
  it('exclude the first instant and include the last', () => {
    const between = dueTimesBetween('0 * * * *', 'UTC', at('2026-03-01T10:00Z'), at('2026-03-01T12:00Z'), 10)
    expect(between).toEqual([at('2026-03-01T11:00Z'), at('2026-03-01T12:00Z')])
  })

  it('are limited to the given number', () => {
    const times = [at('2026-03-01T11:00Z'), at('2026-03-01T12:00Z')]
    expect(dueTimesBetween('0 * * * *', 'UTC', at('2026-03-01T10:00Z'), at('2026-03-01T13:00Z'), 2)).toEqual(times)
    expect(dueTimesBetween('0 * * * *', 'UTC', at('2026-03-01T10:00Z'), at('2026-03-01T13:00Z'))).toHaveLength(3)
  })
})

describe('an invalid expression', () => {
  it.each([
    ['', 'cron_empty'],
    ['* * * *', 'cron_fields'],
    ['0 * * * * *', 'cron_six_fields'],
    ['@daily', 'cron_nickname'],
    ['@reboot', 'cron_no_time'],
    ['0 0 ? * MON', 'cron_question_mark'],
    ['0 0 1,L * *', 'cron_not_plain'],
    ['0 0 L-2 * *', 'cron_not_plain'],
    ['0 0 * L *', 'cron_not_plain'],
    ['0 0 15W * *', 'cron_not_plain'],
    ['0 0 * * FRI#2', 'cron_not_plain'],
    ['0 0 * * 5L', 'cron_not_plain'],
    ['60 * * * *', 'cron_outside'],
    ['* 24 * * *', 'cron_outside'],
    ['0 0 0 * *', 'cron_outside'],
    ['0 0 * 13 *', 'cron_outside'],
    ['0 0 * * 8', 'cron_outside'],
    ['0 0 * * SAT-MON', 'cron_backwards'],
    ['5/15 * * * *', 'cron_step_needs_range'],
    ['*/0 * * * *', 'cron_step_missing'],
    ['*/90 * * * *', 'cron_step_too_long'],
    ['*/5/2 * * * *', 'cron_two_steps'],
    ['1-2-3 * * * *', 'cron_no_range'],
    ['1,,2 * * * *', 'cron_comma'],
    ['-5 * * * *', 'cron_unknown'],
    ['1.5 * * * *', 'cron_unknown'],
    ['0 noon * * *', 'cron_unknown'],
    ['0 0 * MON *', 'cron_unknown'],
    ['0 0 30 2 *', 'cron_never_due'],
  ])('is rejected: "%s"', (cron, code) => {
    expect(parseCron(cron, 'UTC')).toEqual({ ok: false, problem: expect.objectContaining({ code }) })
  })

  it.each(['0 {} * * *', '0 1/{} * * *', '0 5-{} * * *', '@{}'])('is rejected without repeating a long text: "%s"', (cron) => {
    const problem = JSON.stringify(parseCron(cron.replace('{}', 'sk-live-'.repeat(10)), 'UTC'))
    expect(problem).toContain('sk-live-')
    expect(problem).not.toContain('sk-live-'.repeat(3))
  })

  it.each(['+02:00', 'Mars/Phobos', 'Berlin', '', ' UTC'])('is rejected with the time zone "%s"', (timezone) => {
    expect(parseCron('0 9 * * *', timezone)).toEqual({ ok: false, problem: { code: 'cron_bad_zone', params: {} } })
  })
})

describe('a watcher', () => {
  it.each(['* * * * *', '*/15 * * * *', '0,10 9 * * *', '0,50 9-10 * * *', '50,0 0,23 * * *', '5,59 0,23 1,31 * *'])('is "%s"', (cron) => {
    expect(isWatcher(cron, 'UTC')).toBe(true)
  })

  it.each(['*/16 0 * * *', '*/20 * * * *', '0 * * * *', '0,50 9,11 * * *', '0,50 0,23 * * 1', '0,50 0,23 1,3 * *', '0 9 * * *'])(
    'is not "%s"',
    (cron) => {
      expect(isWatcher(cron, 'UTC')).toBe(false)
    },
  )

  it('is no invalid expression', () => {
    expect(isWatcher('often', 'UTC')).toBe(false)
    expect(isWatcher('* * * * *', 'Mars/Phobos')).toBe(false)
  })
})
