import { z } from 'zod'
import { parseJson } from '../../lib/json-values.ts'

/**
 * The entry of the vault for a provider. `sentTo`: the origin that the key was given for. The database may be restored with
 * the address that the provider had before, and its key must not go there.
 */
const ProviderSecret = z.object({ apiKey: z.string(), sentTo: z.tuple([z.string()]) })

export function writeProviderSecret(apiKey: string, origin: string): string {
  return JSON.stringify({ apiKey, sentTo: [origin] } satisfies z.infer<typeof ProviderSecret>)
}

/** The key; null: there is none for this origin. */
export function readProviderSecret(entry: string | null, origin: string): string | null {
  const parsed = ProviderSecret.safeParse(entry === null ? null : parseJson(entry))
  return parsed.success && parsed.data.sentTo[0] === origin ? parsed.data.apiKey : null
}
