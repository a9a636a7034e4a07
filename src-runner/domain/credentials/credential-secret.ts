import { z } from 'zod'
import type { Vault } from '../../lib/vault.ts'
import { credentialKey } from '../../lib/vault.ts'
import type { TokenSource } from './credentials-table.ts'

/** Where an account sends what the vault keeps for it. `endpoints`: null for an account without tokens. */
type Places = { hosts: readonly string[]; endpoints: TokenSource | null }

/**
 * What the vault keeps for an account. headers: sent as they are; `secrets` are the parts of them that nobody may read, such
 * as the key or the password. `sentTo`: the places that they were given for. The database may be restored with other places
 * that the account had before, and they must not go there.
 */
export const CredentialSecret = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('headers'),
    headers: z.record(z.string(), z.string()),
    secrets: z.array(z.string().min(1)),
    sentTo: z.array(z.string()),
  }),
  z.object({
    kind: z.literal('tokens'),
    accessToken: z.string().min(1),
    refreshToken: z.string().min(1).nullable(),
    clientId: z.string(),
    clientSecret: z.string().nullable(),
    sentTo: z.array(z.string()),
  }),
])
export type CredentialSecret = z.infer<typeof CredentialSecret>
export type Tokens = Extract<CredentialSecret, { kind: 'tokens' }>

/** The hosts of the account, and the origins of the addresses that get tokens or the secret of the client. */
export function placesOf({ hosts, endpoints }: Places): string[] {
  const addresses = endpoints === null ? [] : [endpoints.tokenUrl, endpoints.revocationUrl, endpoints.deviceUrl]
  return [...new Set([...hosts, ...addresses.flatMap((address) => (address === null ? [] : new URL(address).origin))])]
}

export function isGivenFor({ sentTo }: CredentialSecret, places: Places): boolean {
  return placesOf(places).every((place) => sentTo.includes(place))
}

/** null: there is none, or another version wrote it. Throws AppError vault_unavailable. */
export async function readCredentialSecret(vault: Vault, credentialId: string): Promise<CredentialSecret | null> {
  const text = await vault.get(credentialKey(credentialId))
  if (text === null) return null
  try {
    return CredentialSecret.parse(JSON.parse(text))
  } catch {
    return null
  }
}

export function writeCredentialSecret(vault: Vault, credentialId: string, secret: CredentialSecret): Promise<void> {
  return vault.set(credentialKey(credentialId), JSON.stringify(secret))
}
