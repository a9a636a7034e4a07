import { invalidAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'

/** A pasted value as a header carries it. null: it has a character that no header carries. */
export function readHeaderValue(value: string): string | null {
  const trimmed = value.trim()
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(trimmed) ? trimmed : null
}

/** Throws AppError invalid_request. */
export function readHeaders(given: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const read = readHeaderValue(value)
      if (read === null) throw invalidAt(`headers.${name}`, createMessage('mcp_header_value', { name }))
      return [name, read]
    }),
  )
}
