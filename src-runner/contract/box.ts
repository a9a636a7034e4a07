import { z } from 'zod'
import { Moment } from './primitives.ts'
import { Said } from './said.ts'

/** How this machine can hold a program in that an agent runs, as it was found by trying. */
export const Box = z.object({
  kind: z.enum(['bubblewrap', 'seatbelt', 'none']),
  works: z.boolean(),
  /** Why it does not work, and what a person can do. */
  reason: z.string().nullable(),
  advice: z.string().nullable(),
  reasonSaid: Said.optional(),
  adviceSaid: Said.optional(),
  /** Whether a boxed program can have a network at all, where a rule opens it. */
  network: z.object({
    works: z.boolean(),
    reason: z.string().nullable(),
    advice: z.string().nullable(),
    reasonSaid: Said.optional(),
    adviceSaid: Said.optional(),
  }),
  checkedAt: Moment,
})
export type Box = z.infer<typeof Box>
