/** Whether there can be a whole number that a double does not hold: 2 ** 53 has sixteen digits. */
const MANY_DIGITS = /\d{16}/
const WHOLE = /^-?\d+$/

/**
 * The value of a JSON text. Whole numbers are kept to the last digit, larger ones as a bigint: they are ids for the most
 * part, and one that is a little off is the id of something else. Throws SyntaxError.
 */
export function parsePayload(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text)
  try {
    return JSON.parse(text, keepWhole as (key: string, value: unknown) => unknown)
  } catch (error) {
    // Reviving calls itself for every level and runs out of stack where parsing does not.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
}

/** https://tc39.es/proposal-json-parse-with-source/ */
function keepWhole(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && WHOLE.test(source) ? BigInt(source) : value
}
