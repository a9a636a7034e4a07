import type { Occurrence } from '../../../../src-runner/contract/schedules.ts'
import { locale } from '../../../lib/language.ts'
import { zoneTime, zoneTimes } from './zone-time.ts'

/** The time that it was due, on the schedule's own clock; for several in a row from the first to the last. */
export function occurrenceTime({ dueAt, untilAt }: Occurrence, timezone: string): string {
  return untilAt === null ? zoneTime(dueAt, timezone, locale()) : zoneTimes(dueAt, untilAt, timezone, locale())
}
