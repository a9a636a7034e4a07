import type { z } from 'zod'
import type { ErrorIssue } from '../contract/errors.ts'

type Issue = z.core.$ZodIssue

/** An issue of a schema as the API reports it. `root` names the request itself. */
export function issuesOf(issue: Issue, given: unknown, root: string): ErrorIssue[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField([...issue.path, key]))
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return issuesOfUnion(issue, given, root)
  return [issueOf(issue, given, root)]
}

/** The issues of the union member that fits best. */
function issuesOfUnion(issue: z.core.$ZodIssueInvalidUnion, given: unknown, root: string): ErrorIssue[] {
  const closest = issue.errors.toSorted((a, b) => a.length - b.length)[0]!
  return closest.flatMap((inner) => issuesOf({ ...inner, path: [...issue.path, ...inner.path] }, given, root))
}

const MAX_PATH_CHARS = 200

function pathOf(path: readonly PropertyKey[]): string {
  return path.map(String).join('.').slice(0, MAX_PATH_CHARS)
}

function unknownField(path: readonly PropertyKey[]): ErrorIssue {
  return { path: pathOf(path), message: `“${pathOf(path)}” is not a field of this request.`, kind: 'unknown_field' }
}

function issueOf(issue: Issue, given: unknown, root: string): ErrorIssue {
  const path = pathOf(issue.path) || root
  const name = issue.path.length === 0 ? `The ${root || 'request'}` : `“${path}”`
  switch (issue.code) {
    case 'too_small': {
      const limit = Number(issue.minimum)
      const [kind, rest] = {
        text: ['too_short', limit <= 1 ? 'must not be empty' : `must have at least ${limit} characters`],
        size: ['too_small', `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${limit}`],
        entries: ['too_few', `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`],
      }[measureOf(issue.origin)] as [ErrorIssue['kind'], string]
      return { path, message: `${name} ${rest}.`, kind, limit }
    }
    case 'too_big': {
      const limit = Number(issue.maximum)
      const [kind, rest] = {
        text: ['too_long', `must have at most ${limit} characters`],
        size: ['too_large', `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${limit}`],
        entries: ['too_many', `must have at most ${limit} ${limit === 1 ? 'entry' : 'entries'}`],
      }[measureOf(issue.origin)] as [ErrorIssue['kind'], string]
      return { path, message: `${name} ${rest}.`, kind, limit }
    }
    case 'invalid_type':
      if (valueAt(given, issue.path) === undefined) return { path, message: `${name} is missing.`, kind: 'missing' }
      return { path, message: `${name} must be ${TYPES[issue.expected] ?? issue.expected}.`, kind: 'wrong_kind' }
    case 'invalid_format':
      return { path, message: `${name} ${FORMATS[issue.format] ?? formatOf(issue)}.`, kind: 'wrong_shape' }
    case 'invalid_value':
      return { path, message: `${name} must be ${choiceOf(issue.values)}.`, kind: 'not_offered' }
    case 'custom':
      // A custom check has its own message.
      return { path, message: issue.message }
    default:
      return { path, message: `${name} does not fit.` }
  }
}

function measureOf(origin: string): 'text' | 'size' | 'entries' {
  if (origin === 'string') return 'text'
  return origin === 'number' || origin === 'int' || origin === 'bigint' ? 'size' : 'entries'
}

const TYPES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

const FORMATS: Record<string, string> = { guid: 'must be a UUID', uuid: 'must be a UUID', url: 'must be a URL' }

/** A pattern may have its own message. */
function formatOf({ message }: Issue): string {
  return message.startsWith('Invalid') ? 'has the wrong format' : message
}

const MAX_CHOICES = 20

function choiceOf(values: readonly unknown[]): string {
  if (values.length === 1) return String(values[0])
  return values.length > MAX_CHOICES ? 'one of the known values' : `one of ${values.map(String).join(', ')}`
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value === null || value === undefined ? undefined : Reflect.get(Object(value), key)), given)
}
