import { z } from 'zod'
import { authorizationKey, type Vault } from '../../lib/vault.ts'
import type { AuthorizationRow } from '../../domain/credentials/authorizations.ts'
import type { OAuthService } from './oauth-client.ts'

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

/** The service that a person signs in at, as the client that asks for it. */
export function signInService(
  { plan, resource }: Pick<AuthorizationRow, 'plan' | 'resource'>,
  { clientId, clientSecret }: AuthorizationSecret,
): OAuthService {
  return { name: plan.name, endpoints: plan.endpoints, clientId, clientSecret, resource }
}
