import { z } from 'zod'

type Schema = z.core.$ZodType
type Def = z.core.$ZodTypeDef & Record<string, unknown>

/** Which parts of a schema are schemas themselves. A type that is not listed is refused at the start: it may hide fields. */
const PARTS: Record<string, readonly string[]> = {
  ...{ object: ['shape'], array: ['element'], record: ['valueType'], tuple: ['items', 'rest'], union: ['options'], pipe: ['in', 'out'] },
  ...{ optional: ['innerType'], nullable: ['innerType'], default: ['innerType'], prefault: ['innerType'], readonly: ['innerType'] },
  ...{ string: [], number: [], boolean: [], enum: [], literal: [], null: [], unknown: [], transform: [], never: [] },
}

const known = new WeakMap<Schema, Schema>()

/**
 * The same schema, in which no object takes a field that it does not name, at any depth. Only for what comes in: what is stored
 * and what is answered is read by the schema as it is written.
 */
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

/** A schema, a list of them, or one for each name. */
function partOf(part: unknown): unknown {
  if (part === null || part === undefined) return part
  if (Array.isArray(part)) return part.map(partOf)
  if (typeof part === 'object' && '_zod' in part) return strictly(part as Schema)
  return Object.fromEntries(Object.entries(part).map(([name, schema]) => [name, strictly(schema as Schema)]))
}

/** Whether a field of a query takes several values. */
export function takesSeveral(schema: Schema | undefined): boolean {
  const def = schema?._zod.def as Def | undefined
  if (def === undefined) return false
  if (def.type === 'array') return true
  return (PARTS[def.type] ?? []).some((part) => (part === 'innerType' || part === 'out') && takesSeveral(def[part] as Schema))
}
