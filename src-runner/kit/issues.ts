import type { z } from 'zod'
import type { ErrorIssue } from '../contract/errors.ts'

/** What a schema refuses, as it is told: where it is (`root` for the whole), what it is in a word, and the schema's own sentence. */
export function issueOf(issue: z.core.$ZodIssue, given: unknown, root: string): ErrorIssue {
  const found = { path: issue.path.map(String).join('.') || root, message: issue.message }
  const counts =
    'origin' in issue && issue.origin !== 'string' ? (issue.origin === 'number' || issue.origin === 'int' ? 'size' : 'few') : 'text'
  switch (issue.code) {
    case 'too_small':
      return { ...found, kind: ({ text: 'too_short', size: 'too_small', few: 'too_few' } as const)[counts], limit: Number(issue.minimum) }
    case 'too_big':
      return { ...found, kind: ({ text: 'too_long', size: 'too_large', few: 'too_many' } as const)[counts], limit: Number(issue.maximum) }
    case 'invalid_type':
      return { ...found, kind: valueAt(given, issue.path) === undefined ? 'missing' : 'wrong_kind' }
    case 'invalid_format':
      return { ...found, kind: 'wrong_shape' }
    case 'invalid_value':
      return { ...found, kind: 'not_offered' }
    case 'unrecognized_keys':
      return { ...found, kind: 'unknown_field' }
    default:
      return found
  }
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value === null || value === undefined ? undefined : Reflect.get(Object(value), key)), given)
}
