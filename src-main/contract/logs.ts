import { z } from 'zod'

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const

export const LogLine = z.object({
  /** Unique among the lines that were read. */
  id: z.string(),
  at: z.number(),
  level: z.enum(LOG_LEVELS),
  process: z.enum(['main', 'runner']),
  message: z.string(),
  /** Its other fields as JSON; empty if there are none. */
  details: z.string(),
})
export type LogLine = z.infer<typeof LogLine>

/** `level`: this one and graver ones. `text`: in the message or the details, in any case. */
export const LogQuery = z.object({ level: z.enum(LOG_LEVELS), text: z.string().max(200) })
export type LogQuery = z.infer<typeof LogQuery>
