import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import { localDayStart, nextLocalDayStart } from '../../kit/zone-offsets.ts'
import { toUsd } from '../micros.ts'
import { readAgentSpend } from '../spend/agent-spend.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import type { ScheduleRow, ScheduleToDecide } from './schedule-rows.ts'

/** What changes on a schedule by what was decided. */
export type ScheduleChange = Partial<
  Pick<ScheduleRow, 'status' | 'last_status' | 'next_due_at' | 'resume_at' | 'exhausted_told_at' | 'last_run_seq'>
>

type Budget = Pick<ScheduleRow, 'agent_id' | 'timezone' | 'daily_budget_micros'>

/** What the agent spent since the schedule's local day began when that is the whole budget or more, otherwise null. */
export function findOverspend(db: Db, row: Budget, now: number): number | null {
  return createOverspend(db, now)(row)
}

/** The same for many at one moment: they share a few agents, and a few zones in which the day began. */
export function createOverspend(db: Db, now: number): (row: Budget) => number | null {
  const known = new Map<string, number>()
  return ({ agent_id: agentId, timezone, daily_budget_micros: budget }) => {
    const key = `${agentId} ${timezone}`
    let spent = known.get(key)
    if (spent === undefined) known.set(key, (spent = readSpendOfDay(db, agentId, timezone, now)))
    return spent >= budget ? spent : null
  }
}

/** What the agent spent in the local day of `now`. */
export function readSpendOfDay(db: Db, agentId: string, timezone: string, now: number): number {
  return readAgentSpend(db, agentId, localDayStart(now, timezone), nextLocalDayStart(now, timezone))
}

/** The budget of the day is spent. The owner hears of it once a day, and not of a schedule that was in this state already. */
export function exhaust(tx: Tx, deps: Pick<ScheduleDeps, 'clock' | 'hooks'>, row: ScheduleToDecide, spentMicros: number): ScheduleChange {
  const now = deps.clock.now()
  const { id: scheduleId, agent_id: agentId, name, timezone } = row
  const resumeAt = nextLocalDayStart(now, timezone)
  const change: ScheduleChange = { status: 'budget_exhausted', last_status: 'budget_exhausted', resume_at: resumeAt }
  const isNew = !isExhausted(row, now)
  // Told on a day that is still to come: that was a clock that was ahead, and its day is not this one.
  const { exhausted_told_at: toldAt } = row
  const wasTold = toldAt !== null && toldAt >= localDayStart(now, timezone) && toldAt < resumeAt
  if (isNew && wasTold) tx.emit({ type: 'schedule.changed', payload: { scheduleId } })
  if (!isNew || wasTold) return change
  deps.hooks.exhausted(tx, {
    ...{ scheduleId, agentId, name, timezone, resumeAt, notifyVia: row.notify_via },
    dailyBudgetUsd: toUsd(row.daily_budget_micros),
    spentUsd: toUsd(spentMicros),
  })
  tx.emit({ type: 'schedule.budget_exhausted', payload: { scheduleId, agentId, name } })
  return { ...change, exhausted_told_at: now }
}

/** Whether it waits for a day that has not begun. */
export function isExhausted(row: Pick<ScheduleRow, 'resume_at'>, now: number): boolean {
  return row.resume_at !== null && row.resume_at > now
}

/** Its day has begun, or there is budget again. */
export function resumeFromBudget(tx: Tx, row: Pick<ScheduleRow, 'id'>): ScheduleChange {
  tx.emit({ type: 'schedule.changed', payload: { scheduleId: row.id } })
  return { status: 'active', resume_at: null }
}
