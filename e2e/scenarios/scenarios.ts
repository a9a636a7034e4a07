import { fillAfterACrash } from './after-a-crash.ts'
import { fillAutomations } from './automations.ts'
import { fillBusyDay } from './busy-day.ts'
import { fillCodeTasks } from './code-tasks.ts'
import { fillEmpty } from './empty.ts'
import { fillManyJobs } from './many-jobs.ts'
import { fillWaitingApprovals } from './waiting-approvals.ts'

/** What can fill a data folder. Each takes the folder and the current time. */
export const SCENARIOS = {
  empty: fillEmpty,
  'busy-day': fillBusyDay,
  'after-a-crash': fillAfterACrash,
  'many-jobs': fillManyJobs,
  'waiting-approvals': fillWaitingApprovals,
  automations: fillAutomations,
  'code-tasks': fillCodeTasks,
} satisfies Record<string, (dataDir: string, now: number) => void>

export type ScenarioName = keyof typeof SCENARIOS
