import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import { localDayStart, nextLocalDayStart } from '../../kit/zone-offsets.ts'
import { toUsd } from '../micros.ts'
import { readAgentSpend } from '../spend/agent-spend.ts'
import type { Notes } from './noting.ts'
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
function readSpendOfDay(db: Db, agentId: string, timezone: string, now: number): number {
  return readAgentSpend(db, agentId, localDayStart(now, timezone), nextLocalDayStart(now, timezone))
}

/** A local day: its first moment, and that of the next one. */
export type LocalDay = { startsAt: number; endsAt: number }

/** Thousands of schedules share a few zones. */
export function createLocalDays(now: number): (timezone: string) => LocalDay {
  const known = new Map<string, LocalDay>()
  return (timezone) => {
    let day = known.get(timezone)
    if (day === undefined) {
      known.set(timezone, (day = { startsAt: localDayStart(now, timezone), endsAt: nextLocalDayStart(now, timezone) }))
    }
    return day
  }
}

/**
 * The budget of `today` is spent. The owner hears of it once a day, and not of a schedule that was in this state already, of
 * which hardly anything changes.
 */
export function exhaust(
  tx: Tx,
  { hooks }: Pick<ScheduleDeps, 'hooks'>,
  notes: Notes,
  row: ScheduleToDecide,
  { spentMicros, now, today }: { spentMicros: number; now: number; today: LocalDay },
): ScheduleChange {
  const { id: scheduleId, agent_id: agentId, name, timezone } = row
  const resumeAt = today.endsAt
  const isNew = !isExhausted(row, now)
  const isKnown = !isNew && row.resume_at === resumeAt && row.last_status === 'budget_exhausted'
  const change: ScheduleChange = isKnown ? {} : { status: 'budget_exhausted', last_status: 'budget_exhausted', resume_at: resumeAt }
  // Told on a day that is still to come: that was a clock that was ahead, and its day is not this one.
  const { exhausted_told_at: toldAt } = row
  const wasTold = toldAt !== null && toldAt >= today.startsAt && toldAt < resumeAt
  if (isNew && wasTold) notes.tell({ type: 'schedule.changed', payload: { scheduleId } })
  if (!isNew || wasTold) return change
  // What is told by others comes behind what happened before it.
  notes.write()
  hooks.exhausted(tx, {
    ...{ scheduleId, agentId, name, timezone, resumeAt, notifyVia: row.notify_via },
    dailyBudgetUsd: toUsd(row.daily_budget_micros),
    spentUsd: toUsd(spentMicros),
  })
  notes.tell({ type: 'schedule.budget_exhausted', payload: { scheduleId, agentId, name } })
  return { ...change, exhausted_told_at: now }
}

/** Whether it waits for a day that has not begun. */
export function isExhausted(row: Pick<ScheduleRow, 'resume_at'>, now: number): boolean {
  return row.resume_at !== null && row.resume_at > now
}

/** Its day has begun, or there is budget again. */
export function resumeFromBudget({ id: scheduleId }: Pick<ScheduleRow, 'id'>, tell: Tx['emit']): ScheduleChange {
  tell({ type: 'schedule.changed', payload: { scheduleId } })
  return { status: 'active', resume_at: null }
}
