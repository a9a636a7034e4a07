import { z } from 'zod'

/** Every id on the wire is a UUID. The runner makes version 7, so ids sort by their moment of creation. */
export const Id = z.uuid()
export type Id = z.infer<typeof Id>

/** A moment: milliseconds since 1970-01-01T00:00:00Z, as far as a date reaches. Every field that holds one is named `…At`. */
export const Moment = z.number().int().nonnegative().max(8_640_000_000_000_000)

/** Money on the wire: US dollars as a number. Inside the runner money is integer micro-dollars (`…Micros`). */
export const Usd = z.number()

export const TokenCount = z.number().int().nonnegative()

/** An opaque position in a list: what a list answered as `nextCursor`. */
export const Cursor = z.string().min(1).max(200)

/** Query strings carry text; `limit=50` arrives as "50". */
export const PageQuery = z.object({
  cursor: Cursor.optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
})

export const NextCursor = z.string().nullable()

export const MAX_TASK_CHARS = 200_000

/** Names people give to things: shown as they are, so stored as they are, but never empty or endless. */
export const Name = z.string().trim().min(1).max(120)
