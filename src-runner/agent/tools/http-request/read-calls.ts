import type { ReadCalls } from '../../../contract/connectors.ts'
import type { RequestMethod } from '../../../platform/net/guarded-fetch.ts'

/** Frameworks take the real method from such a parameter or header. */
const OVERRIDE = /^(?:\$|_|x[-_])?(?:http[-_]?)?method(?:[-_]?override)?$/i

export function overridesMethod(name: string): boolean {
  return OVERRIDE.test(name)
}

/**
 * Whether the service changes nothing by this call. In doubt it is a write: the path must be spelled plainly, and a GraphQL
 * document must not even contain the word of another operation.
 */
export function isReadCall(reads: ReadCalls, method: RequestMethod, url: URL, body: unknown): boolean {
  if ([...url.searchParams.keys()].some(overridesMethod)) return false
  const asGet = method === 'HEAD' ? 'GET' : method
  if (asGet === 'GET' && reads.get) return true
  if (method === 'POST' && reads.graphql.includes(url.pathname)) return url.search === '' && isGraphQlQuery(body)
  return reads.calls.some((call) => matches(call, `${asGet} ${url.pathname}`))
}

function matches(pattern: string, call: string): boolean {
  const [wanted, given] = [pattern.split('/'), call.split('/')]
  return wanted.length === given.length && wanted.every((part, at) => part === given[at] || (part === '*' && /^[\w.~-]+$/.test(given[at]!)))
}

const GRAPHQL_FIELDS = new Set(['query', 'variables', 'operationName'])

/** Only a body that is sent as it was checked: an object. Its document holds neither a mutation nor a subscription. */
function isGraphQlQuery(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false
  const { query } = body as { query?: unknown }
  if (typeof query !== 'string' || Object.keys(body).some((field) => !GRAPHQL_FIELDS.has(field))) return false
  return !/mutation|subscription/i.test(query)
}
