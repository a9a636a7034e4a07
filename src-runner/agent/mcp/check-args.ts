import { cutText } from '../../lib/text.ts'
import type { RawSchema } from '../tools/tool.ts'
import { checkableSchema, type Schema } from './schema-limits.ts'

/** Larger arguments are checked by the server alone. */
const MAX_CHECKED_CHARS = 100_000
const MAX_PROBLEM_CHARS = 2_000
const MAX_KEPT = 1_000

export type CheckArgs = RawSchema['check']

/** The library is loaded when the first tool of a server is offered. `digest` identifies the schema. */
export async function createArgsChecker(): Promise<(digest: string, schema: Schema) => CheckArgs> {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/sdk/validation/ajv')
  const kept = new Map<string, CheckArgs>()
  return (digest, schema) => {
    let check = kept.get(digest)
    if (check !== undefined) return check
    // With the first call, since most tools are never called.
    let validate: ReturnType<InstanceType<typeof AjvJsonSchemaValidator>['getValidator']> | undefined
    check = (args) => {
      if (JSON.stringify(args).length > MAX_CHECKED_CHARS) return null
      try {
        validate ??= new AjvJsonSchemaValidator().getValidator(checkableSchema(schema))
      } catch {
        // Not every schema that servers use follows the standard.
        return null
      }
      const { valid, errorMessage } = validate(args)
      return valid ? null : cutText(errorMessage ?? 'they do not fit the schema', MAX_PROBLEM_CHARS)
    }
    kept.set(digest, check)
    for (const old of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(old)
    return check
  }
}
