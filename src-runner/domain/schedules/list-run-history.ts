import { and, desc, eq, isNotNull, lt, lte, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { filterBy } from '../../platform/db/statements.ts'
import type { Occurrence, Schedule } from '../../contract/schedules.ts'
import { decodeCursor, decodeSeqCursor, pageOf } from '../cursors.ts'
import { occurrenceOf, scheduleOf, selectOccurrences } from './schedule-rows.ts'
import { occurrences, schedules } from './schedules-table.ts'

const RunHistoryPosition = z.tuple([z.number().int(), z.string()])

export type ScheduleFilter = { agentId?: string; entityId?: string | undefined; cursor?: string; limit: number }

/** Newest first. */
export function listSchedules(
  db: Db,
  { agentId, entityId, cursor, limit, now, moneyNow }: ScheduleFilter & { now: number; moneyNow: number },
): { schedules: Schedule[]; nextCursor: string | null } {
  const rows = db
    .select()
    .from(schedules)
    .where(and(lt(schedules.seq, decodeSeqCursor(cursor)), filterBy(schedules.agentId, agentId), filterBy(schedules.entityId, entityId)))
    .orderBy(desc(schedules.seq))
    .limit(limit + 1)
    .all()
  const page = pageOf(rows, limit, (last) => [last.seq])
  return { schedules: page.rows.map((row) => scheduleOf(db, row, { now, moneyNow })), nextCursor: page.nextCursor }
}

/** The due times of one schedule, newest first. Future ones, decided by a clock that was ahead, are listed only if they ran. */
export function listOccurrences(
  db: Db,
  { scheduleSeq, cursor, limit, now }: { scheduleSeq: number; cursor?: string; limit: number; now: number },
): { occurrences: Occurrence[]; nextCursor: string | null } {
  const [at, lastOrigin] = cursor === undefined ? [Number.MAX_SAFE_INTEGER, ''] : decodeCursor(cursor, RunHistoryPosition)
  const { dueAt, origin, jobSeq } = occurrences
  const isBehind = sql`(${dueAt}, ${origin}) < (${at}, ${lastOrigin})`
  const rows = selectOccurrences(db)
    .where(and(eq(occurrences.scheduleSeq, scheduleSeq), isBehind, or(lte(dueAt, now), isNotNull(jobSeq))))
    .orderBy(desc(dueAt), desc(origin))
    .limit(limit + 1)
    .all()
  const page = pageOf(rows, limit, (last) => [last.dueAt, last.origin])
  return { occurrences: page.rows.map(occurrenceOf), nextCursor: page.nextCursor }
}
