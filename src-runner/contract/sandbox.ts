import { z } from 'zod'
import { Moment } from './primitives.ts'
import { Message } from './messages.ts'

/** The sandbox of this machine, as a trial found it. */
export const Sandbox = z.object({
  kind: z.enum(['bubblewrap', 'seatbelt', 'none']),
  works: z.boolean(),
  /** Why it does not work, and what to do. */
  reason: Message.nullable(),
  advice: Message.nullable(),
  /** Whether a sandboxed program can have network access if a rule allows it. */
  network: z.object({
    works: z.boolean(),
    reason: Message.nullable(),
    advice: Message.nullable(),
  }),
  checkedAt: Moment,
})
export type Sandbox = z.infer<typeof Sandbox>
