import { randomBytes } from 'node:crypto'

/** An integer that does not fit a double, by its digits. */
export class LongInteger {
  readonly #digits: string
  constructor(digits: string) {
    this.#digits = digits
  }
  toString(): string {
    return this.#digits
  }
}

/** A text without sixteen digits in a row has no integer beyond 2 ** 53. */
const MANY_DIGITS = /\d{16}/

/** A string, which is skipped, or an integer of at least sixteen digits that is neither a key nor part of a number. */
const STRING_OR_LONG = /"[^"\\]*(?:\\[^][^"\\]*)*"?|(?<![\w.+-])-?[1-9]\d{15,}(?![\w.+-]|\s*:)/g

/**
 * Parses JSON without rounding integers, because most of them are ids. Throws SyntaxError.
 *
 * Long integers are replaced in the text by strings with a random mark, which the text cannot contain. A reviver that gets the
 * text of each number takes fifty times as long.
 */
export function parsePayload(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text)
  const mark = randomBytes(16).toString('hex')
  let count = 0
  const marked = text.replace(STRING_OR_LONG, (found) => {
    if (found.startsWith('"') || Number.isSafeInteger(Number(found))) return found
    count++
    return `"${mark}${found}"`
  })
  return withLongIntegers(JSON.parse(marked), mark, count)
}

type Holder = unknown[] | Record<string, unknown>

/** Replaces every marked string by its number. Not recursive: a payload may be nested deeper than the call stack. */
function withLongIntegers(value: unknown, mark: string, count: number): unknown {
  const root = [value]
  const open: Holder[] = [root]
  for (let inner = open.pop(); inner !== undefined && count > 0; inner = open.pop()) {
    if (Array.isArray(inner)) for (let i = 0; i < inner.length; i++) visit(inner, i)
    else for (const key in inner) visit(inner, key)
  }
  return root[0]

  function visit(holder: Holder, key: string | number): void {
    const held = (holder as Record<string | number, unknown>)[key]
    if (typeof held === 'object' && held !== null) open.push(held as Holder)
    else if (typeof held === 'string' && held.startsWith(mark)) {
      replace(holder, key, new LongInteger(held.slice(mark.length)))
      count--
    }
  }
}

/** Assigning to a key named `__proto__` would set the prototype. */
function replace(holder: object, key: string | number, value: LongInteger): void {
  if (key === '__proto__') Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true })
  else (holder as Record<string | number, unknown>)[key] = value
}
