import { z } from 'zod'
import type { ReplyParts } from './model.ts'

const Data = z.record(z.string(), z.record(z.string(), z.unknown()))
const Recorded = z.object({
  parts: z.array(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.enum(['text', 'thinking']), chars: z.number().int().min(0), data: Data.optional() }),
      z.object({ kind: z.literal('call'), index: z.number().int().min(0), id: z.string().optional(), data: Data.optional() }),
    ]),
  ),
  data: Data.optional(),
})

/** null: nothing was recorded, or another version recorded it. */
export function readReplyParts(recorded: unknown): ReplyParts | null {
  return Recorded.safeParse(recorded).data ?? null
}
