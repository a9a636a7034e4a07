import { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Occurrence, Schedule } from '../../contract/schedules.ts'
import { decodeCursor, pageOf } from '../cursors.ts'
import { occurrenceOf, scheduleOf, SELECT_OCCURRENCE, type ScheduleRow } from './schedule-rows.ts'

const ListPosition = z.tuple([z.number().int()])
const LedgerPosition = z.tuple([z.number().int(), z.string()])

/** Newest first. */
export function listSchedules(
  db: Db,
  { agentId, cursor, limit, now, moneyNow }: { agentId?: string; cursor?: string; limit: number; now: number; moneyNow: number },
): { schedules: Schedule[]; nextCursor: string | null } {
  const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : decodeCursor(cursor, ListPosition)
  const ofAgent = agentId === undefined ? '' : 'AND agent_id = ?'
  const rows = db
    .prepare<ScheduleRow>(`SELECT * FROM schedules WHERE seq < ? ${ofAgent} ORDER BY seq DESC LIMIT ?`)
    .all(before, ...(agentId === undefined ? [] : [agentId]), limit + 1)
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { schedules: page.rows.map((row) => scheduleOf(db, row, { now, moneyNow })), nextCursor: page.nextCursor }
}

/**
 * What became of the due times of one schedule, newest first. What came to nothing by a clock that was ahead is not among
 * them as long as its time is still to come.
 */
export function listOccurrences(
  db: Db,
  { scheduleSeq, cursor, limit, now }: { scheduleSeq: number; cursor?: string; limit: number; now: number },
): { occurrences: Occurrence[]; nextCursor: string | null } {
  const [at, origin] = cursor === undefined ? [Number.MAX_SAFE_INTEGER, ''] : decodeCursor(cursor, LedgerPosition)
  const rows = db
    .prepare<Parameters<typeof occurrenceOf>[0]>(
      `${SELECT_OCCURRENCE} WHERE occurrence.schedule_seq = ? AND (occurrence.due_at, occurrence.origin) < (?, ?)
         AND (occurrence.due_at <= ? OR occurrence.job_seq IS NOT NULL)
       ORDER BY occurrence.due_at DESC, occurrence.origin DESC LIMIT ?`,
    )
    .all(scheduleSeq, at, origin, now, limit + 1)
  const page = pageOf(rows, limit, (last) => [last.due_at, last.origin])
  return { occurrences: page.rows.map(occurrenceOf), nextCursor: page.nextCursor }
}
