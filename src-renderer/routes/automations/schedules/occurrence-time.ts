import type { Occurrence } from '../../../../src-runner/contract/schedules.ts'
import { locale, words } from '../../../kit/words/words.ts'
import { zoneTime } from './zone-time.ts'

/** The time that it was due, on the schedule's own clock; for several in a row from the first to the last. */
export function occurrenceTime(occurrence: Occurrence, timezone: string): string {
  const from = zoneTime(occurrence.dueAt, timezone, locale())
  if (occurrence.untilAt === null) return from
  return words().automations.schedule.until(from, zoneTime(occurrence.untilAt, timezone, locale()))
}
