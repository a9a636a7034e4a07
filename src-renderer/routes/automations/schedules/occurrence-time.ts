import type { Occurrence } from '../../../../src-runner/contract/schedules.ts'
import { locale } from '../../../lib/language.ts'
import { zoneTime, zoneTimes } from './zone-time.ts'

/** The due time in the schedule's time zone; for several runs, the first and the last. */
export function occurrenceTime({ dueAt, untilAt }: Occurrence, timezone: string): string {
  return untilAt === null ? zoneTime(dueAt, timezone, locale()) : zoneTimes(dueAt, untilAt, timezone, locale())
}
