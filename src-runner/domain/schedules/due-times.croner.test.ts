import { Cron } from 'croner'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { walkRuns } from '../../testing/walk-runs.ts'
import { nextDueTimes, parseCron } from './due-times.ts'

/**
 * Random expressions, compared with croner. Both agree if no clock is changed and no day field is a star with a step, which croner
 * takes for a list of days.
 */

const RUNS = walkRuns(1000)
const COUNT = 8

type Field = { text: string; values: (number | 'L')[] | 'any' }

const between = (min: number, max: number) => fc.integer({ min, max })

/** One value, a range or a range with a step. */
function item(min: number, max: number): fc.Arbitrary<{ text: string; values: number[] }> {
  const value = between(min, max).map((only) => ({ text: String(only), values: [only] }))
  const range = fc.tuple(between(min, max), between(min, max), fc.option(between(1, max - min))).map(([a, b, step]) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)]
    const values = Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((one) => (one - from) % (step ?? 1) === 0)
    return { text: `${from}-${to}${step === null ? '' : `/${step}`}`, values }
  })
  return fc.oneof(value, range)
}

function list(min: number, max: number): fc.Arbitrary<Field> {
  return fc.array(item(min, max), { minLength: 1, maxLength: 3 }).map((items) => ({
    text: items.map(({ text }) => text).join(','),
    values: [...new Set(items.flatMap(({ values }) => values))],
  }))
}

const star = fc.constant<Field>({ text: '*', values: 'any' })
const lastDay = fc.constant<Field>({ text: 'L', values: ['L'] })
const everySo = (most: number) => between(1, most).map((step) => `*/${step}`)
const texts = (min: number, max: number, ...more: fc.Arbitrary<string>[]) =>
  fc.oneof(
    star.map(({ text }) => text),
    list(min, max).map(({ text }) => text),
    ...more,
  )
const expression = fc.record({
  minute: texts(0, 59, everySo(59)),
  hour: texts(0, 23, everySo(23)),
  day: fc.oneof(star, list(1, 31), lastDay),
  month: texts(1, 12, fc.constantFrom('JAN', 'feb,Mar', 'APR-JUN', 'dec'), everySo(11)),
  weekday: texts(0, 6, fc.constantFrom('MON-FRI', 'sat,SUN', 'wed', '7', '5-7')),
})
type Expression = typeof expression extends fc.Arbitrary<infer E> ? E : never

/**
 * Two day fields mean the days of either. Croner is called for each day of the month and for the weekdays separately. For several days
 * it takes the 29th, 30th and 31st of February for days of March and skips the days before (`0 0 1,31 * *` after 2029-02-15 gives the
 * 31st of March).
 */
function timesOfCroner({ minute, hour, day, month, weekday }: Expression, timezone: string, after: number): number[] {
  const ofMonth = day.values === 'any' ? [] : day.values.map((one) => `${minute} ${hour} ${one} ${month} *`)
  const ofWeek = weekday === '*' && ofMonth.length > 0 ? [] : [`${minute} ${hour} * ${month} ${weekday}`]
  const times = [...ofMonth, ...ofWeek].flatMap((cron) => new Cron(cron, { timezone, mode: '5-part' }).nextRuns(COUNT, new Date(after)))
  return [...new Set(times.map((time) => time.getTime()))].toSorted((a, b) => a - b).slice(0, COUNT)
}

it('agrees with croner in zones without clock changes', { timeout: 15 * 60_000 }, () => {
  fc.assert(
    fc.property(
      expression,
      fc.constantFrom('UTC', 'Asia/Kathmandu', 'Asia/Tokyo', 'America/Phoenix'),
      between(Date.UTC(2024, 0, 1), Date.UTC(2040, 0, 1)),
      (fields, timezone, after) => {
        const cron = [fields.minute, fields.hour, fields.day.text, fields.month, fields.weekday].join(' ')
        const others = timesOfCroner(fields, timezone, after)
        expect(nextDueTimes(cron, timezone, after, COUNT)).toEqual(others)
        expect(parseCron(cron, timezone).ok).toBe(others.length > 0)
      },
    ),
    { numRuns: RUNS },
  )
})
