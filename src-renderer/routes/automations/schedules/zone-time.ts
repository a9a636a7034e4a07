import { cachedFormat } from '../../../../resources/locales/numbers.ts'
import { hourStyle, ownTimezone } from '../../../lib/time.ts'

/** "Mon, May 12, 9:00 AM" in that zone, or in UTC for a zone that this page does not know. */
export function zoneTime(at: number, timezone: string, locale: string): string {
  return zoneFormat(timezone, locale).format(at)
}

/** "Mon, May 12, 9:00 AM – Tue, May 13, 8:00 AM", with the day only once if it is the same. */
export function zoneTimes(from: number, until: number, timezone: string, locale: string): string {
  return zoneFormat(timezone, locale).formatRange(from, until)
}

function zoneFormat(timezone: string, locale: string): Intl.DateTimeFormat {
  const format = (timeZone: string) =>
    new Intl.DateTimeFormat(locale, {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: hourStyle(locale),
      minute: '2-digit',
      timeZone,
    })
  return cachedFormat(`zone ${locale} ${timezone}`, () => orInUtc(timezone, format))
}

/** A format in that zone, or in UTC: the runner may know zones that this page does not. */
function orInUtc(timezone: string, format: (timeZone: string) => Intl.DateTimeFormat): Intl.DateTimeFormat {
  try {
    return format(timezone)
  } catch {
    return format('UTC')
  }
}

/** The date in a zone, to compare with others. */
export function dateIn(timezone: string, at: number): string {
  const format = (timeZone: string) => new Intl.DateTimeFormat('en', { year: 'numeric', month: 'numeric', day: 'numeric', timeZone })
  return cachedFormat(`date in ${timezone}`, () => orInUtc(timezone, format)).format(at)
}

/** The time of day. */
export function timeOfDay(at: number, locale: string): string {
  return cachedFormat(
    `time of day ${locale}`,
    () => new Intl.DateTimeFormat(locale, { hour: hourStyle(locale), minute: '2-digit' }),
  ).format(at)
}

/** The names of all zones, always with the machine's own. */
export function allTimezones(): string[] {
  return [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ownTimezone()])].sort()
}

const MINUTE_MS = 60_000

/**
 * When the next day begins in a zone. Days are 23 to 25 hours long, and some begin at one o'clock, so this finds the first
 * minute with another date by bisection.
 */
export function nextDayIn(timezone: string, now: number): number {
  const dateOf = (at: number) => dateIn(timezone, at)
  const today = dateOf(now)
  let before = Math.floor(now / MINUTE_MS)
  let after = before + 26 * 60
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (dateOf(middle * MINUTE_MS) === today) before = middle
    else after = middle
  }
  return after * MINUTE_MS
}
