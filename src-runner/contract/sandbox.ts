import { z } from 'zod'
import { Moment } from './primitives.ts'
import { Message } from './messages.ts'

/** How this machine can hold a program in that an agent runs, as it was found by trying. */
export const Sandbox = z.object({
  kind: z.enum(['bubblewrap', 'seatbelt', 'none']),
  works: z.boolean(),
  /** Why it does not work, and what a person can do. */
  reason: Message.nullable(),
  advice: Message.nullable(),
  /** Whether a sandboxed program can have a network at all, where a rule opens it. */
  network: z.object({
    works: z.boolean(),
    reason: Message.nullable(),
    advice: Message.nullable(),
  }),
  checkedAt: Moment,
})
export type Sandbox = z.infer<typeof Sandbox>
