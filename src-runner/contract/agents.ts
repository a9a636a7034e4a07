import { z } from 'zod'
import { Id, Moment, Name, Usd } from './primitives.ts'

/** A model of one provider. `demo` is the built-in provider that is always there. */
export const ModelRef = z.object({ providerId: z.string().min(1).max(64), model: z.string().min(1).max(200) })
export type ModelRef = z.infer<typeof ModelRef>

export const DEMO_PROVIDER_ID = 'demo'
export const DEMO_MODEL: ModelRef = { providerId: DEMO_PROVIDER_ID, model: 'demo' }

export const Autonomy = z.enum(['ask_first', 'ask_when_it_matters', 'on_its_own'])
export type Autonomy = z.infer<typeof Autonomy>

/** Limits of one job (product specification, section 4). Reaching one ends the job with a clear error code. */
export const Limits = z.object({
  maxTurns: z.number().int().min(1).max(1000),
  maxCostUsd: Usd.min(0.01).max(1000),
  /** Working time; time spent waiting for a person does not count. */
  maxWorkingMs: z
    .number()
    .int()
    .min(1000)
    .max(24 * 3_600_000),
  maxToolCalls: z.number().int().min(0).max(10_000),
})
export type Limits = z.infer<typeof Limits>

export const DEFAULT_LIMITS: Limits = { maxTurns: 50, maxCostUsd: 2, maxWorkingMs: 2 * 3_600_000, maxToolCalls: 200 }

/** A spending limit over a day or a month. */
export const BudgetUsd = Usd.min(0.01).max(100_000)

/** What an agent may spend in one local day and one local month, over all its jobs. null: no limit. */
export const AgentBudgets = z.object({ dayUsd: BudgetUsd.nullable(), monthUsd: BudgetUsd.nullable() })
export type AgentBudgets = z.infer<typeof AgentBudgets>

export const NO_BUDGETS: AgentBudgets = { dayUsd: null, monthUsd: null }

export const Folder = z.string().min(1).max(4096)

export const Agent = z.object({
  id: Id,
  entityId: Id,
  slug: z.string(),
  name: z.string(),
  /** An emoji or two letters. */
  avatar: z.string().nullable(),
  instructions: z.string(),
  /** null: the default model of the workspace. */
  model: ModelRef.nullable(),
  fallbacks: z.array(ModelRef),
  autonomy: Autonomy,
  /** Absolute paths. The agent's file tools see these folders and nothing else. */
  folders: z.array(Folder),
  limits: Limits,
  budgets: AgentBudgets,
  isDefault: z.boolean(),
  createdAt: Moment,
  updatedAt: Moment,
})
export type Agent = z.infer<typeof Agent>

/** Code points. The longest emoji is made of ten. */
export const MAX_AVATAR_CHARS = 10

const agentFields = {
  name: Name,
  avatar: z.string().max(MAX_AVATAR_CHARS).nullable().optional(),
  instructions: z.string().max(100_000).optional(),
  model: ModelRef.nullable().optional(),
  fallbacks: z.array(ModelRef).max(5).optional(),
  autonomy: Autonomy.optional(),
  folders: z.array(Folder).max(50).optional(),
  limits: Limits.partial().optional(),
  budgets: AgentBudgets.partial().optional(),
}

export const CreateAgent = z.object({ ...agentFields, entityId: Id.optional() })
export type CreateAgent = z.infer<typeof CreateAgent>

export const UpdateAgent = z.object({ ...agentFields, name: Name.optional(), isDefault: z.literal(true).optional() })
export type UpdateAgent = z.infer<typeof UpdateAgent>
