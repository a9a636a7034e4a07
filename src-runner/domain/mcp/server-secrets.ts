import { z } from 'zod'
import type { McpTransport } from '../../contract/mcp.ts'
import { parseJson } from '../../lib/json-values.ts'

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
