import { z } from 'zod'
import { Moment, TokenCount, Usd } from './primitives.ts'

export const SpendBy = z.enum(['day', 'agent', 'model', 'channel'])
export type SpendBy = z.infer<typeof SpendBy>

export const SpendQuery = z.object({
  by: SpendBy.default('day'),
  /** Inclusive. */
  from: z.coerce.number().pipe(Moment).optional(),
  /** Exclusive. */
  to: z.coerce.number().pipe(Moment).optional(),
  /** Decides where a day begins. Default: that of the machine. */
  timezone: z.string().max(64).optional(),
})
export type SpendQuery = z.infer<typeof SpendQuery>

export const SpendRow = z.object({
  /** A day as YYYY-MM-DD, an agent's id, `providerId/model`, or a channel. */
  key: z.string(),
  label: z.string(),
  costUsd: Usd,
  inputTokens: TokenCount,
  outputTokens: TokenCount,
  cachedTokens: TokenCount,
  jobs: z.number().int(),
  /** Model calls without a known price, which `costUsd` does not include. */
  unpricedCalls: z.number().int(),
})
export type SpendRow = z.infer<typeof SpendRow>

export const Spend = z.object({ rows: z.array(SpendRow), totalUsd: Usd, unpricedCalls: z.number().int() })
export type Spend = z.infer<typeof Spend>
