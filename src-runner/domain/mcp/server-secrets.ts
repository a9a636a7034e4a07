import { z } from 'zod'
import type { McpTransport } from '../../contract/mcp.ts'
import { parseJson } from '../../lib/json-values.ts'
import { SECRET_VALUE } from './drafts/draft-parts.ts'

const Values = z.record(z.string(), z.string())

/** Values of the environment of a server, or of the headers that it is called with. */
const ServerSecrets = z.object({ env: Values, headers: Values })
export type ServerSecrets = z.infer<typeof ServerSecrets>

/**
 * The entry of the vault. `sentTo`: the origin that the headers were given for, if any. The database may be restored with an
 * address that the server had before, and they must not go there.
 */
const Entry = ServerSecrets.extend({ sentTo: z.array(z.string()) })

export const NO_SECRETS: ServerSecrets = { env: {}, headers: {} }

/** null: it has none, and no entry. */
export function writeServerSecrets(secrets: ServerSecrets, transport: McpTransport): string | null {
  if (Object.values(secrets).every((values) => Object.keys(values).length === 0)) return null
  return JSON.stringify({ ...secrets, sentTo: originsOf(transport) } satisfies z.infer<typeof Entry>)
}

export function readServerSecrets(entry: string | null, transport: McpTransport): ServerSecrets {
  const parsed = Entry.safeParse(entry === null ? null : parseJson(entry))
  if (!parsed.success || String(parsed.data.sentTo) !== String(originsOf(transport))) return NO_SECRETS
  const { env, headers } = parsed.data
  return { env, headers }
}

function originsOf(transport: McpTransport): string[] {
  return transport.kind === 'stdio' ? [] : [new URL(transport.url).origin]
}

/** A name whose value could be a secret, however plain it looks. */
const SECRET_NAME =
  /pass|pwd|phrase|secret|token|key|cred|auth|bearer|priv|sign|salt|seed|cookie|session|cert|hook|dsn|jwt|licen[cs]e|(^|[-_.])(pat|pin|otp|sas|code|conn|connection)($|[-_.])/i
const WORD = /^([a-z]{1,14}|[A-Z]{1,14}|[A-Z][a-z]{1,13})?\d{0,5}$/
/** `user:password`, or anything before the host of an address. A colon is also before a port and after a drive. */
const CREDENTIALS = /:(?!\d{1,5}(\/|$)|[\\/])|:\/\/[^/]*@/
const MOST_CHARS = 80

/**
 * The values that nobody may read. Masked are all but those that are clearly no secret, such as `issues`, `us-east-1` or an address:
 * they are also in the names and results of tools, which would be broken.
 */
export function secretValuesOf(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (isHarmless(name, value) ? [] : [value]))
}

function isHarmless(name: string, value: string): boolean {
  if (value.length > MOST_CHARS || SECRET_NAME.test(name) || SECRET_VALUE.test(value) || CREDENTIALS.test(value)) return false
  return value.split(/[-_.,:/\\@ ]+/).every((part) => WORD.test(part))
}
