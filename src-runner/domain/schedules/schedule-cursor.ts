import { and, desc, eq, gt, isNotNull, lt, lte, sql, type SQL } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import { prepareOnce } from '../../platform/db/statements.ts'
import type { Job } from '../../contract/jobs.ts'
import type { Taint } from '../../contract/rules.ts'
import { jobs, jobTexts } from '../jobs/jobs-table.ts'
import { jobCursors, schedules } from './schedules-table.ts'

const selectRuns = (db: Db) =>
  db
    .select({
      seq: jobs.seq,
      jobId: jobs.id,
      startedAt: jobs.createdAt,
      status: jobs.status,
      noOp: jobs.noOp,
      error: jobs.error,
      result: jobTexts.result,
    })
    .from(jobs)
    .innerJoin(jobTexts, eq(jobTexts.jobSeq, jobs.seq))

/** A run that has ended, as the next one gets it. */
export type PreviousRun = NonNullable<ReturnType<ReturnType<typeof selectRuns>['get']>>

/** What a job was given from earlier runs. */
export type JobCursor = { previousJobId: string | null; state: string | null; addsTaint: readonly Taint[] }

/**
 * The run of the same schedule before this one. A retry counts as a run. A run made by a clock that was ahead has a later date,
 * and still came before this one.
 */
export function findRunBefore(db: Db, { id, scheduleId }: Pick<Job, 'id' | 'scheduleId'>): PreviousRun | null {
  const { seq, createdAt } = jobs
  const job = db.select({ seq, createdAt }).from(jobs).where(eq(jobs.id, id)).get()
  if (job === undefined || scheduleId === null) return null
  const isEarlier = and(eq(jobs.scheduleId, scheduleId), isNotNull(jobs.finishedAt), lt(seq, job.seq))
  const findNewest = (isDated: SQL) => selectRuns(db).where(and(isEarlier, isDated)).orderBy(desc(createdAt), desc(seq)).limit(1).get()
  const [before, ahead] = [findNewest(lte(createdAt, job.createdAt)), findNewest(gt(createdAt, job.createdAt))]
  return (before === undefined || (ahead !== undefined && ahead.seq > before.seq) ? ahead : before) ?? null
}

export function findRun(db: Db, jobId: string): PreviousRun | null {
  return selectRuns(db).where(eq(jobs.id, jobId)).get() ?? null
}

/** null: no agent has saved one, or the schedule was deleted. */
export function findScheduleCursor(db: Db, scheduleId: string): { state: string; addsTaint: Taint[] } | null {
  const { cursor, cursorTaints } = schedules
  const row = db.select({ cursor, cursorTaints }).from(schedules).where(eq(schedules.id, scheduleId)).get()
  return row === undefined || row.cursor === null ? null : { state: row.cursor, addsTaint: addedTaintsOf(row.cursorTaints) }
}

/** Returns false if the schedule was deleted. */
export function saveScheduleCursor(tx: Tx, scheduleId: string, state: string, addsTaint: readonly Taint[]): boolean {
  const { changes } = tx
    .update(schedules)
    .set({ cursor: state, cursorTaints: textOf(addsTaint) })
    .where(eq(schedules.id, scheduleId))
    .run()
  if (changes > 0) tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
  return changes > 0
}

const CURSOR_OF_JOB = prepareOnce((db: Db) =>
  db
    .select()
    .from(jobCursors)
    .where(eq(jobCursors.jobId, sql.placeholder('jobId'))),
)

export function findJobCursor(db: Db, jobId: string): JobCursor | null {
  const row = CURSOR_OF_JOB(db).get({ jobId })
  return row === undefined ? null : { previousJobId: row.previousJobId, state: row.cursor, addsTaint: addedTaintsOf(row.addsTaint) }
}

export function recordJobCursor(tx: Tx, jobId: string, { previousJobId, state, addsTaint }: JobCursor): void {
  tx.insert(jobCursors)
    .values({ jobId, previousJobId, cursor: state, addsTaint: textOf(addsTaint) })
    .run()
}

/** The taints that the cursor added to the job. */
export function readCursorTaints(db: Db, jobId: string): readonly Taint[] {
  return findJobCursor(db, jobId)?.addsTaint ?? []
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
