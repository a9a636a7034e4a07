import { and, eq, gte } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { Message } from '../../contract/messages.ts'
import type { CreateSchedule, UpdateSchedule } from '../../contract/schedules.ts'
import { AppError, invalidAt, required } from '../../lib/errors.ts'
import { nextLocalDayStart } from '../../lib/zone-offsets.ts'
import { getAgent } from '../agents/agents.ts'
import { toMicros } from '../../lib/micros.ts'
import { isAllPaused } from '../settings/settings.ts'
import { forgetOldPlan, nextFreeDueAfter } from './clock-changes.ts'
import { decideSchedules } from './decide-due.ts'
import { nextDueAfter, parseCron } from './due-times.ts'
import { findOverspend } from './daily-budget.ts'
import { createRunRecords } from './record-runs.ts'
import { behindPauseAll, REASONS } from './run-reasons.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import { findRow, findWaiting, liveOf } from './schedule-rows.ts'
import { occurrences, schedules } from './schedules-table.ts'
import { storeVia } from './notify-via.ts'
import { readToDecide, type ScheduleRow } from './schedules.sql.ts'

const HOUR_MS = 3_600_000

/** Throws AppError schedule_not_found. */
export function requireRow(db: Db, scheduleId: string): ScheduleRow {
  return required(findRow(db, scheduleId), 'schedule_not_found')
}

/** Returns its id. Throws AppError invalid_request (cron, timezone), agent_not_found. */
export function createSchedule(tx: Tx, { clock, ids, changed, clockSeen }: ScheduleDeps, input: CreateSchedule): string {
  const agent = getAgent(tx, input.agentId)
  requireCron(input.cron, input.timezone)
  const now = clock.now()
  clockSeen(now)
  const id = ids.next()
  const { name, cron, timezone, task, dailyBudgetUsd, notifyOnSuccess, notifyVia } = input
  tx.insert(schedules)
    .values({
      id,
      entityId: agent.entityId,
      agentId: agent.id,
      name,
      cron,
      timezone,
      task,
      dailyBudgetUsd,
      notifyOnSuccess,
      notifyVia: storeVia(notifyVia),
      catchUpMs: Math.round(input.catchUpHours * HOUR_MS),
      status: 'active',
      nextDueAt: nextDueAfter(cron, timezone, now),
      createdAt: now,
      updatedAt: now,
    })
    .run()
  tx.emit({ type: 'schedule.created', payload: { scheduleId: id } })
  tx.afterCommit(changed)
  return id
}

/**
 * Fields that are left out stay. With another cron expression or time zone the schedule starts again from now: due times that have
 * come by the old one are decided first, one that waits is skipped, and its later ones are deleted from the run history (they are there if the clock was set
 * back). Throws AppError schedule_not_found, invalid_request, agent_not_found.
 */
export function updateSchedule(tx: Tx, deps: ScheduleDeps, scheduleId: string, input: UpdateSchedule): void {
  let row = requireRow(tx, scheduleId)
  const cron = input.cron ?? row.cron
  const timezone = input.timezone ?? row.timezone
  const agent = input.agentId === undefined ? { id: row.agentId, entityId: row.entityId } : getAgent(tx, input.agentId)
  const hasOtherTimes = cron !== row.cron || timezone !== row.timezone
  if (hasOtherTimes) {
    requireCron(cron, timezone)
    decideSchedules(tx, deps, [scheduleId])
    skipWaiting(tx, deps, row.seq, 'skipped_overlap', REASONS.planChanged)
    row = requireRow(tx, scheduleId)
  }
  const now = deps.clock.now()
  if (hasOtherTimes) forgetOldPlan(tx, row.seq, now)
  const { name, task, dailyBudgetUsd, notifyOnSuccess, notifyVia, catchUpHours, scheduleCursor } = input
  // A cursor that a person wrote has no taints. A form may send back the old one, which is not written by a person.
  const isNewCursor = scheduleCursor !== undefined && scheduleCursor !== row.cursor
  tx.update(schedules)
    .set({
      name,
      cron,
      timezone,
      task,
      dailyBudgetUsd,
      notifyOnSuccess,
      ...(notifyVia === undefined ? {} : { notifyVia: storeVia(notifyVia) }),
      entityId: agent.entityId,
      agentId: agent.id,
      updatedAt: now,
      ...(catchUpHours === undefined ? {} : { catchUpMs: Math.round(catchUpHours * HOUR_MS) }),
      ...(isNewCursor ? { cursor: scheduleCursor, cursorTaints: null } : {}),
      ...(hasOtherTimes ? { nextDueAt: nextFreeDueAfter(tx, { seq: row.seq, cron, timezone }, now) } : {}),
    })
    .where(eq(schedules.seq, row.seq))
    .run()
  tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
  tx.afterCommit(deps.changed)
  reconsiderBudget(tx, deps, scheduleId)
}

/** Due times that have come are decided first. Throws AppError schedule_not_found. */
export function pauseSchedule(tx: Tx, deps: ScheduleDeps, scheduleId: string): void {
  const { seq, status } = requireRow(tx, scheduleId)
  if (status === 'paused') return
  decideSchedules(tx, deps, [scheduleId])
  skipWaiting(tx, deps, seq, 'paused', REASONS.pausedWaiting)
  change(tx, deps, scheduleId, { status: 'paused', resumeAt: null })
}

/** The due time that waits for the run before it, if there is one, will not run. */
function skipWaiting(tx: Tx, deps: ScheduleDeps, seq: number, state: 'paused' | 'skipped_overlap', reason: Message): void {
  const waiting = findWaiting(tx, seq)
  if (waiting === null) return
  const records = createRunRecords(tx, deps)
  records.decideWaiting(waiting, state, reason)
  records.write()
}

/** Due times that came meanwhile are recorded as paused. Throws AppError schedule_not_found. */
export function resumeSchedule(tx: Tx, deps: ScheduleDeps, scheduleId: string): void {
  if (requireRow(tx, scheduleId).status !== 'paused') return
  decideSchedules(tx, deps, [scheduleId])
  change(tx, deps, scheduleId, { status: 'active' })
}

/** Its jobs stay, and a running one continues. Throws AppError schedule_not_found. */
export function deleteSchedule(tx: Tx, { changed }: ScheduleDeps, scheduleId: string): void {
  const { seq, entityId } = requireRow(tx, scheduleId)
  tx.delete(schedules).where(eq(schedules.seq, seq)).run()
  tx.emit({ type: 'schedule.deleted', payload: { scheduleId, entityId } })
  tx.afterCommit(changed)
}

export function deleteSchedulesOfAgent(tx: Tx, agentId: string): void {
  tx.delete(schedules).where(eq(schedules.agentId, agentId)).run()
}

/** Starts a run at once, whatever the budget. Throws AppError schedule_not_found, schedule_is_running. */
export function runScheduleNow(tx: Tx, deps: ScheduleDeps, scheduleId: string): { jobId: string; occurrenceSeq: number } {
  const { seq } = requireRow(tx, scheduleId)
  const schedule = readToDecide(tx, [scheduleId])[0]!
  if (liveOf(schedule) !== null) {
    throw new AppError('schedule_is_running')
  }
  const dueAt = freeMomentFrom(tx, seq, deps.clock.now())
  const reason = isAllPaused(tx) ? behindPauseAll(REASONS.startedByPerson) : REASONS.startedByPerson
  const records = createRunRecords(tx, deps)
  records.addRun({ schedule, dueAt, origin: 'run_now', state: 'ran', reason, waiting: null })
  const run = records.write()[0]!
  tx.update(schedules).set({ lastStatus: 'running', lastRunSeq: run.occurrenceSeq }).where(eq(schedules.seq, seq)).run()
  return run
}

/** If the new budget is not spent, the schedule continues at once. Otherwise it waits for the next day of its present time zone. */
function reconsiderBudget(tx: Tx, deps: ScheduleDeps, scheduleId: string): void {
  const row = requireRow(tx, scheduleId)
  if (row.status !== 'budget_exhausted') return
  const now = deps.clock.now()
  if (findOverspend(tx, row, toMicros(row.dailyBudgetUsd), deps.money.now()) === null)
    change(tx, deps, scheduleId, { status: 'active', resumeAt: null })
  else change(tx, deps, scheduleId, { resumeAt: nextLocalDayStart(now, row.timezone) })
}

function change(tx: Tx, deps: ScheduleDeps, scheduleId: string, fields: Partial<Pick<ScheduleRow, 'status' | 'resumeAt'>>): void {
  tx.update(schedules)
    .set({ ...fields, updatedAt: deps.clock.now() })
    .where(eq(schedules.id, scheduleId))
    .run()
  tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
  tx.afterCommit(deps.changed)
}

/** The error names the field that is wrong. */
function requireCron(cron: string, timezone: string): void {
  const parsed = parseCron(cron, timezone)
  if (parsed.ok) return
  throw invalidAt(parseCron(cron, 'UTC').ok ? 'timezone' : 'cron', parsed.problem)
}

/** The first moment from now on at which a person has not started another run. */
function freeMomentFrom(db: Db, scheduleSeq: number, now: number): number {
  const taken = db
    .select({ at: occurrences.dueAt })
    .from(occurrences)
    .where(and(eq(occurrences.scheduleSeq, scheduleSeq), gte(occurrences.dueAt, now), eq(occurrences.origin, 'run_now')))
    .orderBy(occurrences.dueAt)
    .all()
  let at = now
  for (const run of taken) if (run.at === at) at++
  return at
}
