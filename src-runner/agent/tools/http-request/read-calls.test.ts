import { expect, it } from 'vitest'
import type { ReadCalls } from '../../../contract/connectors.ts'
import type { RequestMethod } from '../../../platform/net/guarded-fetch.ts'
import { isReadCall, overridesMethod } from './read-calls.ts'

const USUAL: ReadCalls = { get: true, calls: ['POST /v1/search', 'POST /v1/databases/*/query'], graphql: ['/graphql'] }
const SLACK: ReadCalls = { get: false, calls: ['GET /api/users.list', 'POST /api/users.list'], graphql: [] }
const query = (text: unknown, more = {}) => ({ query: text, ...more })

it.each<[ReadCalls, RequestMethod, string, unknown, boolean]>([
  [USUAL, 'GET', '/anything?page=2', null, true],
  [USUAL, 'HEAD', '/anything', null, true],
  [USUAL, 'DELETE', '/anything', null, false],
  [USUAL, 'GET', '/anything?_method=DELETE', null, false],
  [USUAL, 'GET', '/anything?X-HTTP-Method-Override=POST', null, false],
  [USUAL, 'POST', '/v1/search', { query: 'x' }, true],
  [USUAL, 'PATCH', '/v1/search', {}, false],
  [USUAL, 'POST', '/v1/search/', {}, false],
  [USUAL, 'POST', '/v1/search?method=delete', {}, false],
  [USUAL, 'POST', '/v1/databases/4f-2a/query', {}, true],
  [USUAL, 'POST', '/v1/databases/a%2f..%2fpages/query', {}, false],
  [USUAL, 'POST', '/v1/databases/a/b/query', {}, false],
  [USUAL, 'POST', '/v1/databases//query', {}, false],
  [USUAL, 'POST', '/v1/databases/../pages/query', {}, false],
  [USUAL, 'POST', '/graphql', query('{ viewer { login } }'), true],
  [USUAL, 'POST', '/graphql', query('query A { a } mutation B { b }', { operationName: 'B' }), false],
  [USUAL, 'POST', '/graphql', query('mutation{b}'), false],
  [USUAL, 'POST', '/graphql', query('#\nsubscription { b }'), false],
  [USUAL, 'POST', '/graphql', query(['mutation { b }']), false],
  [USUAL, 'POST', '/graphql', query('{ a }', { extensions: { persistedQuery: { sha256Hash: 'x' } } }), false],
  [USUAL, 'POST', '/graphql', [query('{ a }')], false],
  [USUAL, 'POST', '/graphql', '{"query":"{ a }"}', false],
  [USUAL, 'POST', '/graphql?query=mutation{b}', query('{ a }'), false],
  [SLACK, 'GET', '/api/users.list?limit=5', null, true],
  [SLACK, 'POST', '/api/users.list', {}, true],
  [SLACK, 'GET', '/api/chat.postMessage?text=x', null, false],
  [SLACK, 'GET', '/api/users.list/../chat.postMessage', null, false],
])('%#: %j %s %s', (reads, method, path, body, expected) => {
  expect(isReadCall(reads, method, new URL(path, 'https://api.example.com'), body)).toBe(expected)
})

it.each(['x-http-method-override', 'X-Method-Override', 'X-HTTP-Method', '_method', 'method', 'http_method', '$method'])(
  'takes %s for another method',
  (name) => expect(overridesMethod(name)).toBe(true),
)
it.each(['paymentMethod', 'methods', 'x-api-version', 'q'])('takes %s for what it is', (name) => expect(overridesMethod(name)).toBe(false))
