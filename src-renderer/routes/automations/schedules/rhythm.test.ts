import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { changeLanguage } from '../../../lib/language.ts'
import { cronOf, MINUTE_STEPS, type Rhythm, RHYTHM_KINDS, rhythmAs, rhythmOf, sayRhythm } from './rhythm.ts'

afterEach(() => changeLanguage('system'))

const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))
const rhythm: fc.Arbitrary<Rhythm> = fc.oneof(
  fc.record({ kind: fc.constant('minutes' as const), every: fc.constantFrom(...MINUTE_STEPS) }),
  fc.record({ kind: fc.constant('hourly' as const), minute: fc.integer({ min: 0, max: 59 }) }),
  fc.record({ kind: fc.constant('daily' as const), time }),
  fc.record({ kind: fc.constant('weekdays' as const), time }),
  fc.record({ kind: fc.constant('weekly' as const), weekday: fc.integer({ min: 0, max: 6 }), time }),
  fc.record({ kind: fc.constant('monthly' as const), day: fc.integer({ min: 0, max: 31 }), time }),
)

it('converts to cron and back', () => {
  fc.assert(
    fc.property(rhythm, (one) => {
      expect(rhythmOf(cronOf(one, ''))).toEqual(one)
    }),
  )
})

it('keeps a custom expression', () => {
  expect(cronOf({ kind: 'custom' }, '0 9 * 6 1')).toBe('0 9 * 6 1')
})

describe.each([
  ['*/15 * * * *', 'Every 15 minutes', 'Alle 15 Minuten'],
  ['* * * * *', 'Every minute', 'Jede Minute'],
  ['0 * * * *', 'Every hour, on the hour', 'Jede Stunde, zur vollen Stunde'],
  ['5 * * * *', 'Every hour, at minute 05', 'Jede Stunde, zur Minute 05'],
  ['0 9 * * *', 'Every day at 9:00 AM', 'Jeden Tag um 09:00'],
  ['30 17 * * mon-fri', 'Weekdays at 5:30 PM', 'Werktags um 17:30'],
  ['0 8 * * 7', 'Every Sunday at 8:00 AM', 'Jeden Sonntag um 08:00'],
  ['0 8 * * TUE', 'Every Tuesday at 8:00 AM', 'Jeden Dienstag um 08:00'],
  ['0 7 31 * *', 'Every month on day 31 at 7:00 AM', 'Jeden Monat am 31. um 07:00'],
  ['30 22 L * *', 'Every month on the last day at 10:30 PM', 'Jeden Monat am letzten Tag um 22:30'],
])('%s', (cron, english, german) => {
  it('is described in words', () => {
    // Some versions put a narrow space before AM.
    expect(sayRhythm(rhythmOf(cron), 'en-US')?.replace('\u202f', ' ')).toBe(english)
    changeLanguage('de')
    expect(sayRhythm(rhythmOf(cron), 'de')).toBe(german)
  })
})

it.each([['*/7 * * * *'], ['0 9 1 * 1'], ['0 9 * 6 *'], ['0 9-17 * * *'], ['0 25 * * *'], ['0 9 L * 1'], ['0 9 * *'], ['@daily'], ['']])(
  'leaves %j to cron',
  (cron) => {
    expect(rhythmOf(cron)).toEqual({ kind: 'custom' })
    expect(sayRhythm(rhythmOf(cron), 'en')).toBeNull()
  },
)

it('keeps the time when the kind changes', () => {
  const last: Rhythm = { kind: 'daily', time: '17:30' }
  for (const kind of RHYTHM_KINDS) expect(rhythmAs(kind, last).kind).toBe(kind)
  expect(rhythmAs('weekly', last)).toEqual({ kind: 'weekly', weekday: 1, time: '17:30' })
  expect(rhythmAs('hourly', last)).toEqual({ kind: 'hourly', minute: 30 })
  expect(rhythmAs('monthly', { kind: 'minutes', every: 5 })).toEqual({ kind: 'monthly', day: 1, time: '09:00' })
})
