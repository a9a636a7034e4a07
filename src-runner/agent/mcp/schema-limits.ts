import type { Message } from '../../contract/messages.ts'
import { isRecord } from '../../lib/json-values.ts'
import { createMessage } from '../../lib/messages.ts'
import { visibleText } from '../../lib/visible-text.ts'

/** Each turn pays for it. */
const MAX_SCHEMA_CHARS = 60_000
const MAX_DEPTH = 24
/** With every `$ref` replaced by what it names. */
const MAX_EXPANDED_NODES = 5_000

export type Schema = Record<string, unknown>
export type ReadSchema = { schema: Schema; problem: Message | null; chars: number }

const EMPTY: Schema = { type: 'object', properties: {} }

/**
 * The schema of a tool's arguments without invisible characters and without what names other documents. `problem`: why nobody can
 * use the tool; the schema is then empty. `chars`: its size, at most `mostChars`.
 */
export function readSchema(value: unknown, mostChars = MAX_SCHEMA_CHARS): ReadSchema {
  const refuse = (problem: Message): ReadSchema => ({ schema: EMPTY, problem, chars: 0 })
  if (!isRecord(value) || value['type'] !== 'object') return refuse(createMessage('mcp_schema_no_object'))
  const chars = charsOf(value, Math.min(mostChars, MAX_SCHEMA_CHARS))
  if (chars === null) return refuse(createMessage('mcp_schema_too_large'))
  const { $schema: _schema, $id: _id, ...schema } = cleaned(value) as Schema
  if (expandedNodes(schema) === null) return refuse(createMessage('mcp_schema_refs'))
  return { schema, problem: null, chars }
}

/** null: more than the limits. Without recursion, and stops there. */
function charsOf(root: unknown, mostChars: number): number | null {
  const rest: { value: unknown; depth: number }[] = [{ value: root, depth: 1 }]
  let chars = 0
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value, depth } = next
    chars += typeof value === 'string' ? value.length + 2 : 4
    if (typeof value === 'object' && value !== null) {
      for (const [key, held] of Object.entries(value)) {
        chars += key.length + 3
        if (chars > mostChars) return null
        rest.push({ value: held, depth: depth + 1 })
      }
    }
    if (depth > MAX_DEPTH || chars > mostChars) return null
  }
  return chars
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [visibleText(key), cleaned(held)]))
}

/**
 * How large the schema is with its references replaced. null: too large, or a reference leads to another document, to nothing, or
 * back to itself. So checking arguments takes no longer than their size times this.
 */
function expandedNodes(root: Schema): number | null {
  const sizes = new Map<object, number | 'open'>()
  const measure = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 1
    const known = sizes.get(value)
    if (known === 'open') return Infinity
    if (known !== undefined) return known
    sizes.set(value, 'open')
    let size = 1
    for (const [key, held] of Object.entries(value)) {
      if (/^\$(dynamic|recursive)/.test(key)) size = Infinity
      else if (key === '$ref' && typeof held === 'string') size += measure(targetOf(root, held))
      // Only what is referred to counts.
      else if (key !== '$defs' && key !== 'definitions') size += measure(held)
      if (size > MAX_EXPANDED_NODES) size = Infinity
    }
    sizes.set(value, size)
    return size
  }
  const size = measure(root)
  return size > MAX_EXPANDED_NODES ? null : size
}

const NOTHING: Schema = {}
NOTHING['$dynamicRef'] = ''

/** What a reference within the document names. Anything else becomes a schema that is refused. */
function targetOf(root: Schema, ref: string): unknown {
  if (!ref.startsWith('#/')) return NOTHING
  let at: unknown = root
  for (const part of ref.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return NOTHING
    at = (at as Schema)[key]
  }
  return at
}

/**
 * Left to the server: regular expressions can take years, and comparing all items of a list takes its square. Without names of its own,
 * a part cannot give the references in it another meaning than the one that was measured.
 */
const UNCHECKED = new Set([
  'pattern',
  'patternProperties',
  'format',
  'uniqueItems',
  'propertyNames',
  'contentSchema',
  '$id',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
])
const HOLDS_SCHEMAS = new Set(['properties', '$defs', 'definitions', 'dependentSchemas'])

/** What of a schema arguments are checked with before the server gets them. `parts`: how large it is. */
export function checkableSchema(schema: Schema): { schema: Schema; parts: number } {
  const checkable = strip(schema, false) as Schema
  return { schema: checkable, parts: expandedNodes(checkable) ?? Infinity }
}

function strip(value: unknown, holdsNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => strip(one, false))
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(([key]) => holdsNames || !UNCHECKED.has(key))
  return Object.fromEntries(
    kept.map(([key, held]) => [
      key,
      !holdsNames && /^(enum|const|default|examples)$/.test(key) ? held : strip(held, !holdsNames && HOLDS_SCHEMAS.has(key)),
    ]),
  )
}
