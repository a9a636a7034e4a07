import type { NotificationSettings } from '../../contract/notifications.ts'
import { zoneSpanAt } from '../../kit/zone-offsets.ts'

const DAY_MS = 24 * 3_600_000

/**
 * Whether the clock on the wall is within the quiet hours; from the first minute to before the last, also over midnight.
 * Asked of the wall, and not reckoned ahead, so that a change of the clock needs no thought. Two equal times are none.
 */
export function isQuiet(quietHours: NotificationSettings['quietHours'], now: number, timezone: string): boolean {
  if (quietHours === null) return false
  const from = minutesOf(quietHours.from)
  const until = minutesOf(quietHours.until)
  const minute = Math.floor((now + zoneSpanAt(timezone, now).offsetMs) / 60_000) % (DAY_MS / 60_000)
  return from <= until ? from <= minute && minute < until : from <= minute || minute < until
}

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number)
  return hours! * 60 + minutes!
}
