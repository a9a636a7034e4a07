import { QUARTER_MS } from '../spend/add-spend.sql.ts'

/** A local day or month: its name, and the quarter of an hour at which it begins. */
export type Period = { name: string; startAt: number }

const QUARTERS = { day: (26 * 3_600_000) / QUARTER_MS, month: (32 * 24 * 3_600_000) / QUARTER_MS }

/** The period that `now` is in. Found by halving: the first quarter of an hour that has the same name. */
export function periodOf(kind: 'day' | 'month', now: number, timezone: string): Period {
  const nameOf = namerFor(kind, timezone)
  const name = nameOf(now)
  const last = now - (now % QUARTER_MS)
  let within = 0
  let beyond = QUARTERS[kind]
  while (beyond - within > 1) {
    const middle = (within + beyond) >> 1
    if (nameOf(last - middle * QUARTER_MS) === name) within = middle
    else beyond = middle
  }
  return { name, startAt: last - within * QUARTER_MS }
}

const formats = new Map<string, Intl.DateTimeFormat>()

function namerFor(kind: 'day' | 'month', timezone: string): (at: number) => string {
  let format = formats.get(timezone)
  if (format === undefined) {
    // Canada writes the date as YYYY-MM-DD.
    format = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, year: 'numeric', month: '2-digit', day: '2-digit' })
    formats.set(timezone, format)
  }
  const { format: nameDay } = format
  return (at) => (kind === 'day' ? nameDay(at) : nameDay(at).slice(0, 7))
}
