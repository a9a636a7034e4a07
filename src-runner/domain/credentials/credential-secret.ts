import { z } from 'zod'
import type { Vault } from '../../lib/vault.ts'
import { credentialKey } from '../../lib/vault.ts'

/**
 * What the vault keeps for an account. headers: sent as they are; `secrets` are the parts of them that nobody may read, such
 * as the key or the password. `sentTo`: the hosts that they were given for. The database may be restored with other hosts
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
  }),
])
export type CredentialSecret = z.infer<typeof CredentialSecret>
export type Tokens = Extract<CredentialSecret, { kind: 'tokens' }>

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
