import { z } from 'zod'
import type { ReadCalls } from '../../../contract/connectors.ts'
import type { CredentialAccess } from '../../../contract/credentials.ts'
import type { RequestMethod } from '../../../platform/net/guarded-fetch.ts'
import { isHostCovered, mayCarrySecret } from '../../../platform/net/host-list.ts'
import { http } from '../../../platform/net/node-http.ts'
import { readWebAddress } from '../../../platform/net/web-address.ts'
import { isReadCall, overridesMethod } from './read-calls.ts'

/** An account as the agent that may use it knows it. */
export type Connection = {
  id: string
  /** Unique among those of the agent. */
  name: string
  /** Its service: `GitHub`. */
  service: string
  accountName: string | null
  access: CredentialAccess
  hosts: readonly string[]
  docsUrl: string | null
  /** Sent unless the call has its own. */
  headers: Readonly<Record<string, string>>
  reads: ReadCalls
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies RequestMethod[]
const MAX_CHARS = 56_000
const QueryValue = z.union([z.string(), z.number(), z.boolean()])

export const HttpRequestArgs = z.object({
  connection: z.string().min(1).describe('The name of the connection, as listed above.'),
  method: z.enum(METHODS).optional().describe('Default: GET.'),
  url: z.string().min(1).describe('The complete address, or a path that begins with / on the first host of the connection.'),
  query: z
    .record(z.string(), z.union([QueryValue, z.array(QueryValue)]))
    .optional()
    .describe('Added to the address.'),
  headers: z.record(z.string(), z.string()).optional().describe('Further headers. Deckhand adds those that sign in.'),
  body: z
    .union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())])
    .optional()
    .describe('An object or a list is sent as JSON. For text, give a content-type header.'),
  offset: z.number().int().min(0).optional().describe('The first character to read, to continue a long response. Sends nothing again.'),
  maxChars: z.number().int().min(100).max(MAX_CHARS).optional().describe('The most characters to read. Default: 20000.'),
})
export type HttpRequestArgs = z.output<typeof HttpRequestArgs>

export type PreparedRequest = {
  connection: Connection
  method: RequestMethod
  url: URL
  access: CredentialAccess
  headers: Record<string, string>
  body: string | null
}

/** Throws an error that the agent can act on. It names nothing that the agent may not know. */
export function prepareRequest(args: HttpRequestArgs, connections: readonly Connection[], opened: readonly string[]): PreparedRequest {
  const connection = connections.find(({ name }) => name === args.connection)
  if (connection === undefined) {
    const names = connections.map(({ name }) => JSON.stringify(name)).join(', ')
    throw new Error(
      `there is no connection ${JSON.stringify(args.connection)}. ${names === '' ? 'There are none.' : `There are: ${names}.`}`,
    )
  }
  const { method = 'GET', body } = args
  const url = addressOf(args, connection)
  if (!isHostCovered(url, connection.hosts)) {
    throw new Error(`${connection.name} is used with ${connection.hosts.join(', ')} only, not with ${url.host}.`)
  }
  if (!mayCarrySecret(url, opened)) throw new Error('a key is sent over https only. Use an address that begins with https://.')
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) throw new Error(`${method} has no body. Use query instead.`)
  const access = isReadCall(connection.reads, method, url, body ?? null) ? 'read' : 'write'
  if (access === 'write' && connection.access === 'read') {
    throw new Error(
      `${connection.name} is for reading only, and this call could change something there. The person can allow that under Connections.`,
    )
  }
  const headers = { ...lowerNames(connection.headers), ...contentTypeOf(body), ...checkedHeaders(args.headers ?? {}) }
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
  return { connection, method, url, access, headers, body: text }
}

function addressOf({ url: given, query = {} }: HttpRequestArgs, { hosts: [first = ''] }: Connection): URL {
  const isPath = given.startsWith('/')
  if (isPath && first.startsWith('*.')) throw new Error(`give the complete address: ${first} is more than one host.`)
  const url = readWebAddress(isPath ? new URL(given, `https://${first}`) : given)
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) url.searchParams.append(name, String(one))
  return url
}

function contentTypeOf(body: HttpRequestArgs['body']): Record<string, string> {
  if (body === undefined) return {}
  return { 'content-type': typeof body === 'string' && !isJson(body) ? 'text/plain; charset=utf-8' : 'application/json' }
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

/** Who asks, where it goes and how it is framed are not for the agent to say; nor is another method behind the checked one. */
const CLOSED_HEADERS =
  /^(authorization|cookie2?|host|connection|keep-alive|content-length|content-encoding|transfer-encoding|accept-encoding|te|trailer|upgrade|expect|forwarded|via|origin|referer|user-agent|proxy-.*|x-forwarded-.*|x-real-ip|x-original-.*|x-rewrite-.*|sec-.*)$/i

function checkedHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  for (const [name, value] of Object.entries(given)) {
    try {
      http.validateHeaderName(name)
      http.validateHeaderValue(name, value)
    } catch {
      throw new Error(`the header ${JSON.stringify(name)} has a character that headers cannot have.`)
    }
    if (CLOSED_HEADERS.test(name) || overridesMethod(name)) throw new Error(`the header ${name} is not for you to set. Leave it out.`)
  }
  return lowerNames(given)
}

function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
