import { z } from 'zod'

/**
 * Every id on the wire is a UUID, of any version and in either case. The runner makes version 7 in lower case, so ids sort by
 * their moment of creation.
 */
export const Id = z.guid().toLowerCase()
export type Id = z.infer<typeof Id>

/** Milliseconds since 1970-01-01T00:00:00Z, up to the last valid date. Fields of this type are named `…At`. */
export const Moment = z.number().int().nonnegative().max(8_640_000_000_000_000)

/** US dollars. Inside the runner, money is integer micro-dollars (`…Micros`). */
export const Usd = z.number()

export const TokenCount = z.number().int().nonnegative()

/** An opaque position in a list: the `nextCursor` of its last page. */
export const Cursor = z.string().min(1).max(200)

const Limit = z.coerce.number().int().min(1).max(200)

export const PageQuery = z.object({ cursor: Cursor.optional(), limit: Limit.default(50) })

/** For lists that are short, such as the connected accounts: without a limit, the answer is the whole list. */
export const ShortListQuery = z.object({ cursor: Cursor.optional(), limit: Limit.optional() })

export const NextCursor = z.string().nullable()

export const MAX_TASK_CHARS = 200_000

export const Name = z.string().trim().min(1).max(120)
