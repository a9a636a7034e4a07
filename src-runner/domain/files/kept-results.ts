import { and, eq, sql } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { KeptResult } from '../../contract/files.ts'
import type { Clock } from '../../lib/clock.ts'
import { keptResults } from './kept-results-table.ts'

/** The limit of one job. A server could fill the disk otherwise. */
const MAX_RESULTS = 200
const MAX_BYTES = 256 * 1024 * 1024

const { number, callId, tool, type, size, createdAt } = keptResults
const SHOWN = { number, callId, tool, type, size, createdAt }

export type NewKeptResult = Pick<typeof keptResults.$inferInsert, 'jobId' | 'callId' | 'tool' | 'type' | 'size' | 'mark'>

/** Returns its number. A call that runs again gets the same one for the same content. null: the job has kept too much. */
export function insertKeptResult(tx: Tx, { clock }: { clock: Clock }, given: NewKeptResult): number | null {
  const same = tx
    .select({ number })
    .from(keptResults)
    .where(and(eq(keptResults.jobId, given.jobId), eq(callId, given.callId), eq(keptResults.mark, given.mark), eq(type, given.type)))
    .get()
  if (same !== undefined) return same.number
  const next = nextNumber(tx, given)
  if (next === null) return null
  tx.insert(keptResults)
    .values({ ...given, number: next, createdAt: clock.now() })
    .run()
  return next
}

/** The number of the next result of a job. null: it has kept too much. */
export function nextNumber(db: Db, given: { jobId: string; size: number }): number | null {
  const kept = db
    .select({ count: sql<number>`count(*)`, bytes: sql<number>`coalesce(sum(${size}), 0)` })
    .from(keptResults)
    .where(eq(keptResults.jobId, given.jobId))
    .get()!
  return kept.count >= MAX_RESULTS || kept.bytes + given.size > MAX_BYTES ? null : kept.count + 1
}

/** In the order of their numbers. */
export function listKeptResults(db: Db, jobId: string): KeptResult[] {
  return db.select(SHOWN).from(keptResults).where(eq(keptResults.jobId, jobId)).orderBy(number).all()
}

export function findKeptResult(db: Db, jobId: string, wanted: number): (KeptResult & { mark: string }) | null {
  const row = db
    .select({ ...SHOWN, mark: keptResults.mark })
    .from(keptResults)
    .where(and(eq(keptResults.jobId, jobId), eq(number, wanted)))
    .get()
  return row ?? null
}
