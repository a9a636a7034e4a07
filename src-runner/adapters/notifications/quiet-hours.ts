import type { NotificationSettings } from '../../contract/notifications.ts'
import { zoneSpanAt } from '../../lib/zone-offsets.ts'

/**
 * Whether the local time is within the quiet hours, which may span midnight. The end is not included, and two equal times mean
 * no quiet hours. Compared at each call, so clock changes need no special case.
 */
export function isQuiet(quietHours: NotificationSettings['quietHours'], now: number, timezone: string): boolean {
  if (quietHours === null) return false
  const { from, until } = quietHours
  const time = new Date(now + zoneSpanAt(timezone, now).offsetMs).toISOString().slice(11, 16)
  return from <= until ? from <= time && time < until : from <= time || time < until
}
