import { AppError } from '../../lib/errors.ts'
import { QUARTER_MS } from './add-spend.sql.ts'

/** Names the day (YYYY-MM-DD) that a quarter of an hour belongs to. To be asked in ascending order. */
export type DayNamer = (bucketAt: number) => string

const LONGEST_DAY_QUARTERS = (26 * 3_600_000) / QUARTER_MS

/** Throws AppError invalid_request for a time zone that does not exist. Absent: the machine's own. */
export function createDayNamer(timezone: string | undefined): DayNamer {
  const format = formatFor(timezone)
  let day = ''
  let end = 0
  return (bucketAt) => {
    if (bucketAt >= end) {
      day = format.format(bucketAt)
      end = findEndOfDay(format, day, bucketAt)
    }
    return day
  }
}

/** By halving: asking for the name of every bucket would take a hundred times as long. */
function findEndOfDay(format: Intl.DateTimeFormat, day: string, bucketAt: number): number {
  let within = 0
  let beyond = LONGEST_DAY_QUARTERS
  while (beyond - within > 1) {
    const middle = (within + beyond) >> 1
    if (format.format(bucketAt + middle * QUARTER_MS) === day) within = middle
    else beyond = middle
  }
  return bucketAt + beyond * QUARTER_MS
}

function formatFor(timezone: string | undefined): Intl.DateTimeFormat {
  try {
    // Canada writes the date as YYYY-MM-DD.
    return new Intl.DateTimeFormat('en-CA', { timeZone: timezone, year: 'numeric', month: '2-digit', day: '2-digit' })
  } catch (error) {
    throw new AppError('invalid_request', 'There is no such time zone.', {
      cause: error,
      issues: [{ path: 'timezone', message: 'not an IANA time zone, for example Europe/Berlin' }],
    })
  }
}
