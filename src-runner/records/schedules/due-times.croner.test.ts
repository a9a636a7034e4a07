import { Cron } from 'croner'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { nextDueTimes, parseCron } from './due-times.ts'

/**
 * Expressions that nobody thought of, beside another program. Where no clock is changed, and no day field is a star with a
 * step (which croner takes for a list of days), the two say the same.
 */

const between = (min: number, max: number) => fc.integer({ min, max })

/** One value, a range or a range with a step. */
function item(min: number, max: number): fc.Arbitrary<string> {
  const range = fc.tuple(between(min, max), between(min, max)).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const stepped = fc.tuple(range, between(1, max - min)).map(([text, step]) => `${text}/${step}`)
  return fc.oneof(between(min, max).map(String), range, stepped)
}

function field(min: number, max: number, more: fc.Arbitrary<string>[] = []): fc.Arbitrary<string> {
  const list = fc.array(item(min, max), { minLength: 1, maxLength: 3 }).map((items) => items.join(','))
  return fc.oneof(fc.constant('*'), list, ...more)
}

const everySo = (most: number) => between(1, most).map((step) => `*/${step}`)
const expression = fc
  .tuple(
    field(0, 59, [everySo(59)]),
    field(0, 23, [everySo(23)]),
    field(1, 31),
    field(1, 12, [fc.constantFrom('JAN', 'feb,Mar', 'APR-JUN', 'dec'), everySo(11)]),
    field(0, 6, [fc.constantFrom('MON-FRI', 'sat,SUN', 'wed', '7', '5-7')]),
  )
  .map((fields) => fields.join(' '))

it('is due when croner says so, in zones whose clocks are never changed', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(
      expression,
      fc.constantFrom('UTC', 'Asia/Kathmandu', 'Asia/Tokyo', 'America/Phoenix'),
      between(Date.UTC(2024, 0, 1), Date.UTC(2040, 0, 1)),
      (cron, timezone, after) => {
        const others = new Cron(cron, { timezone, mode: '5-part' }).nextRuns(8, new Date(after)).map((date) => date.getTime())
        expect(nextDueTimes(cron, timezone, after, 8)).toEqual(others)
        expect(parseCron(cron, timezone).ok).toBe(others.length > 0)
      },
    ),
    { numRuns: 1000 },
  )
})
