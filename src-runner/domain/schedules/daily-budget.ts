import type { Db, Tx } from '../../platform/db/database.ts'
import { localDayStart, nextLocalDayStart } from '../../lib/zone-offsets.ts'
import { toUsd } from '../../lib/micros.ts'
import { readAgentSpend } from '../spend/agent-spend.ts'
import type { ScheduleDeps } from './schedule-deps.ts'
import type { ScheduleRow, ScheduleToDecide } from './schedules.sql.ts'

export type ScheduleChange = Partial<
  Pick<ScheduleRow, 'status' | 'lastStatus' | 'nextDueAt' | 'resumeAt' | 'exhaustedNotifiedAt' | 'lastRunSeq'>
>

/** What the agent spent in the schedule's local day, in micro-dollars, or null if the budget is not spent. */
export function findOverspend(
  db: Db,
  { agentId, timezone }: Pick<ScheduleRow, 'agentId' | 'timezone'>,
  budgetMicros: number,
  moneyNow: number,
): number | null {
  const spent = readSpendOfDay(db, agentId, timezone, moneyNow)
  return spent >= budgetMicros ? spent : null
}

export function readSpendOfDay(db: Db, agentId: string, timezone: string, moneyNow: number): number {
  return readAgentSpend(db, agentId, localDayStart(moneyNow, timezone), nextLocalDayStart(moneyNow, timezone))
}

/** What changes when a due time meets a spent budget. The owner is notified once a day. `isNew`: it was not spent before. */
export function decideExhausted(
  row: ScheduleToDecide,
  now: number,
  today: { startsAt: number; endsAt: number },
): { change: ScheduleChange; isNew: boolean; notifiesOwner: boolean } {
  const { resumeAt, lastStatus, exhaustedNotifiedAt: notifiedAt } = row
  const isNew = resumeAt === null || resumeAt <= now
  // A clock that was ahead may have notified the owner on a future day, which does not count for this one.
  const notifiesOwner = isNew && !(notifiedAt !== null && notifiedAt >= today.startsAt && notifiedAt < today.endsAt)
  const isUnchanged = !isNew && resumeAt === today.endsAt && lastStatus === 'budget_exhausted'
  const change: ScheduleChange = isUnchanged ? {} : { status: 'budget_exhausted', lastStatus: 'budget_exhausted', resumeAt: today.endsAt }
  return { change: notifiesOwner ? { ...change, exhaustedNotifiedAt: now } : change, isNew, notifiesOwner }
}

export function reportExhausted(
  tx: Tx,
  { hooks }: Pick<ScheduleDeps, 'hooks'>,
  row: ScheduleToDecide,
  spentMicros: number,
  resumeAt: number,
): void {
  const { id: scheduleId, agentId, name, timezone, notifyVia } = row
  const money = { dailyBudgetUsd: toUsd(row.dailyBudgetMicros), spentUsd: toUsd(spentMicros) }
  hooks.exhausted(tx, { scheduleId, agentId, name, timezone, resumeAt, notifyVia, ...money })
  tx.emit({ type: 'schedule.budget_exhausted', payload: { scheduleId, agentId, name } })
}
