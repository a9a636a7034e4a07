import { z } from 'zod'
import type { ErrorIssue } from '../../contract/errors.ts'
import type { Route } from '../../contract/routes.ts'
import { AppError } from '../../lib/errors.ts'
import { quote } from '../../lib/messages.ts'
import { issuesOf } from '../../lib/validation-issues.ts'
import { strict, takesSeveral } from './strict-schema.ts'

/** `body` is undefined if none was sent. */
export type Input = { params: unknown; query: unknown; body: unknown }

const NOTHING = z.object({})

/** Parses the requests of one route. It refuses unknown fields in the query and at any depth of the body. */
export function createInputReader(route: Route): (raw: Input) => Input {
  const params = strict(route.params ?? NOTHING)
  const query = strict(route.query ?? NOTHING)
  const body = strict(route.body ?? NOTHING)
  const mayLackBody = route.body === undefined
  // A probe may add anything, so that no cache answers it.
  const isPublic = route.access === 'public'

  /** Parses all parts first, so that the error lists every mistake. */
  return (raw) => {
    const issues: ErrorIssue[] = []
    const input = {
      params: parsePart(params, raw.params ?? {}, '', issues),
      query: parsePart(query, isPublic ? {} : readQuery(query, raw.query ?? {}), '', issues),
      body: parsePart(body, raw.body ?? (mayLackBody ? {} : undefined), 'body', issues),
    }
    if (issues.length === 0) return route.body === undefined ? { ...input, body: undefined } : input
    const isKnown = issues.some(({ kind }) => kind !== 'unknown_field')
    throw new AppError(isKnown ? 'invalid_request' : 'unknown_field', quote(sentenceFor(issues)), { issues })
  }
}

/**
 * A list field accepts `status=a,b`, `status=a&status=b` and `status[]=a&status[]=b`. Other fields that occur twice or in
 * brackets are refused. A field without a value that may be left out, as in `status=&q=tea`, was not given: a form sends all of
 * its fields.
 */
function readQuery(schema: z.ZodObject, query: unknown): unknown {
  const mayLack = (name: string) => schema.shape[name]?.safeParse(undefined).success === true
  const given = Object.entries(query as Record<string, unknown>).filter(([name, value]) => value !== '' || !mayLack(name))
  const joined: Record<string, unknown> = Object.fromEntries(given)
  for (const [name, field] of Object.entries(schema.shape)) {
    if (!takesSeveral(field)) continue
    const values = [joined[name], joined[`${name}[]`]].flat().filter((value) => value !== undefined)
    delete joined[`${name}[]`]
    if (values.length > 0) joined[name] = values.map(String).join(',')
  }
  return joined
}

function parsePart(schema: z.ZodType, value: unknown, root: string, issues: ErrorIssue[]): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  issues.push(...parsed.error.issues.flatMap((issue) => issuesOf(issue, value, root)))
  return undefined
}

function sentenceFor([first, ...more]: ErrorIssue[]): string {
  const others = more.length === 1 ? ' 1 more field does not fit.' : ` ${more.length} more fields do not fit.`
  return more.length === 0 ? first!.message : `${first!.message}${others}`
}
