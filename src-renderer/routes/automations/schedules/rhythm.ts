import { t } from '../../../lib/language.ts'
import { cachedFormat } from '../../../../resources/locales/numbers.ts'

/** The common schedules, as people think of them. Everything else is `custom`. `time` is "09:00". Day 0 is the last of the month. */
export type Rhythm =
  | { kind: 'minutes'; every: number }
  | { kind: 'hourly'; minute: number }
  | { kind: 'daily'; time: string }
  | { kind: 'weekdays'; time: string }
  | { kind: 'weekly'; weekday: number; time: string }
  | { kind: 'monthly'; day: number; time: string }
  | { kind: 'custom' }
export type RhythmKind = Rhythm['kind']

export const RHYTHM_KINDS: readonly RhythmKind[] = ['minutes', 'hourly', 'daily', 'weekdays', 'weekly', 'monthly', 'custom']
/** Divisors of an hour. Any other step would leave a shorter gap at the full hour. */
export const MINUTE_STEPS = [1, 2, 3, 5, 10, 15, 20, 30] as const

/** The cron expression of a rhythm; for a custom one, the present expression. */
export function cronOf(rhythm: Rhythm, custom: string): string {
  switch (rhythm.kind) {
    case 'minutes':
      return rhythm.every === 1 ? '* * * * *' : `*/${rhythm.every} * * * *`
    case 'hourly':
      return `${rhythm.minute} * * * *`
    case 'daily':
      return `${clock(rhythm.time)} * * *`
    case 'weekdays':
      return `${clock(rhythm.time)} * * 1-5`
    case 'weekly':
      return `${clock(rhythm.time)} * * ${rhythm.weekday}`
    case 'monthly':
      return `${clock(rhythm.time)} ${rhythm.day || 'L'} * *`
    case 'custom':
      return custom
  }
}

function clock(time: string): string {
  const [hour, minute] = time.split(':').map(Number)
  return `${minute} ${hour}`
}

const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** The rhythm of a cron expression, or a custom one. */
export function rhythmOf(cron: string): Rhythm {
  const fields = cron.trim().toLowerCase().split(/\s+/)
  if (fields.length !== 5 || fields[3] !== '*') return { kind: 'custom' }
  const [minute, hour, day, , weekday] = fields as [string, string, string, string, string]
  const step = minute === '*' ? 1 : Number(/^(?:\*|0-59)\/(\d{1,2})$/.exec(minute)?.[1])
  if (hour === '*' && day === '*' && weekday === '*') {
    if ((MINUTE_STEPS as readonly number[]).includes(step)) return { kind: 'minutes', every: step }
    const at = within(minute, 0, 59)
    return at === null ? { kind: 'custom' } : { kind: 'hourly', minute: at }
  }
  const atHour = within(hour, 0, 23)
  const atMinute = within(minute, 0, 59)
  if (atHour === null || atMinute === null) return { kind: 'custom' }
  const time = `${String(atHour).padStart(2, '0')}:${String(atMinute).padStart(2, '0')}`
  if (day === '*' && weekday === '*') return { kind: 'daily', time }
  if (day === '*' && (weekday === '1-5' || weekday === 'mon-fri')) return { kind: 'weekdays', time }
  if (day === '*') {
    const named = DAY_NAMES.indexOf(weekday)
    const at = named >= 0 ? named : within(weekday, 0, 7)
    return at === null ? { kind: 'custom' } : { kind: 'weekly', weekday: at % 7, time }
  }
  const at = day === 'l' ? 0 : within(day, 1, 31)
  return at === null || weekday !== '*' ? { kind: 'custom' } : { kind: 'monthly', day: at, time }
}

function within(text: string, min: number, max: number): number | null {
  if (!/^\d{1,2}$/.test(text)) return null
  const value = Number(text)
  return value < min || value > max ? null : value
}

/** Changes the kind of a rhythm and keeps what fits, such as the time. */
export function rhythmAs(kind: RhythmKind, last: Rhythm): Rhythm {
  const time = 'time' in last ? last.time : '09:00'
  switch (kind) {
    case 'minutes':
      return { kind, every: 15 }
    case 'hourly':
      return { kind, minute: 'time' in last ? Number(last.time.slice(3)) : 0 }
    case 'daily':
    case 'weekdays':
      return { kind, time }
    case 'weekly':
      return { kind, weekday: 1, time }
    case 'monthly':
      return { kind, day: 1, time }
    case 'custom':
      return { kind }
  }
}

/** A rhythm as a sentence, or null for a custom one. */
export function sayRhythm(rhythm: Rhythm, locale: string): string | null {
  switch (rhythm.kind) {
    case 'minutes':
      return t('automations.schedule.rhythmText.minutes', { count: rhythm.every })
    case 'hourly':
      return rhythm.minute === 0
        ? t('automations.schedule.rhythmText.onTheHour')
        : t('automations.schedule.rhythmText.hourly', { minute: String(rhythm.minute).padStart(2, '0') })
    case 'daily':
      return t('automations.schedule.rhythmText.daily', { time: clockText(rhythm.time, locale) })
    case 'weekdays':
      return t('automations.schedule.rhythmText.weekdays', { time: clockText(rhythm.time, locale) })
    case 'weekly':
      return t('automations.schedule.rhythmText.weekly', { day: weekdayName(rhythm.weekday, locale), time: clockText(rhythm.time, locale) })
    case 'monthly':
      if (rhythm.day === 0) return t('automations.schedule.rhythmText.lastDay', { time: clockText(rhythm.time, locale) })
      return t('automations.schedule.rhythmText.monthly', { day: String(rhythm.day), time: clockText(rhythm.time, locale) })
    case 'custom':
      return null
  }
}

/** Formats "09:00" for the language: "9:00 AM". */
function clockText(time: string, locale: string): string {
  return cachedFormat(`clock ${locale}`, () => new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' })).format(
    Date.parse(`2026-01-01T${time}Z`),
  )
}

/** 0 is Sunday. */
export function weekdayName(weekday: number, locale: string): string {
  return cachedFormat(`weekday ${locale}`, () => new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' })).format(
    // 2026-02-01 is a Sunday.
    Date.UTC(2026, 1, 1 + weekday),
  )
}
