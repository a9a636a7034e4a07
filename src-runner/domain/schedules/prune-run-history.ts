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
  for (const schedule of batch) {
    const isOld = and(eq(occurrences.scheduleSeq, schedule.seq), lt(occurrences.dueAt, firstKept(tx, schedule.seq, now)))
    tx.delete(occurrences)
      .where(and(isOld, sql`state <> 'due'`, sql`${occurrences.seq} IS NOT ${schedule.lastRunSeq}`))
      .run()
  }
  return batch.length < BATCH.schedules ? 0 : batch.at(-1)!.seq
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

/** This batch keeps all rows from this due time on. Rows ahead of the clock are not counted. */
function firstKept(db: Db, scheduleSeq: number, now: number): number {
  const { dueAt } = occurrences
  const isOf = eq(occurrences.scheduleSeq, scheduleSeq)
  const select = () => db.select({ dueAt }).from(occurrences)
  const oldestOfMost = select()
    .where(and(isOf, lte(dueAt, now)))
    .orderBy(desc(dueAt))
    .limit(1)
    .offset(RUN_HISTORY_KEEPS.rows - 1)
    .get()
  const endOfBatch = select().where(isOf).orderBy(dueAt).limit(1).offset(BATCH.rows).get()
  return Math.min(Math.max(now - RUN_HISTORY_KEEPS.forMs, oldestOfMost?.dueAt ?? 0), endOfBatch?.dueAt ?? Number.MAX_SAFE_INTEGER)
}
