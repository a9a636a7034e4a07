/** A span of time in which a zone has the same offset to UTC. */
export type ZoneSpan = {
  /** The clock change at its beginning, or a moment without one. */
  fromMs: number
  /** The first moment after it. */
  toMs: number
  /** Local time is UTC plus this. */
  offsetMs: number
  /** The offset just before `fromMs`. */
  offsetBeforeMs: number
}

type Zone = { format: Intl.DateTimeFormat; chunks: Map<number, readonly ZoneSpan[]> }

const SECOND_MS = 1000
export const DAY_MS = 86_400_000
/** Intl takes some microseconds for one moment, so the spans of this many days are cached. */
const CHUNK_MS = 32 * DAY_MS
/** A chunk includes clock changes shortly before it, because an hour that a change repeats may begin in one chunk and end in the next. */
const LOOK_BACK_MS = 2 * DAY_MS
const MAX_ZONES = 200
const MAX_CHUNKS_PER_ZONE = 300

const zones = new Map<string, Zone>()

/** Whether this machine knows `timezone` as an IANA name. An offset like `+02:00` is not one. */
export function isTimezone(timezone: string): boolean {
  if (!/^[A-Za-z]/.test(timezone)) return false
  try {
    zoneOf(timezone)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Throws RangeError for an unknown timezone. */
export function zoneSpanAt(timezone: string, ms: number): ZoneSpan {
  const zone = zoneOf(timezone)
  const index = Math.floor(ms / CHUNK_MS)
  let spans = zone.chunks.get(index)
  if (!spans) {
    if (zone.chunks.size >= MAX_CHUNKS_PER_ZONE) zone.chunks.clear()
    spans = findSpans(zone.format, index * CHUNK_MS, (index + 1) * CHUNK_MS)
    zone.chunks.set(index, spans)
  }
  return spans.find((span) => ms < span.toMs)!
}

/** The local date, YYYY-MM-DD. Throws like `zoneSpanAt`. */
export function localDate(ms: number, timezone: string): string {
  return new Date(ms + zoneSpanAt(timezone, ms).offsetMs).toISOString().slice(0, 10)
}

/**
 * The first moment of the local day of `ms`: usually midnight, the moment of a clock change that skips midnight, or the first of
 * two midnights.
 */
export function localDayStart(ms: number, timezone: string): number {
  const { offsetMs } = zoneSpanAt(timezone, ms)
  const localMidnight = Math.floor((ms + offsetMs) / DAY_MS) * DAY_MS
  let start = ms
  for (let at = ms; at > ms - LOOK_BACK_MS;) {
    const span = zoneSpanAt(timezone, at)
    const first = Math.max(span.fromMs, localMidnight - span.offsetMs)
    if (first < span.toMs && first + span.offsetMs < localMidnight + DAY_MS) start = Math.min(start, first)
    at = span.fromMs - 1
  }
  return start
}

/** The first moment of the next local day: 23, 24 or 25 hours after this one began. */
export function nextLocalDayStart(ms: number, timezone: string): number {
  return localDayStart(localDayStart(ms, timezone) + 1.25 * DAY_MS, timezone)
}

function findSpans(format: Intl.DateTimeFormat, startMs: number, endMs: number): ZoneSpan[] {
  const beginMs = startMs - LOOK_BACK_MS
  const first = offsetAt(format, beginMs)
  const spans: ZoneSpan[] = [{ fromMs: beginMs, toMs: endMs, offsetMs: first, offsetBeforeMs: first }]
  for (let at = beginMs; at < endMs; at += DAY_MS) {
    const before = spans.at(-1)!
    const offsetMs = offsetAt(format, at + DAY_MS)
    if (offsetMs === before.offsetMs) continue
    const fromMs = findChange(format, at, at + DAY_MS, before.offsetMs)
    if (fromMs >= endMs) break
    before.toMs = fromMs
    spans.push({ fromMs, toMs: endMs, offsetMs, offsetBeforeMs: before.offsetMs })
  }
  return spans.filter((span) => span.toMs > startMs)
}

/** The first whole second of (`lowMs`, `highMs`] at which the offset is no longer `offsetMs`. */
function findChange(format: Intl.DateTimeFormat, lowMs: number, highMs: number, offsetMs: number): number {
  let [low, high] = [lowMs / SECOND_MS, highMs / SECOND_MS]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(format, middle * SECOND_MS) === offsetMs) low = middle
    else high = middle
  }
  return high * SECOND_MS
}

function offsetAt(format: Intl.DateTimeFormat, ms: number): number {
  // Such as GMT-03:30, with seconds for some historical offsets.
  const name = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')!.value
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? []
  const offsetMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * SECOND_MS
  return sign === '-' ? -offsetMs : offsetMs
}

function zoneOf(timezone: string): Zone {
  let zone = zones.get(timezone)
  if (!zone) {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' })
    if (zones.size >= MAX_ZONES) zones.clear()
    zone = { format, chunks: new Map() }
    zones.set(timezone, zone)
  }
  return zone
}
