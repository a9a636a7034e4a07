import { z } from 'zod'
import { AppError } from '../lib/errors.ts'

/** A position in a list as an opaque text: the values of the last row's sort columns. */
export function encodeCursor(values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** Throws AppError('invalid_request') for a text that no list has given out. */
export function decodeCursor<T>(cursor: string, shape: z.ZodType<T>): T {
  try {
    const parsed = shape.safeParse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')))
    if (parsed.success) return parsed.data
  } catch {
    // Not JSON: the same refusal as any other wrong cursor.
  }
  throw new AppError('invalid_request', 'The cursor is not one that this list has given out.', {
    issues: [{ path: 'cursor', message: 'unknown cursor' }],
  })
}

/** Cuts a list that was read with one row too many, and says where the next page begins. */
export function pageOf<Row>(
  rows: Row[],
  limit: number,
  positionOf: (last: Row) => readonly (string | number)[],
): { rows: Row[]; nextCursor: string | null } {
  if (rows.length <= limit) return { rows, nextCursor: null }
  const page = rows.slice(0, limit)
  return { rows: page, nextCursor: encodeCursor(positionOf(page[page.length - 1]!)) }
}
