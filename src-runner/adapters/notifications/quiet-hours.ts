import type { NotificationSettings } from '../../contract/notifications.ts'
import { zoneSpanAt } from '../../lib/zone-offsets.ts'

const DAY_MS = 24 * 3_600_000

/**
 * Whether the local time is within the quiet hours, which may span midnight. The end is not included, and two equal times mean
 * no quiet hours. Compared at each call, so clock changes need no special case.
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
