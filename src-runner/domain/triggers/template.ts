import { MAX_PLACEHOLDER_CHARS, MAX_WEBHOOK_BYTES, type TemplatePreview } from '../../contract/triggers.ts'
import { boundedJson } from './bounded-json.ts'

/** The limit of the different values in one text. Those of the largest body fit, unless they contain each other. */
export const MAX_VALUES_CHARS = MAX_WEBHOOK_BYTES
/** The limit of all repetitions in one text, so that a template that repeats a large value stays readable. */
export const MAX_REPEATED_CHARS = 200_000
const CUT_MARK = ' [cut here: the value is longer than what is shown]'
/** Shown for a value when there is no room left for any of it. */
const NO_ROOM_MARK = '[cut]'

type Placeholder = TemplatePreview['placeholders'][number]
export type RenderedTemplate = {
  text: string
  /** In order of first appearance, each path once. */
  placeholders: Placeholder[]
}

/**
 * Fills the placeholders of a template from a payload that was parsed from JSON.
 *
 * - `{dot.path}` is a placeholder: names of letters, digits, `_`, `-`, `$` and `@`, with dots between. Names are own keys
 *   of objects, or indices of arrays (`{items.0.id}`); a string has neither, so `{title.length}` is a missing path.
 * - A missing path is empty. `null`, numbers and booleans are written as in JSON, objects and arrays as JSON text.
 * - Braces around other words (`{First Name}`, `{dc:title}`) are a placeholder only if the payload has exactly that
 *   name, since forms and tables send such names; otherwise they are prose and stay as they are.
 * - Everything else is text: `{}`, `{ a }`, `{.a}`, `{...}`, `{"x": 1}`, braces around a line feed, unclosed braces.
 *   In `{{a}}` the inner pair counts, and the outer pair stays around the value. `{a..b}` is an empty name inside `a`.
 * - One pass: values are not searched for placeholders.
 * - A value is cut at MAX_PLACEHOLDER_CHARS, with a mark that says so. MAX_VALUES_CHARS and MAX_REPEATED_CHARS limit all of them.
 */
export function renderTemplate(template: string, payload: unknown): RenderedTemplate {
  const { texts, slots, paths } = compiledOf(template)
  const known: (Placeholder | null | undefined)[] = []
  const placeholders: Placeholder[] = []
  let text = texts[0]!
  let room = MAX_VALUES_CHARS
  let repeatRoom = MAX_REPEATED_CHARS
  for (const [i, slot] of slots.entries()) {
    let value = known[slot]
    let shown: string
    if (value === undefined) {
      value = known[slot] = valueOf(paths[slot]!, payload, room)
      if (value !== null) placeholders.push(value)
      shown = value?.value ?? ''
      room = Math.max(0, room - shown.length)
    } else {
      shown = value === null ? '' : fitInto(value, repeatRoom)
      repeatRoom = Math.max(0, repeatRoom - shown.length)
    }
    text += (value === null ? `{${paths[slot]!.path}}` : shown) + texts[i + 1]!
  }
  return { text, placeholders }
}

type Path = { path: string; parts: string[]; plain: boolean }
/** The text before, between and after the slots. A slot is the index of its path. */
type Compiled = { texts: string[]; slots: number[]; paths: Path[] }

const BRACES = /\{([^{}]+)\}/g
const PLAIN_PATH = /^[\p{L}\p{N}\p{M}_$@-](?:[\p{L}\p{N}\p{M}_$@.-]*[\p{L}\p{N}\p{M}_$@-])?$/u
/** One line without quotation marks that neither begins nor ends with a space or a dot. JSON and code in braces do not match. */
const WORDED_PATH = /^(?![\s.])[^"'`\r\n]{1,200}(?<![\s.])$/u

function compile(template: string): Compiled {
  const compiled: Compiled = { texts: [], slots: [], paths: [] }
  const known = new Map<string, number>()
  let textFrom = 0
  for (const match of template.matchAll(BRACES)) {
    const path = match[1]!
    const plain = PLAIN_PATH.test(path)
    if (!plain && !WORDED_PATH.test(path)) continue
    let slot = known.get(path)
    if (slot === undefined) {
      slot = compiled.paths.push({ path, parts: path.split('.'), plain }) - 1
      known.set(path, slot)
    }
    compiled.texts.push(template.slice(textFrom, match.index))
    compiled.slots.push(slot)
    textFrom = match.index + match[0].length
  }
  compiled.texts.push(template.slice(textFrom))
  return compiled
}

/** Deliveries come in bursts of the same few templates. Bounded by characters, because templates differ widely in size. */
const MAX_CACHED_CHARS = 2_000_000
const cache = new Map<string, Compiled>()
let cachedChars = 0

function compiledOf(template: string): Compiled {
  const known = cache.get(template)
  if (known !== undefined) return known
  const compiled = compile(template)
  cache.set(template, compiled)
  cachedChars += template.length
  for (const oldest of cache.keys()) {
    if (cachedChars <= MAX_CACHED_CHARS) break
    cache.delete(oldest)
    cachedChars -= oldest.length
  }
  return compiled
}

/** null: not a placeholder. A value gets at most `room` characters and a mark. */
function valueOf({ path, parts, plain }: Path, payload: unknown, room: number): Placeholder | null {
  const found = lookUp(payload, parts)
  if (found === MISSING) return plain ? { path, state: 'missing', value: '' } : null
  const limit = Math.min(MAX_PLACEHOLDER_CHARS, room)
  const text = typeof found === 'string' ? found : boundedJson(found, limit)
  if (text.length <= limit) return { path, state: 'filled', value: text.toWellFormed() }
  return { path, state: 'cut', value: cutAt(text, limit) }
}

const MISSING = Symbol('missing')
const INDEX = /^(?:0|[1-9]\d{0,6})$/

function lookUp(payload: unknown, parts: readonly string[]): unknown {
  let value = payload
  for (const part of parts) {
    if (typeof value !== 'object' || value === null) return MISSING
    // An array has its own `length`, which is not part of its JSON.
    if (Array.isArray(value) && !INDEX.test(part)) return MISSING
    if (!Object.hasOwn(value, part)) return MISSING
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

/** A repeated value may have less room than before. */
function fitInto(value: Placeholder, room: number): string {
  if (value.value.length <= room) return value.value
  value.state = 'cut'
  return cutAt(value.value, room)
}

/** `toWellFormed` repairs a surrogate pair that was cut in half. */
function cutAt(text: string, chars: number): string {
  return chars === 0 ? NO_ROOM_MARK : text.slice(0, chars).toWellFormed() + CUT_MARK
}
