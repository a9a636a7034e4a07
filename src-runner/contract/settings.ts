import { z } from 'zod'
import { BudgetUsd, ModelRef } from './agents.ts'

/** Settings of the workspace, kept in the runner's database. What belongs to the machine is the desktop's. */
export const Settings = z.object({
  /** How many jobs may run at once. */
  concurrency: z.number().int().min(1).max(32),
  defaultModel: ModelRef.nullable(),
  /** While on, no job is started and every tool call asks. Only a person releases it. */
  brake: z.boolean(),
  /** What all agents together may spend in one local day. null: no cap. */
  dayBudgetUsd: BudgetUsd.nullable(),
  /** Where the first start is: it resumes there and is never shown again once `done`. */
  firstStart: z.enum(['model', 'agent', 'job', 'done']),
})
export type Settings = z.infer<typeof Settings>

export const DEFAULT_SETTINGS: Settings = { concurrency: 4, defaultModel: null, firstStart: 'model', brake: false, dayBudgetUsd: null }

export const UpdateSettings = Settings.partial()
export type UpdateSettings = z.infer<typeof UpdateSettings>
