import { z } from 'zod'
import { invalidAt } from '../lib/errors.ts'
import { createMessage } from '../lib/messages.ts'

/** A position in a list as an opaque text: the values of the last row's sort columns. */
export function encodeCursor(values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** Throws AppError('invalid_request') for a text that is not a cursor of this list. */
export function decodeCursor<T>(cursor: string, shape: z.ZodType<T>): T {
  try {
    const parsed = shape.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    if (parsed.success) return parsed.data
  } catch {
    // Not JSON: the same error as for any other wrong cursor.
  }
  throw invalidAt('cursor', createMessage('cursor_unknown'))
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
