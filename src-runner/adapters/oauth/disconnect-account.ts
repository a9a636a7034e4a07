import { transact } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import { credentialKey } from '../../lib/vault.ts'
import { isGivenFor, readCredentialSecret, type Tokens } from '../../domain/credentials/credential-secret.ts'
import { deleteCredential, findCredentialRow, getCredential } from '../../domain/credentials/credentials.ts'
import { signMcpServerOut } from '../../domain/mcp/mcp-servers.ts'
import type { OAuthClient } from './oauth-client.ts'
import { serviceOf } from './renewals.ts'

/** Revokes its tokens at the service, and deletes it. null: the service has no revocation. Throws AppError credential_not_found. */
export async function disconnectAccount(
  { db, vault, client }: Pick<Services, 'db' | 'vault'> & { client: OAuthClient },
  credentialId: string,
): Promise<boolean | null> {
  getCredential(db, credentialId)
  const row = findCredentialRow(db, credentialId)!
  const secret = await readCredentialSecret(vault, credentialId)
  // With the refresh token, all access tokens end (RFC 7009).
  const revoke = (tokens: Tokens) => client.revoke(serviceOf(row, tokens), tokens.refreshToken ?? tokens.accessToken)
  const revoked = secret?.kind !== 'tokens' ? null : isGivenFor(secret, row) ? await revoke(secret) : false
  // First the secret: a row without it is shown and can be deleted again, a secret without its row is never found.
  await vault.delete(credentialKey(credentialId))
  transact(db, (tx) => {
    if (row.mcpServerId !== null) signMcpServerOut(tx, row.mcpServerId, credentialId)
    deleteCredential(tx, credentialId)
  })
  return revoked
}
