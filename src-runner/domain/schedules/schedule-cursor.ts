import { eq } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import type { Tx } from '../../platform/db/transact.ts'
import type { Job, TerminalStatus } from '../../contract/jobs.ts'
import type { Taint } from '../../contract/rules.ts'
import { jobs } from '../jobs/jobs-table.ts'
import { jobCursors, schedules } from './schedules-table.ts'
import { findNewestRun, findRunRow, type RunRow } from './schedules.sql.ts'

/** A run that has ended, as the next one is told of it. */
export type PreviousRun = {
  jobId: string
  startedAt: number
  status: TerminalStatus
  quiet: boolean
  error: string | null
  result: string | null
}

/** What a job was told of the runs before it. */
export type JobCursor = { previousJobId: string | null; state: string | null; addsTaint: readonly Taint[] }

/**
 * The run of the same schedule before this one; a retry counts as a run. One made by a clock that was ahead has a later date
 * than this one, and was before it.
 */
export function findRunBefore(db: Db, { id, scheduleId }: Pick<Job, 'id' | 'scheduleId'>): PreviousRun | null {
  const { seq, createdAt } = jobs
  const job = db.select({ seq, createdAt }).from(jobs).where(eq(jobs.id, id)).get()
  if (job === undefined || scheduleId === null) return null
  const [row, ahead] = [findNewestRun(db, scheduleId, '<=', job), findNewestRun(db, scheduleId, '>', job)]
  const before = row === undefined || (ahead !== undefined && ahead.seq > row.seq) ? ahead : row
  return before === undefined ? null : runOf(before)
}

export function findRun(db: Db, jobId: string): PreviousRun | null {
  const row = findRunRow(db, jobId)
  return row === undefined ? null : runOf(row)
}

/** null: no agent has saved one, or the schedule was deleted. */
export function findScheduleCursor(db: Db, scheduleId: string): { state: string; addsTaint: Taint[] } | null {
  const { cursor, cursorTaints } = schedules
  const row = db.select({ cursor, cursorTaints }).from(schedules).where(eq(schedules.id, scheduleId)).get()
  return row === undefined || row.cursor === null ? null : { state: row.cursor, addsTaint: addedTaintsOf(row.cursorTaints) }
}

/** false: the schedule was deleted. */
export function saveScheduleCursor(tx: Tx, scheduleId: string, state: string, addsTaint: readonly Taint[]): boolean {
  const { changes } = tx
    .update(schedules)
    .set({ cursor: state, cursorTaints: textOf(addsTaint) })
    .where(eq(schedules.id, scheduleId))
    .run()
  if (changes > 0) tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
  return changes > 0
}

export function findJobCursor(db: Db, jobId: string): JobCursor | null {
  const row = db.select().from(jobCursors).where(eq(jobCursors.jobId, jobId)).get()
  return row === undefined ? null : { previousJobId: row.previousJobId, state: row.cursor, addsTaint: addedTaintsOf(row.addsTaint) }
}

export function recordJobCursor(tx: Tx, jobId: string, { previousJobId, state, addsTaint }: JobCursor): void {
  tx.insert(jobCursors)
    .values({ jobId, previousJobId, cursor: state, addsTaint: textOf(addsTaint) })
    .run()
}

/** What came into the job with what it was told. */
export function readCursorTaints(db: Db, jobId: string): readonly Taint[] {
  return findJobCursor(db, jobId)?.addsTaint ?? []
}

function runOf({ id, createdAt: startedAt, status, quiet, error, result }: RunRow): PreviousRun {
  return { jobId: id, startedAt, status, quiet: quiet === 1, error, result }
}

function addedTaintsOf(text: CursorTaints): Taint[] {
  return (text?.split(',') ?? []) as Taint[]
}

type CursorTaints = (typeof schedules.$inferSelect)['cursorTaints']

function textOf(addsTaint: readonly Taint[]): CursorTaints {
  const [isPrivate, isUntrusted] = [addsTaint.includes('private'), addsTaint.includes('untrusted')]
  if (isPrivate) return isUntrusted ? 'private,untrusted' : 'private'
  return isUntrusted ? 'untrusted' : null
}
