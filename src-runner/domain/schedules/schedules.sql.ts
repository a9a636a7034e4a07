import type { Db, Tx } from '../../platform/db/database.ts'
import type { JobStatus } from '../../contract/jobs.ts'
import type { jobs } from '../jobs/jobs-table.ts'
import { occurrences, schedules } from './schedules-table.ts'

/** Statements of due times and sums over runs, whose plans are asserted by `query-plans.test.ts`. */

export type ScheduleRow = typeof schedules.$inferSelect
export type OccurrenceRow = typeof occurrences.$inferSelect

const OPEN = "status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')"

/** `<alias>.next_due_at AS nextDueAt, …`. Money is in micro-dollars here and in dollars in the query builder, so its name differs. */
function columnsOf(alias: string, keys: readonly (keyof ScheduleRow)[]): string {
  return [...keys.map((key) => `${alias}.${schedules[key].name} AS ${key}`), `${alias}.daily_budget_micros AS dailyBudgetMicros`].join(', ')
}

const DECIDED_BY = [
  ...(['seq', 'id', 'agentId', 'name', 'cron', 'timezone', 'task', 'catchUpMs', 'notifyVia', 'status', 'lastStatus'] as const),
  ...(['nextDueAt', 'resumeAt', 'exhaustedNotifiedAt', 'createdAt'] as const),
]

/** A schedule with everything that is needed to decide its due times. */
export type ScheduleToDecide = Pick<ScheduleRow, (typeof DECIDED_BY)[number]> & {
  dailyBudgetMicros: number
  /** The status of the unfinished job. null: there is none. */
  liveStatus: JobStatus | null
  liveWorkingMs: number | null
  /** The due time that waits for that job. null: there is none. */
  waitingSeq: number | null
  waitingId: string | null
  waitingDueAt: number | null
  waitingNotedAt: number | null
  /** 1: the run history has later due times, because the clock was set back. */
  isAhead: 0 | 1
  /** When the last run was due. null: there was none. */
  previousAt: number | null
  previousStatus: JobStatus | null
  previousResult: string | null
}

const TO_DECIDE = `
  SELECT ${columnsOf('schedule', DECIDED_BY)}, live.status AS liveStatus, live.working_ms AS liveWorkingMs,
    waiting.seq AS waitingSeq, waiting.id AS waitingId, waiting.due_at AS waitingDueAt, waiting.noted_at AS waitingNotedAt,
    EXISTS (SELECT 1 FROM occurrences AS ahead WHERE ahead.schedule_seq = schedule.seq AND ahead.due_at >= schedule.next_due_at
      AND ahead.origin = 'clock') AS isAhead,
    previous.created_at AS previousAt, previous.status AS previousStatus, previous.result_preview AS previousResult
  FROM json_each(?) AS given CROSS JOIN schedules AS schedule ON schedule.id = given.value
    LEFT JOIN agent_jobs AS live ON live.seq =
      (SELECT open.seq FROM agent_jobs AS open INDEXED BY agent_jobs_open_runs WHERE open.schedule_id = schedule.id AND open.${OPEN} LIMIT 1)
    LEFT JOIN occurrences AS waiting INDEXED BY occurrences_one_due ON waiting.schedule_seq = schedule.seq AND waiting.state = 'due'
    LEFT JOIN occurrences AS last_run ON last_run.seq = schedule.last_run_seq
    LEFT JOIN agent_jobs AS previous ON previous.seq = last_run.job_seq`

/** The schedules that exist, in this order. For thousands, one statement is many times faster than one for each. */
export function readToDecide(db: Db, scheduleIds: readonly string[]): ScheduleToDecide[] {
  return db.prepare<ScheduleToDecide>(TO_DECIDE).all(JSON.stringify(scheduleIds))
}

/** A position in the list of due schedules. Schedules due at the same time are in the order of the table. */
export type DuePosition = { at: number; seq: number }

const DUE = `SELECT seq, id, next_due_at AS at FROM schedules INDEXED BY schedules_due
  WHERE status <> 'paused' AND next_due_at <= ? AND (next_due_at, seq) > (?, ?) ORDER BY next_due_at, seq LIMIT ?`
const PAUSED_DUE = `SELECT seq, id, next_due_at AS at FROM schedules INDEXED BY schedules_paused_due
  WHERE status = 'paused' AND next_due_at <= ? AND (next_due_at, seq) > (?, ?) ORDER BY next_due_at, seq LIMIT ?`

export function listDue(
  db: Db,
  which: 'running' | 'paused',
  now: number,
  after: DuePosition,
  limit: number,
): (DuePosition & { id: string })[] {
  return db.prepare<DuePosition & { id: string }>(which === 'paused' ? PAUSED_DUE : DUE).all(now, after.at, after.seq, limit)
}

const TO_RESUME = 'SELECT id FROM schedules WHERE resume_at <= ? ORDER BY resume_at LIMIT 1000'

export function listToResume(db: Db, now: number): { id: string }[] {
  return db.prepare<{ id: string }>(TO_RESUME).all(now)
}

const FREED = `SELECT schedule.id FROM occurrences AS waiting INDEXED BY occurrences_one_due
  CROSS JOIN schedules AS schedule ON schedule.seq = waiting.schedule_seq
  WHERE waiting.state = 'due'
    AND NOT EXISTS (SELECT 1 FROM agent_jobs AS job INDEXED BY agent_jobs_open_runs WHERE job.schedule_id = schedule.id AND job.${OPEN})`

/** Schedules with a due time that waited for a run that has ended. */
export function listFreed(db: Db): { id: string }[] {
  return db.prepare<{ id: string }>(FREED).all()
}

const WAITING = `SELECT schedule.id FROM occurrences AS waiting INDEXED BY occurrences_one_due
  CROSS JOIN schedules AS schedule ON schedule.seq = waiting.schedule_seq WHERE waiting.state = 'due'`

/** Schedules with a due time that waits for the run before it. A schedule has one such time at most. */
export function listWaiting(db: Db): string[] {
  return db
    .prepare<{ id: string }>(WAITING)
    .all()
    .map(({ id }) => id)
}

const NEXT_DUE = "SELECT min(next_due_at) AS at FROM schedules INDEXED BY schedules_due WHERE status <> 'paused' AND next_due_at > ?"
const NEXT_RESUME = 'SELECT min(resume_at) AS at FROM schedules INDEXED BY schedules_to_resume WHERE resume_at > ?'

/** When the next schedule is to be decided, later than `after`. It may be in the past. null: never, as things are now. */
export function findNextTime(db: Db, after: number): number | null {
  const times = [NEXT_DUE, NEXT_RESUME].flatMap((sql) => db.prepare<{ at: number | null }>(sql).get(after)!.at ?? [])
  return times.length === 0 ? null : Math.min(...times)
}

/** An unfinished job of a schedule, which keeps the next due time from running. */
export type LiveJob = Pick<typeof jobs.$inferSelect, 'status' | 'workingMs'>

const LIVE_JOB = `SELECT id, status, working_ms AS workingMs FROM agent_jobs INDEXED BY agent_jobs_open_runs
  WHERE schedule_id = ? AND ${OPEN} LIMIT 1`

/** Includes a retry of a run, because a schedule has one job at a time. */
export function findLiveJob(db: Db, scheduleId: string): (LiveJob & { id: string }) | null {
  return db.prepare<LiveJob & { id: string }>(LIVE_JOB).get(scheduleId) ?? null
}

/**
 * A job created before the day counts with its replies of that day. There is one such job, and perhaps a retry. The plus sign keeps
 * SQLite from using the index of the agent's jobs.
 */
const OWN_SPEND = `
  WITH
    live AS (SELECT seq, created_at, cost_micros FROM agent_jobs INDEXED BY agent_jobs_open_runs
      WHERE schedule_id = @scheduleId AND agent_id = @agentId AND ${OPEN}),
    ended AS (SELECT seq, created_at, cost_micros, finished_at, agent_id FROM agent_jobs WHERE schedule_id = @scheduleId AND finished_at IS NOT NULL),
    older AS (
      SELECT seq FROM live WHERE created_at < @since
      UNION ALL
      SELECT seq FROM (SELECT seq, finished_at, agent_id FROM ended WHERE created_at < @since ORDER BY created_at DESC LIMIT 10) AS newest
        WHERE finished_at >= @since AND agent_id = @agentId)
  SELECT (SELECT ifnull(sum(cost_micros), 0) FROM live WHERE created_at >= @since AND created_at < @until)
    + (SELECT ifnull(sum(cost_micros), 0) FROM ended WHERE created_at >= @since AND created_at < @until AND +agent_id = @agentId)
    + (SELECT ifnull(sum(step.cost_micros), 0) FROM older CROSS JOIN job_steps AS step ON step.job_seq = older.seq
      WHERE step.kind = 'reply' AND step.created_at >= @since AND step.created_at < @until) AS micros`

/** What an agent's runs of one schedule cost from `since` on and before `until`, in micro-dollars. */
export function readOwnSpend(db: Db, of: { scheduleId: string; agentId: string; since: number; until: number }): number {
  return db.prepare<{ micros: number }>(OWN_SPEND).get(of)!.micros
}

const MOVED_BY = ['seq', 'id', 'agentId', 'cron', 'timezone', 'nextDueAt', 'resumeAt'] as const

/** A schedule after the clock was set back, with its newest due time that has come. All null: none has come. */
export type ScheduleToMove = Pick<ScheduleRow, (typeof MOVED_BY)[number]> & {
  dailyBudgetMicros: number
  newestSeq: number | null
  newestDueAt: number | null
  newestUntilAt: number | null
  newestTimes: number | null
  /** 1: it made no job, and a clock that was ahead decided it. */
  newestIsInDoubt: 0 | 1 | null
}

const TO_MOVE = `
  SELECT ${columnsOf('moved', MOVED_BY)}, newest.seq AS newestSeq, newest.due_at AS newestDueAt, newest.until_at AS newestUntilAt,
    newest.times AS newestTimes, newest.noted_at > @now AND newest.job_seq IS NULL AND newest.state <> 'due' AS newestIsInDoubt
  FROM schedules AS moved LEFT JOIN occurrences AS newest ON newest.seq = (SELECT seq FROM occurrences
    WHERE schedule_seq = moved.seq AND origin = 'clock' AND due_at <= @now ORDER BY due_at DESC LIMIT 1)`

export function listToMove(db: Db, now: number): ScheduleToMove[] {
  return db.prepare<ScheduleToMove>(TO_MOVE).all({ now })
}

const DELETE_AHEAD = `
  DELETE FROM occurrences WHERE seq IN (
    SELECT ahead.seq FROM schedules AS moved CROSS JOIN occurrences AS ahead ON ahead.schedule_seq = moved.seq
    WHERE ahead.due_at > ? AND ahead.origin = 'clock' AND (ahead.state = 'due' OR ahead.times > 1))`

/** Deletes rows ahead of the clock that wait or are shared. Their due times are found again when they come. */
export function deleteFoundAgain(tx: Tx, now: number): void {
  tx.prepare(DELETE_AHEAD).run(now)
}

export type UpcomingRow = Pick<ScheduleRow, (typeof UPCOMING_BY)[number]> & { dailyBudgetMicros: number; agentName: string }

const UPCOMING_BY = ['seq', 'id', 'agentId', 'name', 'cron', 'timezone', 'nextDueAt'] as const
const UPCOMING = `SELECT ${columnsOf('schedule', UPCOMING_BY)}, agent.name AS agentName
  FROM schedules AS schedule INDEXED BY schedules_due JOIN agents AS agent ON agent.id = schedule.agent_id
  WHERE schedule.status <> 'paused' AND schedule.next_due_at <= ? AND (? IS NULL OR schedule.entity_id = ?)
  ORDER BY schedule.next_due_at LIMIT ?`

export function listDueUntil(db: Db, until: number, limit: number, entityId?: string): UpcomingRow[] {
  return db.prepare<UpcomingRow>(UPCOMING).all(until, entityId ?? null, entityId ?? null, limit)
}

/** As SQLite returns it: `noOp` is a number, `reason` JSON text. */
export type SumRow = Pick<OccurrenceRow, 'state' | 'times'> & {
  jobStatus: JobStatus | null
  noOp: 0 | 1 | null
  costMicros: number
  unpricedCalls: number
  lastAt: number
  reason: string
}

/**
 * A row for many due times may start before the span and reach into it. In between there are only runs that a person started. The
 * reason is that of the newest row.
 */
const SUMS = `
  SELECT occurrence.state, job.status AS jobStatus, job.no_op AS noOp, sum(occurrence.times) AS times,
    ifnull(sum(job.cost_micros + job.children_cost_micros), 0) AS costMicros, ifnull(sum(job.unpriced_calls), 0) AS unpricedCalls,
    max(ifnull(occurrence.until_at, occurrence.due_at)) AS lastAt, occurrence.reason
  FROM occurrences AS occurrence LEFT JOIN agent_jobs AS job ON job.seq = occurrence.job_seq
  WHERE occurrence.schedule_seq = @seq AND occurrence.due_at < @to AND occurrence.due_at >= ifnull(
    (SELECT iif(before.until_at >= @from, before.due_at, NULL) FROM occurrences AS before
      WHERE before.schedule_seq = @seq AND before.due_at < @from AND before.origin = 'clock' ORDER BY before.due_at DESC LIMIT 1), @from)
    AND ifnull(occurrence.until_at, occurrence.due_at) >= @from
  GROUP BY occurrence.state, job.status, job.no_op`

export function sumUpRuns(db: Db, span: { seq: number; from: number; to: number }): SumRow[] {
  return db.prepare<SumRow>(SUMS).all(span)
}
