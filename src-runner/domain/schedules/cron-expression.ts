import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'

/** The values of the five fields of a cron expression, each ascending. */
export type CronFields = {
  minutes: readonly number[]
  hours: readonly number[]
  daysOfMonth: readonly number[]
  /** The day field is `L`: the last day of each month, and `daysOfMonth` is empty. */
  isLastDay: boolean
  /** January is 1. */
  months: readonly number[]
  /** Sunday is 0. */
  daysOfWeek: readonly number[]
  /** Whether a day must match both day fields, as in cron: if one of them starts with `*`. Otherwise one match is enough. */
  needsBothDays: boolean
  /** Minute or hour is written with `*` or a step: an interval, not a time of day. */
  isInterval: boolean
}

export type ReadCron = { ok: true; fields: CronFields } | { ok: false; problem: Message }

type Field = { name: string; min: number; max: number; names: readonly string[] }

const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59, names: [] },
  { name: 'hour', min: 0, max: 23, names: [] },
  { name: 'day', min: 1, max: 31, names: [] },
  { name: 'month', min: 1, max: 12, names: ['', ...'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')] },
  { name: 'weekday', min: 0, max: 7, names: 'SUN MON TUE WED THU FRI SAT'.split(' ') },
]
const SUNDAY_AGAIN = 7

const NICKNAMES: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const LONGEST_MONTHS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

class Unreadable extends Error {
  readonly problem: Message
  constructor(problem: Message) {
    super(problem.code)
    this.problem = problem
  }
}

/** Reads five plain fields, and `L` for the last day of the month. Other extensions of some cron programs are rejected with a message that says what to write. */
export function readCron(cron: string): ReadCron {
  try {
    return { ok: true, fields: readFields(cron) }
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, problem: error.problem }
    throw error
  }
}

/** Whether no calendar has such a day, like 30 February. */
export function isNeverDue({ months, daysOfMonth, isLastDay, needsBothDays }: CronFields): boolean {
  return needsBothDays && !isLastDay && months.every((month) => daysOfMonth[0]! > LONGEST_MONTHS[month]!)
}

function readFields(cron: string): CronFields {
  const texts = cron.trim().split(/\s+/)
  if (texts[0]!.startsWith('@')) throw new Unreadable(nicknameProblem(texts[0]!))
  if (texts.length !== FIELDS.length) throw new Unreadable(countProblem(texts))
  const isLastDay = texts[2]!.toUpperCase() === 'L'
  const [minutes, hours, daysOfMonth, months, weekdays] = texts.map((text, index) =>
    index === 2 && isLastDay ? [] : readField(text, FIELDS[index]!),
  )
  return {
    minutes: minutes!,
    hours: hours!,
    daysOfMonth: daysOfMonth!,
    isLastDay,
    months: months!,
    daysOfWeek: ascending(weekdays!.map((day) => day % SUNDAY_AGAIN)),
    needsBothDays: texts[2]!.startsWith('*') || texts[4]!.startsWith('*'),
    isInterval: /[*/]/.test(texts[0]! + texts[1]!),
  }
}

function nicknameProblem(text: string): Message {
  const meant = NICKNAMES[text.toLowerCase()]
  return meant ? createMessage('cron_nickname', { text, meant }) : createMessage('cron_no_time', { text: shown(text) })
}

function countProblem(texts: readonly string[]): Message {
  if (texts.join('') === '') return createMessage('cron_empty')
  return texts.length === 6 ? createMessage('cron_six_fields') : createMessage('cron_fields', { count: texts.length })
}

function named({ name }: Field): Message {
  return createMessage('cron_field', { field: name })
}

function readField(text: string, field: Field): number[] {
  return ascending(text.split(',').flatMap((item) => readItem(item, field)))
}

function readItem(item: string, field: Field): number[] {
  if (item === '') throw new Unreadable(createMessage('cron_comma', { field: named(field) }))
  const [range, step, ...more] = item.split('/')
  const start = shown(item)
  if (more.length) throw new Unreadable(createMessage('cron_two_steps', { item: start, field: named(field) }))
  const [first, last] = readRange(range!, start, field, step !== undefined)
  const width = step === undefined ? 1 : readStep(step, start, field)
  return Array.from({ length: Math.floor((last - first) / width) + 1 }, (_, index) => first + index * width)
}

/** Errors repeat no more of a text, because it may be anything. */
const MAX_SHOWN_CHARS = 20

function shown(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…` : text
}

function readRange(range: string, item: string, field: Field, hasStep: boolean): [number, number] {
  if (range === '*') return [field.min, field.name === 'weekday' ? field.max - 1 : field.max]
  const ends = range.split('-')
  if (ends.length > 2) throw new Unreadable(createMessage('cron_no_range', { item, field: named(field) }))
  const first = readNumber(ends[0]!, item, field)
  if (ends.length === 1) {
    if (hasStep) {
      const fullRange = `${first}-${field.max}${item.slice(range.length)}`
      throw new Unreadable(createMessage('cron_step_needs_range', { range: fullRange, field: named(field) }))
    }
    return [first, first]
  }
  const last = endOfRange(readNumber(ends[1]!, item, field), first, field)
  if (first > last) throw new Unreadable(createMessage('cron_backwards', { item, field: named(field) }))
  return [first, last]
}

/** `FRI-SUN` means Friday to Sunday, although Sunday is written 0. */
function endOfRange(last: number, first: number, field: Field): number {
  return field.name === 'weekday' && last === 0 && first > 0 ? SUNDAY_AGAIN : last
}

function readNumber(text: string, item: string, field: Field): number {
  const byName = text === '' ? -1 : field.names.indexOf(text.toUpperCase())
  if (byName >= 0) return byName
  if (!/^\d{1,2}$/.test(text)) throw new Unreadable(wordProblem(text, item, field))
  const value = Number(text)
  if (value < field.min || value > field.max) {
    throw new Unreadable(createMessage('cron_outside', { value, field: named(field), min: field.min, max: field.max }))
  }
  return value
}

function wordProblem(text: string, item: string, field: Field): Message {
  if (text === '?') return createMessage('cron_question_mark', { field: named(field) })
  if (/[LW#]/i.test(text) && /^[\dLW#]+$|^[A-Z]{3}[L#]/i.test(text)) {
    return createMessage('cron_not_plain', { item, field: named(field) })
  }
  return createMessage('cron_unknown', { item, field: named(field) })
}

function readStep(text: string, item: string, field: Field): number {
  const step = /^\d{1,2}$/.test(text) ? Number(text) : 0
  if (step < 1) throw new Unreadable(createMessage('cron_step_missing', { item, field: named(field) }))
  if (step > field.max - field.min) {
    throw new Unreadable(createMessage('cron_step_too_long', { step, field: named(field), min: field.min, max: field.max }))
  }
  return step
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b)
}
