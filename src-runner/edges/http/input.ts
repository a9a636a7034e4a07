import type { z } from 'zod'
import type { ErrorIssue } from '../../contract/errors.ts'
import type { Route } from '../../contract/routes.ts'
import { AppError } from '../../kit/errors.ts'
import { issueOf } from '../../kit/issues.ts'

/** What arrived, part by part; `body` undefined: none was sent. */
export type RawInput = { params: unknown; query: unknown; body: unknown }

/** Parses all parts before it complains, so that a caller sees every mistake at once. */
export function parseInput(route: Route, raw: RawInput): { params: unknown; query: unknown; body: unknown } {
  const issues: ErrorIssue[] = []
  const input = {
    params: parsePart(route.params, raw.params ?? {}, '', issues),
    query: parsePart(route.query, raw.query ?? {}, '', issues),
    // A body that may be left out says no more than an empty one.
    body: parsePart(route.body, raw.body ?? (route.bodyOptional ? {} : undefined), 'body', issues),
  }
  if (issues.length > 0) throw new AppError('invalid_request', sentenceFor(issues), { issues })
  return input
}

function parsePart(schema: z.ZodType | undefined, value: unknown, root: string, issues: ErrorIssue[]): unknown {
  if (schema === undefined) return root === 'body' ? undefined : {}
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  issues.push(...parsed.error.issues.map((issue) => issueOf(issue, value, root)))
  return undefined
}

function sentenceFor(issues: ErrorIssue[]): string {
  const first = issues[0]!
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return first.path === '' ? `${first.message}${more}` : `${first.path}: ${first.message}${more}`
}
