import type { Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { Clock } from '../../lib/clock.ts'
import type { JobStore } from '../jobs/job-store.ts'
import type { ScheduleRow } from './schedules.sql.ts'

/** A schedule whose daily budget is spent. */
export type ExhaustedSchedule = Pick<ScheduleRow, 'agentId' | 'name' | 'notifyVia' | 'dailyBudgetUsd' | 'timezone'> & {
  scheduleId: string
  spentUsd: number
  /** The start of its next local day. */
  resumeAt: number
}

/** What other nouns write when something happens to a schedule, in the same transaction. */
export type ScheduleHooks = {
  /** Called at most once for each local day. */
  exhausted(tx: Tx, schedule: ExhaustedSchedule): void
}

export type ScheduleDeps = Pick<Services, 'clock' | 'ids' | 'log'> & {
  /** The clock whose day a budget is for. */
  money: Pick<Clock, 'now'>
  jobs: Pick<JobStore, 'insertAll'>
  hooks: ScheduleHooks
  /** To be called after a commit that may change what is to be decided next. */
  changed(): void
  /** To be called with the time at which something was decided. */
  clockSeen(now: number): void
  /** In safe mode a due time never makes a job. */
  safeMode: boolean
}
