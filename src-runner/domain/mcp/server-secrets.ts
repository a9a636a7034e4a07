import { z } from 'zod'
import { parseJson } from '../../lib/json-values.ts'

const Values = z.record(z.string(), z.string())

/** The entry of the vault for a server: values of its environment, or of the headers that it is called with. */
const ServerSecrets = z.object({ env: Values, headers: Values })
export type ServerSecrets = z.infer<typeof ServerSecrets>

export const NO_SECRETS: ServerSecrets = { env: {}, headers: {} }

/** null: it has none, and no entry. */
export function writeServerSecrets(secrets: ServerSecrets): string | null {
  return Object.values(secrets).every((values) => Object.keys(values).length === 0) ? null : JSON.stringify(secrets)
}

export function readServerSecrets(entry: string | null): ServerSecrets {
  const parsed = ServerSecrets.safeParse(entry === null ? null : parseJson(entry))
  return parsed.success ? parsed.data : NO_SECRETS
}
