import { cachedFormat } from '../../resources/locales/numbers.ts'

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['week', 604_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** "3 minutes ago", "in 2 hours"; within 45 seconds of now "now". */
export function relativeTime(at: number, now: number, locale: string): string {
  const format = cachedFormat(`relative ${locale}`, () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }))
  const distance = at - now
  if (Math.abs(distance) < 45_000) return format.format(0, 'second')
  for (const [unit, ms] of STEPS) {
    if (Math.abs(distance) >= ms) return format.format(Math.trunc(distance / ms), unit)
  }
  return format.format(Math.sign(distance), 'minute')
}

/** The full date and time with seconds, in the person's own zone. */
export function exactTime(at: number, locale: string): string {
  return cachedFormat(`exact ${locale}`, () => new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'medium' })).format(at)
}

/** "9:05 AM", or "09:05" where clocks count 24 hours. */
export function hourStyle(locale: string): 'numeric' | '2-digit' {
  const { hour12 } = cachedFormat(`hour ${locale}`, () => new Intl.DateTimeFormat(locale, { hour: 'numeric' })).resolvedOptions()
  return hour12 === true ? 'numeric' : '2-digit'
}

/** "Fri, Nov 20, 4:05 PM", in the person's own zone. */
export function dayTime(at: number, locale: string): string {
  const options = { weekday: 'short', day: 'numeric', month: 'short', hour: hourStyle(locale), minute: '2-digit' } as const
  return cachedFormat(`day and time ${locale}`, () => new Intl.DateTimeFormat(locale, options)).format(at)
}

/** "Nov 20, 2026", in the person's own zone. */
export function dayText(at: number, locale: string): string {
  return cachedFormat(`day ${locale}`, () => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })).format(at)
}

/** "0.4s", "12s", "3m 05s", "2h 07m", "4d 3h": at most seven characters. */
export function durationText(ms: number, locale: string): string {
  if (ms <= 0 || !Number.isFinite(ms)) return '0s'
  if (ms < 950) {
    const tenth = cachedFormat(
      `tenth ${locale}`,
      () => new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
    )
    return ms < 50 ? `<${tenth.format(0.1)}s` : `${tenth.format(ms / 1000)}s`
  }
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${Math.max(seconds, 1)}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, '0')}s`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours}h ${String(minutes % 60).padStart(2, '0')}m`
  return `${Math.floor(hours / 24)}d ${hours % 24}h`
}

/** The time zone of this machine. */
export function ownTimezone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** The first instant of the day that `now` is in, in the person's own zone. */
export function startOfDay(now: number): number {
  return startOfDayBefore(now, 0)
}

/** The same of the day that is so many days before. A day is not always 24 hours long. */
export function startOfDayBefore(now: number, days: number): number {
  const day = new Date(now)
  day.setDate(day.getDate() - days)
  // Last: where clocks change at midnight, some days begin at one.
  day.setHours(0, 0, 0, 0)
  return day.getTime()
}

/** The first instant of a date like "2026-11-20", in the person's own zone. null: there is no such date. */
export function startOfDate(text: string): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (parts === null) return null
  const [year, month, date] = parts.slice(1).map(Number) as [number, number, number]
  const day = new Date(year, month - 1, date)
  return day.getFullYear() === year && day.getMonth() === month - 1 && day.getDate() === date ? day.getTime() : null
}

/** The first instant of the month that `now` is in. */
export function startOfMonth(now: number): number {
  const day = new Date(now)
  // At noon, whose date no change of the clocks changes.
  day.setHours(12)
  day.setDate(1)
  return startOfDay(day.getTime())
}
