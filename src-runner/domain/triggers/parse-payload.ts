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

/**
 * Parses JSON without rounding integers, because most of them are ids. Throws SyntaxError.
 *
 * Long integers are replaced in the text by strings with a random mark, which the text cannot contain. A reviver that gets the
 * text of each number takes fifty times as long.
 */
export function parsePayload(text: string): unknown {
  const spans = MANY_DIGITS.test(text) ? longIntegersOf(text) : []
  if (spans.length === 0) return JSON.parse(text)
  const mark = randomBytes(16).toString('hex')
  const parts: string[] = []
  let from = 0
  for (const { start, end } of spans) {
    parts.push(text.slice(from, start), `"${mark}${text.slice(start, end)}"`)
    from = end
  }
  return withLongIntegers(JSON.parse(parts.join('') + text.slice(from)), mark, spans.length)
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

const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

type Span = { start: number; end: number }

/** Where a JSON text has integers beyond 2 ** 53. Skips invalid JSON numbers, and a number in the place of a key. */
function longIntegersOf(text: string): Span[] {
  const spans: Span[] = []
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === MINUS || isDigit(code)) {
      const start = at++
      let isInteger = true
      for (; at < text.length && isOfNumber(text.charCodeAt(at)); at++) isInteger &&= isDigit(text.charCodeAt(at))
      if (isInteger && at - start >= 16 && isLongInteger(text, start, at)) spans.push({ start, end: at })
    } else at++
  }
  return spans
}

const LEADING_ZERO = /^-?0/
const NEXT = /[^ \t\r\n]/g

function isLongInteger(text: string, start: number, end: number): boolean {
  // All numbers of more than twenty characters are too large.
  const beginning = text.slice(start, Math.min(end, start + 20))
  if (Number.isSafeInteger(Number(beginning)) || LEADING_ZERO.test(beginning)) return false
  NEXT.lastIndex = end
  return NEXT.exec(text)?.[0] !== ':'
}

/** The index after the closing quotation mark. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    at += code === BACKSLASH ? 2 : 1
  }
  return at
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** A digit, or one of `+ - . E e`. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2b || code === MINUS || code === 0x2e || code === 0x45 || code === 0x65
}
