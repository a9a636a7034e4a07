import { z } from 'zod'
import { invalidAt } from '../lib/errors.ts'
import { createMessage } from '../lib/messages.ts'

/** A position in a list as an opaque text: the values of the last row's sort columns. */
export function encodeCursor(values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** Throws AppError('invalid_request') for a text that is not a cursor of this list. `field`: the field of the query that has it. */
export function decodeCursor<T>(cursor: string, shape: z.ZodType<T>, field = 'cursor'): T {
  try {
    const parsed = shape.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    if (parsed.success) return parsed.data
  } catch {
    // Not JSON: the same error as for any other wrong cursor.
  }
  throw invalidAt(field, createMessage('cursor_unknown'))
}

const ListPosition = z.tuple([z.string(), z.number().int().nonnegative()])

/**
 * A page of a list that is read as a whole. `keyOf` names an item. The next page starts after the last item of this one, or,
 * if that one is gone by then, at its place. Throws like `decodeCursor`.
 */
export function pageOfList<Item>(
  items: Item[],
  { cursor, limit = items.length }: { cursor?: string | undefined; limit?: number | undefined },
  keyOf: (item: Item) => string,
): { items: Item[]; nextCursor: string | null } {
  const start = cursor === undefined ? 0 : startAfter(decodeCursor(cursor, ListPosition))
  const end = start + limit
  const last = items[end - 1]
  const nextCursor = last === undefined || end >= items.length ? null : encodeCursor([keyOf(last), end - 1])
  return { items: items.slice(start, end), nextCursor }

  function startAfter([key, place]: z.infer<typeof ListPosition>): number {
    const found = items.findIndex((item) => keyOf(item) === key)
    return found === -1 ? place : found + 1
  }
}

const SeqPosition = z.tuple([z.number().int().positive()])

/** For a list ordered by seq, newest first: the seq below which the page starts. Throws like `decodeCursor`. */
export function decodeSeqCursor(cursor: string | undefined): number {
  return cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor, SeqPosition)[0]
}

/** Takes a list that was read with one row too many. Returns the page and where the next one starts. */
export function pageOf<Row>(
  rows: Row[],
  limit: number,
  positionOf: (last: Row) => readonly (string | number)[],
): { rows: Row[]; nextCursor: string | null } {
  if (rows.length <= limit) return { rows, nextCursor: null }
  const page = rows.slice(0, limit)
  return { rows: page, nextCursor: encodeCursor(positionOf(page[page.length - 1]!)) }
}
