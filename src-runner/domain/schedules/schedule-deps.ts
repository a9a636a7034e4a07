import type { Tx } from '../../platform/db/transact.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { JobStore } from '../jobs/job-store.ts'
import type { NotifyVia } from '../../contract/triggers.ts'

/** A schedule whose budget of the day is spent, as those see it who tell the owner. */
export type ExhaustedSchedule = {
  scheduleId: string
  agentId: string
  name: string
  notifyVia: NotifyVia
  dailyBudgetUsd: number
  spentUsd: number
  /** When its next local day begins. */
  resumeAt: number
  timezone: string
}

/** What other records write when something happens to a schedule: in its transaction, so that neither is ever there without the other. */
export type ScheduleHooks = {
  /** At most once for each of its local days. */
  exhausted(tx: Tx, schedule: ExhaustedSchedule): void
}

export type ScheduleDeps = {
  clock: Clock
  /** Whose day a budget is for. */
  money: Pick<Clock, 'now'>
  ids: Ids
  log: Log
  jobs: Pick<JobStore, 'insertAll'>
  hooks: ScheduleHooks
  /** To be called after a commit: there may be something else to do next, or at another time. */
  changed(): void
  /** At this moment of the clock something was computed. */
  clockSeen(now: number): void
  /** In safe mode a due time never makes a job. */
  safeMode: boolean
}
