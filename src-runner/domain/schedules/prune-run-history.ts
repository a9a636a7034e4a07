import { and, desc, eq, gt, lt, lte, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import { occurrences, schedules } from './schedules-table.ts'

/** What the run history keeps for each schedule, whichever is less. */
export const RUN_HISTORY_KEEPS = { rows: 2000, forMs: 400 * 86_400_000 }
/** Schedules in one batch, and rows deleted for each. */
const BATCH = { schedules: 50, rows: 500 }

/**
 * Deletes old rows of the schedules after `afterSeq`, one batch at a time. Returns where the next batch starts: 0 after the
 * last schedule. `now` is the trusted clock.
 */
export function pruneRunHistory(tx: Tx, { afterSeq, now }: { afterSeq: number; now: number }): number {
  const batch = NEXT_SCHEDULES(tx).all({ afterSeq })
  for (const { seq, lastRunSeq } of batch) {
    DELETE_OLD(tx).run({ scheduleSeq: seq, lastRunSeq, before: firstKept(tx, seq, now) })
  }
  return batch.length < BATCH.schedules ? 0 : batch.at(-1)!.seq
}

/** This batch keeps all rows from this due time on. Rows ahead of the clock are not counted. */
function firstKept(db: Db, scheduleSeq: number, now: number): number {
  const oldestOfMost = OLDEST_OF_MOST(db).get({ scheduleSeq, now })
  const endOfBatch = END_OF_BATCH(db).get({ scheduleSeq })
  return Math.min(Math.max(now - RUN_HISTORY_KEEPS.forMs, oldestOfMost?.dueAt ?? 0), endOfBatch?.dueAt ?? Number.MAX_SAFE_INTEGER)
}

const NEXT_SCHEDULES = prepareOnce((db: Db) => {
  const { seq, lastRunSeq } = schedules
  return db
    .select({ seq, lastRunSeq })
    .from(schedules)
    .where(gt(seq, sql.placeholder('afterSeq')))
    .orderBy(seq)
    .limit(BATCH.schedules)
})

const { seq, scheduleSeq, dueAt } = occurrences
const isOfSchedule = eq(scheduleSeq, sql.placeholder('scheduleSeq'))

const DELETE_OLD = prepareOnce((tx: Tx) =>
  tx
    .delete(occurrences)
    .where(
      and(isOfSchedule, lt(dueAt, sql.placeholder('before')), sql`state <> 'due'`, sql`${seq} IS NOT ${sql.placeholder('lastRunSeq')}`),
    ),
)

const OLDEST_OF_MOST = prepareOnce((db: Db) =>
  db
    .select({ dueAt })
    .from(occurrences)
    .where(and(isOfSchedule, lte(dueAt, sql.placeholder('now'))))
    .orderBy(desc(dueAt))
    .limit(1)
    .offset(RUN_HISTORY_KEEPS.rows - 1),
)

const END_OF_BATCH = prepareOnce((db: Db) =>
  db.select({ dueAt }).from(occurrences).where(isOfSchedule).orderBy(dueAt).limit(1).offset(BATCH.rows),
)
