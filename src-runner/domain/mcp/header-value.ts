import { invalidAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'

/** A pasted value as a header carries it. null: it has a character that no header carries. */
export function readHeaderValue(value: string): string | null {
  const trimmed = value.trim()
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(trimmed) ? trimmed : null
}

/** They belong to the connection (RFC 9110 §7.6.1), or follow from the address and the body. */
const OF_CONNECTION = /^(connection|content-length|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i

/** Throws AppError invalid_request. Servers that were stored before this was checked keep theirs until they are edited. */
export function requireHeaderNames(names: readonly string[]): void {
  const name = names.find((one) => OF_CONNECTION.test(one))
  if (name !== undefined) throw invalidAt(`headers.${name}`, createMessage('mcp_header_of_connection', { name }))
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
