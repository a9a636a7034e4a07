import { LongInteger } from './parse-payload.ts'

type Open = { values: unknown[] | Record<string, unknown>; keys: readonly string[] | null; next: number }

/**
 * The JSON text of a value that was parsed from JSON, cut soon after `limit` characters. JSON.stringify is recursive and overflows
 * the stack on what JSON.parse accepts (`[` 100,000 times), and it cannot stop early.
 */
export function boundedJson(value: unknown, limit: number): string {
  const open: Open[] = []
  let text = begin(value, limit, open)
  for (let inner = open.at(-1); inner !== undefined && text.length <= limit; inner = open.at(-1)) {
    const { values, keys, next } = inner
    if (next === (keys ?? (values as unknown[])).length) {
      text += keys === null ? ']' : '}'
      open.pop()
      continue
    }
    if (next > 0) text += ','
    const key = keys === null ? next : keys[next]!
    if (keys !== null) text += `${quote(keys[next]!, limit)}:`
    inner.next++
    text += begin((values as Record<string | number, unknown>)[key], limit, open)
  }
  return text
}

/** A complete scalar, or the opening bracket of an object or array. */
function begin(value: unknown, limit: number, open: Open[]): string {
  if (typeof value === 'string') return quote(value, limit)
  // JSON.parse reads 1e400 as infinity, which JSON can write only as another such number.
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : value > 0 ? '1e999' : '-1e999'
  if (typeof value !== 'object' || value === null) return String(value)
  if (value instanceof LongInteger) return cut(value.toString(), limit)
  const keys = Array.isArray(value) ? null : Object.keys(value)
  open.push({ values: value as Open['values'], keys, next: 0 })
  return keys === null ? '[' : '{'
}

function quote(text: string, limit: number): string {
  return JSON.stringify(cut(text, limit))
}

function cut(text: string, limit: number): string {
  return text.length > limit ? text.slice(0, limit + 1) : text
}
