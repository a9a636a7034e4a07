import type { Db } from '../../base/db/database.ts'
import type { JobStatus } from '../../contract/jobs.ts'
import type { Occurrence, OccurrenceState, Schedule, ScheduleLastStatus } from '../../contract/schedules.ts'
import type { NotifyVia } from '../../contract/triggers.ts'
import { isTimezone, localDayStart } from '../../kit/zone-offsets.ts'
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
  last_run_id: string | null
  watch_state: string | null
  watch_brings: string | null
  created_at: number
  updated_at: number
}

export type OccurrenceRow = {
  schedule_id: string
  due_at: number
  origin: Occurrence['origin']
  id: string
  state: OccurrenceState
  reason: string
  times: number
  until_at: number | null
  noted_at: number
  decided_at: number | null
}

/** An occurrence with what is known of its job. */
type JoinedRow = OccurrenceRow & { job_id: string | null; job_status: JobStatus | null; quiet: number | null; cost_micros: number | null }

/** A job that keeps the next due time of its schedule from running. */
export type LiveJob = { id: string; status: JobStatus; created_at: number }

export const SELECT_OCCURRENCE = `SELECT occurrence.*, job.id AS job_id, job.status AS job_status, job.quiet, job.cost_micros
  FROM occurrences AS occurrence LEFT JOIN agent_jobs AS job ON job.occurrence_id = occurrence.id`

/** A retry of a run counts too: whatever made it, a schedule has one job at a time. */
const LIVE_JOB = `SELECT id, status, created_at FROM agent_jobs INDEXED BY agent_jobs_open_fires
  WHERE schedule_id = ? AND status IN ('pending', 'running', 'awaiting_approval', 'awaiting_child') LIMIT 1`

/** The replies of today of a job that was made before are added one by one. Of those there is one, and perhaps a retry. */
const OWN_SPEND = `
  SELECT (SELECT ifnull(sum(cost_micros), 0) FROM agent_jobs WHERE schedule_id = ? AND created_at >= ?) + (
    SELECT ifnull(sum(step.cost_micros), 0)
    FROM (SELECT seq, finished_at FROM agent_jobs WHERE schedule_id = ? AND created_at < ? ORDER BY created_at DESC LIMIT 10) AS older
    CROSS JOIN job_steps AS step ON step.job_seq = older.seq
    WHERE (older.finished_at IS NULL OR older.finished_at >= ?) AND step.kind = 'reply' AND step.created_at >= ?
  ) AS micros`

export function findLiveJob(db: Db, scheduleId: string): LiveJob | null {
  return db.prepare<LiveJob>(LIVE_JOB).get(scheduleId) ?? null
}

export function findRow(db: Db, scheduleId: string): ScheduleRow | null {
  return db.prepare<ScheduleRow>('SELECT * FROM schedules WHERE id = ?').get(scheduleId) ?? null
}

export function findOccurrence(db: Db, occurrenceId: string): Occurrence | null {
  const row = db.prepare<JoinedRow>(`${SELECT_OCCURRENCE} WHERE occurrence.id = ?`).get(occurrenceId)
  return row === undefined ? null : occurrenceOf(row)
}

/** The due time that waits for the run before it. */
export function findWaiting(db: Db, scheduleId: string): OccurrenceRow | null {
  return db.prepare<OccurrenceRow>("SELECT * FROM occurrences WHERE schedule_id = ? AND state = 'due'").get(scheduleId) ?? null
}

export function occurrenceOf(row: JoinedRow): Occurrence {
  return {
    id: row.id,
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

/** A schedule as it is shown at `now`. */
export function scheduleOf(db: Db, row: ScheduleRow, now: number): Schedule {
  // An update of the system may have taken a time zone away: the schedule is shown all the same, to be given another one.
  const isReadable = isTimezone(row.timezone)
  const dayStart = localDayStart(now, isReadable ? row.timezone : 'UTC')
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
    lastRun: row.last_run_id === null ? null : findOccurrence(db, row.last_run_id),
    liveJobId: live?.id ?? null,
    agentSpentTodayUsd: toUsd(readAgentSpend(db, row.agent_id, dayStart)),
    spentTodayUsd: toUsd(db.prepare<{ micros: number }>(OWN_SPEND).get(row.id, dayStart, row.id, dayStart, dayStart, dayStart)!.micros),
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
