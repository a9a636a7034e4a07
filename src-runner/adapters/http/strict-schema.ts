import { z } from 'zod'

type Schema = z.core.$ZodType
type Def = z.core.$ZodTypeDef & Record<string, unknown>

/** The parts of a schema type that are schemas. An unlisted type is refused, because it might contain fields. */
const PARTS: Record<string, readonly string[]> = {
  object: ['shape'],
  array: ['element'],
  record: ['valueType'],
  tuple: ['items', 'rest'],
  union: ['options'],
  pipe: ['in', 'out'],
  optional: ['innerType'],
  nullable: ['innerType'],
  default: ['innerType'],
  prefault: ['innerType'],
  readonly: ['innerType'],
  string: [],
  number: [],
  boolean: [],
  enum: [],
  literal: [],
  null: [],
  unknown: [],
  transform: [],
  never: [],
}

const known = new WeakMap<Schema, Schema>()

/** A copy of the schema that refuses unknown fields at any depth. For requests only; stored values and responses are parsed as declared. */
export function strict<S extends z.ZodType>(schema: S): S {
  return strictly(schema) as S
}

function strictly(schema: Schema): Schema {
  const made = known.get(schema)
  if (made !== undefined) return made
  const def = schema._zod.def as Def
  const parts = PARTS[def.type]
  if (parts === undefined)
    throw new Error(`a request may not hold a schema of the type ${def.type}: nobody knows whether it refuses unknown fields`)
  const changed: Def = { ...def, ...Object.fromEntries(parts.map((part) => [part, partOf(def[part])])) }
  if (def.type === 'object') changed['catchall'] = z.never()
  const copy = z.core.clone(schema, changed)
  known.set(schema, copy)
  return copy
}

function partOf(part: unknown): unknown {
  if (part === null || part === undefined) return part
  if (Array.isArray(part)) return part.map(partOf)
  if (typeof part === 'object' && '_zod' in part) return strictly(part as Schema)
  return Object.fromEntries(Object.entries(part).map(([name, schema]) => [name, strictly(schema as Schema)]))
}

/** Whether a query field accepts several values. */
export function takesSeveral(schema: Schema | undefined): boolean {
  const def = schema?._zod.def as Def | undefined
  if (def === undefined) return false
  if (def.type === 'array') return true
  return (PARTS[def.type] ?? []).some((part) => (part === 'innerType' || part === 'out') && takesSeveral(def[part] as Schema))
}
