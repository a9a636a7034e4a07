import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { CreateSchedule, UpdateSchedule } from '../../contract/schedules.ts'
import { AppError } from '../../kit/errors.ts'
import { nextLocalDayStart } from '../../kit/zone-offsets.ts'
import { getAgent } from '../agents/agents.ts'
import { toMicros } from '../micros.ts'
import { isBrakeOn } from '../settings/settings.ts'
import { nextFreeDueAfter } from './coming-again.ts'
import { decideSchedule, pauseWaiting } from './deciding.ts'
import { nextDueAfter, parseCron } from './due-times.ts'
import { findOverspend, resumeFromBudget, type ScheduleChange } from './exhausting.ts'
import { fireSchedules } from './firing.ts'
import { behindBrake, REASONS } from './reasons.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import { findRow, findWaiting, liveOf, readToDecide, type ScheduleRow } from './schedule-rows.ts'
import { takeBackPlan } from './turning-back.ts'

const HOUR_MS = 3_600_000

/** Throws AppError schedule_not_found. */
export function requireRow(db: Db, scheduleId: string): ScheduleRow {
  const row = findRow(db, scheduleId)
  if (row === null) throw new AppError('schedule_not_found', 'There is no such schedule.')
  return row
}

/** Answers its id. Throws AppError invalid_request (cron, timezone), agent_not_found. */
export function createSchedule(tx: Tx, { clock, ids, notify, clockSeen }: ScheduleDeps, input: CreateSchedule): string {
  const agent = getAgent(tx, input.agentId)
  requireCron(input.cron, input.timezone)
  const now = clock.now()
  clockSeen(now)
  const id = ids.next()
  tx.prepare(
    `INSERT INTO schedules (id, entity_id, agent_id, name, cron, timezone, task, daily_budget_micros, catch_up_ms, notify_on_success,
       notify_via, status, next_due_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?, ?, ?)`,
  ).run(
    id,
    agent.entityId,
    agent.id,
    input.name,
    input.cron,
    input.timezone,
    input.task,
    toMicros(input.dailyBudgetUsd),
    Math.round(input.catchUpHours * HOUR_MS),
    input.notifyOnSuccess ? 1 : 0,
    input.notifyVia,
    nextDueAfter(input.cron, input.timezone, now),
    now,
    now,
  )
  tx.emit({ type: 'schedule.created', payload: { scheduleId: id } })
  tx.afterCommit(notify.changed)
  return id
}

/**
 * What is left out stays. With another cron expression or time zone the schedule counts from now: what came due before by
 * the old one is decided by that first, and what the ledger has for later, since the clock was set back, is of no plan any
 * more. Throws AppError schedule_not_found, invalid_request, agent_not_found.
 */
export function updateSchedule(tx: Tx, deps: ScheduleDeps, scheduleId: string, input: UpdateSchedule): void {
  let row = requireRow(tx, scheduleId)
  const cron = input.cron ?? row.cron
  const timezone = input.timezone ?? row.timezone
  const agent = input.agentId === undefined ? { id: row.agent_id, entityId: row.entity_id } : getAgent(tx, input.agentId)
  const isOtherTime = cron !== row.cron || timezone !== row.timezone
  if (isOtherTime) {
    requireCron(cron, timezone)
    decideAll(tx, deps, scheduleId)
    row = requireRow(tx, scheduleId)
  }
  const now = deps.clock.now()
  if (isOtherTime) takeBackPlan(tx, row, now)
  tx.prepare(
    `UPDATE schedules SET entity_id = ?, agent_id = ?, name = ?, cron = ?, timezone = ?, task = ?, daily_budget_micros = ?, catch_up_ms = ?,
       notify_on_success = ?, notify_via = ?, watch_state = ?, watch_brings = ?, next_due_at = ?, updated_at = ? WHERE seq = ?`,
  ).run(
    agent.entityId,
    agent.id,
    input.name ?? row.name,
    cron,
    timezone,
    input.task ?? row.task,
    input.dailyBudgetUsd === undefined ? row.daily_budget_micros : toMicros(input.dailyBudgetUsd),
    input.catchUpHours === undefined ? row.catch_up_ms : Math.round(input.catchUpHours * HOUR_MS),
    input.notifyOnSuccess === undefined ? row.notify_on_success : input.notifyOnSuccess ? 1 : 0,
    input.notifyVia ?? row.notify_via,
    input.watchState === undefined ? row.watch_state : input.watchState,
    // What a person wrote is theirs; a form that sends back what was there has written nothing.
    input.watchState === undefined || input.watchState === row.watch_state ? row.watch_brings : null,
    isOtherTime ? nextFreeDueAfter(tx, { seq: row.seq, cron, timezone }, now) : row.next_due_at,
    now,
    row.seq,
  )
  tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
  tx.afterCommit(deps.notify.changed)
  reconsiderBudget(tx, deps, scheduleId)
}

/** What came due before this is decided as ever. Throws AppError schedule_not_found. */
export function pauseSchedule(tx: Tx, deps: ScheduleDeps, scheduleId: string): void {
  const { seq, status } = requireRow(tx, scheduleId)
  if (status === 'paused') return
  decideAll(tx, deps, scheduleId)
  const waiting = findWaiting(tx, seq)
  if (waiting !== null) pauseWaiting(tx, deps, waiting)
  change(tx, deps, scheduleId, { status: 'paused', resume_at: null })
}

/** What came due while it was paused is noted as that. Throws AppError schedule_not_found. */
export function resumeSchedule(tx: Tx, deps: ScheduleDeps, scheduleId: string): void {
  if (requireRow(tx, scheduleId).status !== 'paused') return
  decideAll(tx, deps, scheduleId)
  change(tx, deps, scheduleId, { status: 'active' })
}

/** Its jobs stay; one that is going goes on. Throws AppError schedule_not_found. */
export function deleteSchedule(tx: Tx, { notify }: ScheduleDeps, scheduleId: string): void {
  const { seq } = requireRow(tx, scheduleId)
  tx.prepare('DELETE FROM schedules WHERE seq = ?').run(seq)
  tx.emit({ type: 'schedule.deleted', payload: { scheduleId } })
  tx.afterCommit(notify.changed)
}

/** One run at once, whatever the budget. Throws AppError schedule_not_found, schedule_is_running. */
export function runScheduleNow(tx: Tx, deps: ScheduleDeps, scheduleId: string): { jobId: string; occurrenceSeq: number } {
  const { seq } = requireRow(tx, scheduleId)
  const schedule = readToDecide(tx, [scheduleId])[0]!
  if (liveOf(schedule) !== null) {
    throw new AppError('schedule_is_running', 'A run of this schedule is still going. Stop it first, or wait for its end.')
  }
  const dueAt = freeMomentFrom(tx, seq, deps.clock.now())
  const reason = isBrakeOn(tx) ? behindBrake(REASONS.askedFor) : REASONS.askedFor
  const run = fireSchedules(tx, deps, [{ schedule, dueAt, origin: 'run_now', state: 'ran', reason, waiting: null }])[0]!
  tx.prepare("UPDATE schedules SET last_status = 'running', last_run_seq = ? WHERE seq = ?").run(run.occurrenceSeq, seq)
  return run
}

/** A budget above what was spent lets a schedule go on at once. Otherwise it waits for the day of its time zone as that is now. */
function reconsiderBudget(tx: Tx, deps: ScheduleDeps, scheduleId: string): void {
  const row = requireRow(tx, scheduleId)
  if (row.status !== 'budget_exhausted') return
  const now = deps.clock.now()
  if (findOverspend(tx, row, deps.money.now()) === null) change(tx, deps, scheduleId, resumeFromBudget(row, tx.emit))
  else change(tx, deps, scheduleId, { resume_at: nextLocalDayStart(now, row.timezone) })
}

/** By itself this ends after one step, unless nobody looked for a long time. */
function decideAll(tx: Tx, deps: ScheduleDeps, scheduleId: string): void {
  while (decideSchedule(tx, deps, scheduleId).more);
}

function change(tx: Tx, deps: ScheduleDeps, scheduleId: string, changed: Pick<ScheduleChange, 'status' | 'resume_at'>): void {
  const after = { ...requireRow(tx, scheduleId), ...changed }
  tx.prepare('UPDATE schedules SET status = ?, resume_at = ?, updated_at = ? WHERE seq = ?').run(
    after.status,
    after.resume_at,
    deps.clock.now(),
    after.seq,
  )
  tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
  tx.afterCommit(deps.notify.changed)
}

/** Says which of the two is wrong, in words for people. */
function requireCron(cron: string, timezone: string): void {
  const parsed = parseCron(cron, timezone)
  if (parsed.ok) return
  const path = parseCron(cron, 'UTC').ok ? 'timezone' : 'cron'
  throw new AppError('invalid_request', parsed.problem, { issues: [{ path, message: parsed.problem }] })
}

/** The first moment from now on that no run has which was asked for. */
function freeMomentFrom(db: Db, scheduleSeq: number, now: number): number {
  const isTaken = db.prepare("SELECT 1 FROM occurrences WHERE schedule_seq = ? AND due_at = ? AND origin = 'run_now'")
  let at = now
  while (isTaken.get(scheduleSeq, at) !== undefined) at++
  return at
}
