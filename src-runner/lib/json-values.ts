/**
 * Objects, lists and fields in a piece of JSON, at most: signs in texts count as well. Each costs time to read, far more than its
 * bytes.
 */
export function countJsonParts(bytes: Uint8Array): number {
  let parts = 0
  for (const byte of bytes) if (byte === OBJECT || byte === LIST || byte === FIELD) parts++
  return parts
}

const [OBJECT, LIST, FIELD] = [0x7b, 0x5b, 0x3a]

/** null: the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A positive whole number, or null. */
export function positiveInteger(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null
}

/** JSON with sorted keys, for digests. It recurses: bound the depth of what comes from outside before. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, held]) => held !== undefined)
  // Not by locale, so that the order is the same everywhere.
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, held]) => `${JSON.stringify(key)}:${canonicalJson(held)}`).join(',')}}`
}
