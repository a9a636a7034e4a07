import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dueTimesBetween, nextDueAfter } from './due-times.ts'

/**
 * Computes due times independently: it checks every minute of 400 days, like a cron daemon that never sleeps, with the wall clock from
 * Intl.
 */

const DAYS = 400
const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const MINUTES = DAYS * 1440
/** For decades, clocks were changed only at full quarters of an hour. A test below checks this. */
const QUARTER = 15

const UNUSUAL_ZONES = [
  'America/New_York',
  'Europe/Berlin',
  'Africa/Cairo', // no midnight in spring
  'America/Santiago', // the same, in the other half of the year
  'Australia/Lord_Howe', // half an hour
  'Asia/Kathmandu', // three quarters beside the hour, and never a change
  'Antarctica/Troll', // two hours
  'America/Nuuk', // the hour that is left out ends its day
  'America/Havana', // midnight comes twice
  'America/St_Johns', // half past
  'Africa/Casablanca', // changes with the moon
  'Pacific/Chatham', // three quarters, and a change at 02:45
]
/** `npm run test:long` takes every zone. */
const ZONES = [...new Set([...UNUSUAL_ZONES, ...(process.env['EVERY_ZONE'] === '1' ? Intl.supportedValuesOf('timeZone') : [])])]

const EXPRESSIONS = [
  '* * * * *',
  '*/5 * * * *',
  '*/7 * * * *',
  '7-59/15 * * * *',
  '0 * * * *',
  '30 */2 * * *',
  '15,45 1-3 * * *',
  '*/20 2 * * *',
  '0 0 * * *',
  '30 0 * * MON',
  '30 1 * * *',
  '59 1 * * *',
  '0 2 * * *',
  '15 2 * * SUN',
  '30 2 * * 6,0',
  '45 23 * * *',
  '0 9 * * MON-FRI',
  '0,30 9-17/4 1-7 * *',
  '0 12 13 * FRI',
  '0 8 31 1-12/2 *',
  '10 0,23 */10 * 0',
  '5 4 29 2,APR *',
]

/** What the wall clock shows at an instant, in minutes. */
function shownBy(timezone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
  return (ms) => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`) / MINUTE
}

/** The same for each minute of the 400 days; index 0 is the minute before them. */
function wallClockOf(timezone: string): Int32Array {
  const shownAt = shownBy(timezone)
  const wall = new Int32Array(MINUTES + 1)
  for (let from = -QUARTER; from < MINUTES; from += QUARTER) {
    const shown = shownAt(START + from * MINUTE)
    for (let i = 0; i < QUARTER; i++) if (from + i >= -1) wall[from + i + 1] = shown + i
  }
  return wall
}

const NUMBERS: Record<string, number> = { SUN: 0, MON: 1, FRI: 5, APR: 4 }
const numberOf = (text: string) => NUMBERS[text] ?? Number(text)

/** Whether one field of an expression contains this value. */
function names(field: string, value: number, lowest: number): boolean {
  return field.split(',').some((item) => {
    const [range, step] = item.split('/')
    const [from, to] = range === '*' ? [lowest, Infinity] : range!.split('-').map(numberOf)
    return value >= from! && value <= (to ?? from!) && (value - from!) % Number(step ?? 1) === 0
  })
}

function namesDay([, , dayOfMonth, month, weekday]: string[], date: Date): boolean {
  if (!names(month!, date.getUTCMonth() + 1, 1)) return false
  const isDay = names(dayOfMonth!, date.getUTCDate(), 1)
  const isWeekday = names(weekday!, date.getUTCDay(), 0)
  return dayOfMonth!.startsWith('*') || weekday!.startsWith('*') ? isDay && isWeekday : isDay || isWeekday
}

/** Minutes since the start at which the expression is due. */
function watchTheClock(cron: string, wall: Int32Array): number[] {
  const fields = cron.split(' ')
  const goesByTheClock = fields[0]!.includes('*') || fields[0]!.includes('/') || fields[1]!.includes('*') || fields[1]!.includes('/')
  const times = Array.from({ length: 1440 }, (_, i) => names(fields[0]!, i % 60, 0) && names(fields[1]!, Math.floor(i / 60), 0))
  const days = new Map<number, boolean>()
  const isNamed = (shown: number): boolean => {
    if (!times[shown % 1440]) return false
    const day = Math.floor(shown / 1440)
    let isDay = days.get(day)
    if (isDay === undefined) days.set(day, (isDay = namesDay(fields, new Date(day * 1440 * MINUTE))))
    return isDay
  }
  const due: number[] = []
  let shownBefore = wall[0]!
  for (let i = 1; i <= MINUTES; i++) {
    const shown = wall[i]!
    let isDue = false
    if (goesByTheClock) isDue = isNamed(shown)
    // Each minute that the clock passed or skipped for the first time.
    else for (let minute = shownBefore + 1; minute <= shown; minute++) isDue = isNamed(minute) || isDue
    if (isDue) due.push(i - 1)
    shownBefore = Math.max(shownBefore, shown)
  }
  return due
}

describe.each(ZONES)('400 days in %s', (timezone) => {
  let wall: Int32Array
  beforeAll(() => {
    wall = wallClockOf(timezone)
  })
  afterAll(() => {
    wall = new Int32Array()
  })

  it.each(EXPRESSIONS)('finds the due times of "%s" like an observer of the wall clock', (cron) => {
    const watched = watchTheClock(cron, wall).map((minute) => START + minute * MINUTE)
    const end = START + MINUTES * MINUTE - 1
    const times = dueTimesBetween(cron, timezone, START - 1, end)
    const at = times.findIndex((time, i) => time !== watched[i])
    const differs = at === -1 ? null : { is: new Date(times[at]!).toISOString(), watched: new Date(watched[at] ?? NaN).toJSON() }
    expect({ due: times.length, differs }).toEqual({ due: watched.length, differs: null })
    expect(watched.length).toBeGreaterThan(0)

    // From any moment, not only from one due time to the next.
    for (let i = 0; i < 300; i++) {
      const from = START + Math.floor(((i * 0.6180339887) % 1) * MINUTES * MINUTE)
      expect(nextDueAfter(cron, timezone, from)).toBe(firstAfter(watched, from) ?? nextDueAfter(cron, timezone, end))
    }
  })
})

function firstAfter(times: readonly number[], from: number): number | undefined {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[middle]! > from) high = middle
    else low = middle + 1
  }
  return times[low]
}

it('knows only clock changes at full quarters of an hour, on which the observer relies', () => {
  const changes = ZONES.map((timezone) => {
    const wall = wallClockOf(timezone)
    const changed = [...wall.keys()].slice(2).filter((i) => wall[i]! - wall[i - 1]! !== 1)
    const before = changed.map((i) => shownBy(timezone)(START + (i - 2) * MINUTE) - wall[i - 1]!)
    return [timezone, before] as const
  })
  expect(Object.fromEntries(changes)).toMatchObject({ 'America/New_York': [0, 0], 'Asia/Kathmandu': [], 'Africa/Cairo': [0, 0] })
  expect(changes.flatMap(([, before]) => before).filter((difference) => difference !== 0)).toEqual([])
})
