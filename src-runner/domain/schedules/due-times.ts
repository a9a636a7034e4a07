import { englishText, createMessage } from '../../lib/messages.ts'
import { WATCHER_MINUTES } from '../../contract/schedules.ts'
import { DAY_MS, isTimezone, zoneSpanAt } from '../../lib/zone-offsets.ts'
import { isNeverDue, readCron } from './cron-expression.ts'
import type { CronFields, ReadCron } from './cron-expression.ts'

/**
 * When a schedule is due. At a clock change:
 * - a time of day that does not exist is due at the first instant after the gap;
 * - a time of day that comes twice is due the first time;
 * - an interval (minute or hour written with `*` or a step) follows the wall clock: it skips what does not exist and is due in
 *   both of two equal hours.
 */

const MINUTE_MS = 60_000
const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES
/** More than the distance of any two zones, and than any clock change. */
const FAR_MS = 2 * DAY_MS
const KEPT_EXPRESSIONS = 1000

const expressions = new Map<string, ReadCron>()

/** Also rejects an expression that is never due. */
export function parseCron(cron: string, timezone: string): ReadCron {
  const read = readOnce(cron)
  if (!read.ok) return read
  if (isNeverDue(read.fields)) return { ok: false, problem: createMessage('cron_never_due') }
  if (!isTimezone(timezone)) return { ok: false, problem: createMessage('cron_bad_zone') }
  return read
}

/** The first due time after `afterMs`, or null if there is none. Throws a RangeError for what `parseCron` rejects. */
export function nextDueAfter(cron: string, timezone: string, afterMs: number): number | null {
  const fields = fieldsOf(cron)
  if (isNeverDue(fields)) return null
  let at = Math.floor(afterMs) + 1
  for (;;) {
    const span = zoneSpanAt(timezone, at)
    // An interval follows the wall clock, so it ignores the change at the start of a span.
    const change = fields.isInterval ? 0 : span.offsetMs - span.offsetBeforeMs
    const localStart = span.fromMs + span.offsetMs
    const isSkippedTimeDue = change > 0 && at === span.fromMs && nextMatch(fields, localStart - change) < localStart
    if (isSkippedTimeDue) return at
    // Times that the span repeats, up to `localStart - change`, were due the first time.
    const from = at + span.offsetMs
    const dueAt = nextMatch(fields, change < 0 ? Math.max(from, localStart - change) : from) - span.offsetMs
    if (dueAt < span.toMs) return dueAt
    // Nothing is due until long after this span, so the spans in between are skipped.
    at = Math.max(span.toMs, dueAt - FAR_MS)
  }
}

/** The next `count` due times after `afterMs`, soonest first. Fewer if there are no more. */
export function nextDueTimes(cron: string, timezone: string, afterMs: number, count: number): number[] {
  return dueTimesBetween(cron, timezone, afterMs, Infinity, count)
}

/** The first `limit` due times after `afterMs` up to and including `untilMs`. A year of minutes takes a tenth of a second. */
export function dueTimesBetween(cron: string, timezone: string, afterMs: number, untilMs: number, limit = Infinity): number[] {
  const times: number[] = []
  let at = nextDueAfter(cron, timezone, afterMs)
  while (at !== null && at <= untilMs && times.length < limit) {
    times.push(at)
    at = nextDueAfter(cron, timezone, at)
  }
  return times
}

/** Whether two due times are ever as close as a watcher's. False for what `parseCron` rejects. */
export function isWatcher(cron: string, timezone: string): boolean {
  const parsed = parseCron(cron, timezone)
  return parsed.ok && hasShortInterval(parsed.fields)
}

function hasShortInterval(fields: CronFields): boolean {
  const { minutes, hours } = fields
  const isShort = (interval: number) => interval <= WATCHER_MINUTES
  if (minutes.some((minute, i) => i > 0 && isShort(minute - minutes[i - 1]!))) return true
  // From the last minute of an hour to the first of the next, if both hours are due.
  if (!isShort(HOUR_MINUTES - minutes.at(-1)! + minutes[0]!)) return false
  if (hours.some((hour, i) => i > 0 && hour - hours[i - 1]! === 1)) return true
  return hours[0] === 0 && hours.at(-1) === 23 && hasNeighbourDays(fields)
}

/** Four years from a leap year on contain every day of the calendar. */
function hasNeighbourDays(fields: CronFields): boolean {
  const start = Date.UTC(2028, 0, 1) / DAY_MS
  for (let day = start; day < start + 1461; day++) if (matchesDay(fields, day) && matchesDay(fields, day + 1)) return true
  return false
}

/** The first minute at or after `fromLocalMs` that the fields name. Local times are written as if they were UTC. */
function nextMatch(fields: CronFields, fromLocalMs: number): number {
  const from = Math.ceil(fromLocalMs / MINUTE_MS)
  let day = Math.floor(from / DAY_MINUTES)
  let minuteOfDay = matchesDay(fields, day) ? nextTimeOfDay(fields, from - day * DAY_MINUTES) : null
  if (minuteOfDay === null) {
    day = nextDay(fields, day + 1)
    minuteOfDay = fields.hours[0]! * HOUR_MINUTES + fields.minutes[0]!
  }
  return (day * DAY_MINUTES + minuteOfDay) * MINUTE_MS
}

function nextTimeOfDay({ hours, minutes }: CronFields, from: number): number | null {
  const hour = Math.floor(from / HOUR_MINUTES)
  if (hours.includes(hour)) {
    const minute = minutes.find((candidate) => candidate >= from - hour * HOUR_MINUTES)
    if (minute !== undefined) return hour * HOUR_MINUTES + minute
  }
  const later = hours.find((candidate) => candidate > hour)
  return later === undefined ? null : later * HOUR_MINUTES + minutes[0]!
}

/** For fields that are due at some time: the next day is at most forty years ahead. */
function nextDay(fields: CronFields, from: number): number {
  let day = from
  while (!matchesDay(fields, day)) {
    const date = new Date(day * DAY_MS)
    const isMonth = fields.months.includes(date.getUTCMonth() + 1)
    day = isMonth ? day + 1 : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / DAY_MS
  }
  return day
}

function matchesDay(fields: CronFields, day: number): boolean {
  const date = new Date(day * DAY_MS)
  if (!fields.months.includes(date.getUTCMonth() + 1)) return false
  const isLast = () => new Date((day + 1) * DAY_MS).getUTCDate() === 1
  const byMonth = fields.isLastDay ? isLast() : fields.daysOfMonth.includes(date.getUTCDate())
  const byWeek = fields.daysOfWeek.includes(date.getUTCDay())
  return fields.needsBothDays ? byMonth && byWeek : byMonth || byWeek
}

function fieldsOf(cron: string): CronFields {
  const read = readOnce(cron)
  if (!read.ok) throw new RangeError(englishText(read.problem))
  return read.fields
}

/** Thousands of schedules share a few expressions. The oldest is dropped first, because reading it again takes microseconds. */
function readOnce(cron: string): ReadCron {
  const known = expressions.get(cron)
  if (known) return known
  const read = readCron(cron)
  if (expressions.size >= KEPT_EXPRESSIONS) expressions.delete(expressions.keys().next().value!)
  expressions.set(cron, read)
  return read
}
