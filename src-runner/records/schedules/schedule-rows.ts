import type { Db } from '../../base/db/database.ts'
import type { JobStatus } from '../../contract/jobs.ts'
import type { Occurrence, OccurrenceState, Schedule, ScheduleLastStatus } from '../../contract/schedules.ts'
import type { NotifyVia } from '../../contract/triggers.ts'
import { isTimezone, localDayStart, nextLocalDayStart } from '../../kit/zone-offsets.ts'
import { toUsd } from '../micros.ts'
import { readAgentSpend } from '../spend/agent-spend.ts'
import { isWatcher, nextDueAfter } from './due-times.ts'

export type ScheduleRow = {
  seq: number
  id: string
  entity_id: string
  agent_id: string
  name: string
  cron: string
  timezone: string
  task: string
  daily_budget_micros: number
  catch_up_ms: number
  notify_on_success: number
  notify_via: NotifyVia
  status: Schedule['status']
  last_status: ScheduleLastStatus | null
  next_due_at: number | null
  resume_at: number | null
  exhausted_told_at: number | null
  last_run_seq: number | null
  watch_state: string | null
  watch_brings: string | null
  created_at: number
  updated_at: number
}

export type OccurrenceRow = {
  seq: number
  schedule_seq: number
  due_at: number
  origin: Occurrence['origin']
  /** null: it has the id of its job. */
  id: string | null
  state: OccurrenceState
  reason: string
  times: number
  until_at: number | null
  noted_at: number
  decided_at: number | null
  job_seq: number | null
}

/** A schedule with all that deciding its due times asks for. */
export type ScheduleToDecide = Omit<
  ScheduleRow,
  'entity_id' | 'notify_on_success' | 'last_run_seq' | 'watch_state' | 'watch_brings' | 'updated_at'
> & {
  /** Of the job that has not ended; null: there is none. */
  live_status: JobStatus | null
  live_working_ms: number | null
  /** Of the due time that waits for that; null: there is none. */
  waiting_seq: number | null
  waiting_id: string | null
  waiting_due_at: number | null
  waiting_noted_at: number | null
  /** 1: the ledger has due times from the next one on, since the clock was set back. */
  is_ahead: number
  /** Of the run before; null: there was none. */
  previous_at: number | null
  previous_status: JobStatus | null
  previous_result: string | null
}

/** An occurrence with what is known of its job. */
type JoinedRow = OccurrenceRow & {
  schedule_id: string
  job_id: string | null
  job_status: JobStatus | null
  quiet: number | null
  cost_micros: number | null
}

/** A due time that waits has an id of its own, which its job will have. */
export type Waiting = Pick<OccurrenceRow, 'seq' | 'due_at' | 'noted_at'> & { id: string }

/** A job that keeps the next due time of its schedule from running. */
export type LiveJob = { status: JobStatus; working_ms: number }

export const SELECT_OCCURRENCE = `
  SELECT occurrence.*, schedule.id AS schedule_id, job.id AS job_id, job.status AS job_status, job.quiet, job.cost_micros
  FROM occurrences AS occurrence JOIN schedules AS schedule ON schedule.seq = occurrence.schedule_seq
    LEFT JOIN agent_jobs AS job ON job.seq = occurrence.job_seq`

/** A retry of a run counts too: whatever made it, a schedule has one job at a time. */
const LIVE_JOB = `SELECT id, status, working_ms FROM agent_jobs INDEXED BY agent_jobs_open_fires
  WHERE schedule_id = ? AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child') LIMIT 1`

/** In the order in which they are wanted. */
const TO_DECIDE = `
  SELECT schedule.seq, schedule.id, schedule.agent_id, schedule.name, schedule.cron, schedule.timezone, schedule.task,
    schedule.daily_budget_micros, schedule.catch_up_ms, schedule.notify_via, schedule.status, schedule.next_due_at, schedule.resume_at,
    schedule.exhausted_told_at, schedule.created_at, schedule.last_status,
    live.status AS live_status, live.working_ms AS live_working_ms,
    waiting.seq AS waiting_seq, waiting.id AS waiting_id, waiting.due_at AS waiting_due_at, waiting.noted_at AS waiting_noted_at,
    EXISTS (SELECT 1 FROM occurrences AS ahead WHERE ahead.schedule_seq = schedule.seq AND ahead.due_at >= schedule.next_due_at
      AND ahead.origin = 'clock') AS is_ahead,
    previous.created_at AS previous_at, previous.status AS previous_status, previous.result_preview AS previous_result
  FROM json_each(?) AS wanted CROSS JOIN schedules AS schedule ON schedule.id = wanted.value
    LEFT JOIN agent_jobs AS live ON live.seq =
      (SELECT open.seq FROM agent_jobs AS open INDEXED BY agent_jobs_open_fires WHERE open.schedule_id = schedule.id
        AND open.status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child') LIMIT 1)
    LEFT JOIN occurrences AS waiting INDEXED BY occurrences_one_due ON waiting.schedule_seq = schedule.seq AND waiting.state = 'due'
    LEFT JOIN occurrences AS last_run ON last_run.seq = schedule.last_run_seq
    LEFT JOIN agent_jobs AS previous ON previous.seq = last_run.job_seq`

/** The replies of today of a job that was made before are added one by one. Of those there is one, and perhaps a retry. */
const OWN_SPEND = `
  WITH
    live AS (SELECT seq, created_at, cost_micros FROM agent_jobs INDEXED BY agent_jobs_open_fires
      WHERE schedule_id = @scheduleId AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child')),
    ended AS (SELECT seq, created_at, cost_micros, finished_at FROM agent_jobs WHERE schedule_id = @scheduleId AND finished_at IS NOT NULL),
    older AS (
      SELECT seq FROM live WHERE created_at < @since
      UNION ALL
      SELECT seq FROM (SELECT seq, finished_at FROM ended WHERE created_at < @since ORDER BY created_at DESC LIMIT 10) AS newest WHERE finished_at >= @since)
  SELECT (SELECT ifnull(sum(cost_micros), 0) FROM live WHERE created_at >= @since AND created_at < @until)
    + (SELECT ifnull(sum(cost_micros), 0) FROM ended WHERE created_at >= @since AND created_at < @until)
    + (SELECT ifnull(sum(step.cost_micros), 0) FROM older CROSS JOIN job_steps AS step ON step.job_seq = older.seq
      WHERE step.kind = 'reply' AND step.created_at >= @since AND step.created_at < @until) AS micros`

export function findLiveJob(db: Db, scheduleId: string): (LiveJob & { id: string }) | null {
  return db.prepare<LiveJob & { id: string }>(LIVE_JOB).get(scheduleId) ?? null
}

export function findRow(db: Db, scheduleId: string): ScheduleRow | null {
  return db.prepare<ScheduleRow>('SELECT * FROM schedules WHERE id = ?').get(scheduleId) ?? null
}

export function findOccurrence(db: Db, occurrenceSeq: number): Occurrence | null {
  const row = db.prepare<JoinedRow>(`${SELECT_OCCURRENCE} WHERE occurrence.seq = ?`).get(occurrenceSeq)
  return row === undefined ? null : occurrenceOf(row)
}

/** Those that are there, in this order: in one statement, which for thousands is a fraction of one for each. */
export function readToDecide(db: Db, scheduleIds: readonly string[]): ScheduleToDecide[] {
  return db.prepare<ScheduleToDecide>(TO_DECIDE).all(JSON.stringify(scheduleIds))
}

/** The due time that waits for the run before it. */
export function findWaiting(db: Db, scheduleSeq: number): Waiting | null {
  return (
    db.prepare<Waiting>("SELECT seq, id, due_at, noted_at FROM occurrences WHERE schedule_seq = ? AND state = 'due'").get(scheduleSeq) ??
    null
  )
}

export function liveOf({ live_status: status, live_working_ms: workingMs }: ScheduleToDecide): LiveJob | null {
  return status === null ? null : { status, working_ms: workingMs! }
}

export function waitingOf(row: ScheduleToDecide): Waiting | null {
  const { waiting_seq: seq, waiting_id: id, waiting_due_at: dueAt, waiting_noted_at: notedAt } = row
  return seq === null ? null : { seq, id: id!, due_at: dueAt!, noted_at: notedAt! }
}

export function occurrenceOf(row: JoinedRow): Occurrence {
  return {
    id: row.id ?? row.job_id!,
    scheduleId: row.schedule_id,
    dueAt: row.due_at,
    origin: row.origin,
    state: row.state,
    reason: row.reason,
    times: row.times,
    untilAt: row.until_at,
    jobId: row.job_id,
    jobStatus: row.job_status,
    quiet: row.quiet === 1,
    costUsd: toUsd(row.cost_micros ?? 0),
    decidedAt: row.decided_at,
  }
}

/** A schedule as it is shown at `now`. `moneyNow`: in the day whose budget counts. */
export function scheduleOf(db: Db, row: ScheduleRow, { now, moneyNow }: { now: number; moneyNow: number }): Schedule {
  // An update of the system may have taken a time zone away: the schedule is shown all the same, to be given another one.
  const isReadable = isTimezone(row.timezone)
  const zone = isReadable ? row.timezone : 'UTC'
  const day = { since: localDayStart(moneyNow, zone), until: nextLocalDayStart(moneyNow, zone) }
  const live = findLiveJob(db, row.id)
  return {
    id: row.id,
    entityId: row.entity_id,
    agentId: row.agent_id,
    agentName: db.prepare<{ name: string }>('SELECT name FROM agents WHERE id = ?').get(row.agent_id)!.name,
    name: row.name,
    cron: row.cron,
    timezone: row.timezone,
    task: row.task,
    dailyBudgetUsd: toUsd(row.daily_budget_micros),
    catchUpHours: row.catch_up_ms / 3_600_000,
    notifyOnSuccess: row.notify_on_success === 1,
    notifyVia: row.notify_via,
    status: row.status,
    lastStatus: lastStatusOf(row, live),
    nextDueAt: isReadable ? nextDueOf(row, now) : null,
    isWatcher: isWatcher(row.cron, row.timezone),
    watchState: row.watch_state,
    lastRun: row.last_run_seq === null ? null : findOccurrence(db, row.last_run_seq),
    liveJobId: live?.id ?? null,
    agentSpentTodayUsd: toUsd(readAgentSpend(db, row.agent_id, day.since, day.until)),
    spentTodayUsd: toUsd(db.prepare<{ micros: number }>(OWN_SPEND).get({ scheduleId: row.id, ...day })!.micros),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** A run that waited and goes on again tells nobody: what it does now is read from the job itself. */
function lastStatusOf(row: ScheduleRow, live: LiveJob | null): ScheduleLastStatus | null {
  const isAboutLiveJob = row.last_status === 'running' || row.last_status === 'awaiting_approval'
  if (live === null || !isAboutLiveJob) return row.last_status
  return live.status === 'awaiting_approval' ? 'awaiting_approval' : 'running'
}

/** A due time that nobody has looked at yet is not shown as one that will come. */
function nextDueOf(row: ScheduleRow, now: number): number | null {
  if (row.status === 'paused' || row.next_due_at === null) return null
  return row.next_due_at > now ? row.next_due_at : nextDueAfter(row.cron, row.timezone, now)
}
