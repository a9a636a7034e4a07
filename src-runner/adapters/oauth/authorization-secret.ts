import { z } from 'zod'
import { authorizationKey, type Vault } from '../../lib/vault.ts'

/** What the vault keeps while a person signs in. `deviceCode`: of the device flow. */
const AuthorizationSecret = z.object({
  clientId: z.string(),
  clientSecret: z.string().nullable(),
  verifier: z.string(),
  nonce: z.string().nullable(),
  deviceCode: z.string().nullable(),
})
export type AuthorizationSecret = z.infer<typeof AuthorizationSecret>

/** null: there is none. Throws AppError vault_unavailable. */
export async function readAuthorizationSecret(vault: Vault, authorizationId: string): Promise<AuthorizationSecret | null> {
  const text = await vault.get(authorizationKey(authorizationId))
  return text === null ? null : AuthorizationSecret.parse(JSON.parse(text))
}

export function writeAuthorizationSecret(vault: Vault, authorizationId: string, secret: AuthorizationSecret): Promise<void> {
  return vault.set(authorizationKey(authorizationId), JSON.stringify(secret))
}
