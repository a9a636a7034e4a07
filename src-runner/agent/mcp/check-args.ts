import { cutText } from '../../lib/text.ts'
import type { RawSchema } from '../tools/tool.ts'
import { checkableSchema, type Schema } from './schema-limits.ts'

/**
 * What is larger is checked by the server alone. The library makes a program of a schema, which takes seconds for some of 900 parts, and
 * may hold each value against each part and keep an error each time: `MAX_WORK` is characters of the arguments times parts.
 */
const MAX_PARTS = 400
const MAX_WORK = 300_000
const MAX_PROBLEM_CHARS = 2_000
const MAX_KEPT = 1_000

export type CheckArgs = RawSchema['check']
/** null: too large. */
type Prepared = { validate(args: unknown): { valid: boolean; errorMessage?: string | undefined }; parts: number } | null

/** The library is loaded when the first tool of a server is offered. `digest` identifies the schema. */
export async function createArgsChecker(): Promise<(digest: string, schema: Schema) => CheckArgs> {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/sdk/validation/ajv')
  const prepare = (given: Schema): Prepared => {
    const { schema, parts } = checkableSchema(given)
    return parts > MAX_PARTS ? null : { validate: new AjvJsonSchemaValidator().getValidator(schema), parts }
  }
  const kept = new Map<string, CheckArgs>()
  return (digest, schema) => {
    let check = kept.get(digest)
    if (check !== undefined) return check
    // With the first call, since most tools are never called.
    let prepared: Prepared | undefined
    check = (args) => {
      try {
        if (prepared === undefined) prepared = prepare(schema)
        if (prepared === null || JSON.stringify(args).length * prepared.parts > MAX_WORK) return null
        const { valid, errorMessage } = prepared.validate(args)
        return valid ? null : cutText(errorMessage ?? 'they do not fit the schema', MAX_PROBLEM_CHARS)
      } catch {
        // Not every schema that servers use follows the standard.
        return null
      }
    }
    kept.set(digest, check)
    for (const old of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(old)
    return check
  }
}
