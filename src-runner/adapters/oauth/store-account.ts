import { transact } from '../../platform/db/database.ts'
import { GuardedFetchError, type GuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { Services } from '../../platform/services.ts'
import type { Connector } from '../../contract/connectors.ts'
import { MAX_SCOPE_CHARS, MAX_SCOPES } from '../../contract/credentials.ts'
import { AppError, required } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { credentialKey } from '../../lib/vault.ts'
import { findAgent } from '../../domain/agents/agents.ts'
import { endAuthorization, isAuthorizationOpen, type AuthorizationRow } from '../../domain/credentials/authorizations.ts'
import { placesOf, writeCredentialSecret, type Tokens } from '../../domain/credentials/credential-secret.ts'
import {
  findCredentialOfMcpServer,
  findCredentialRow,
  insertCredential,
  reconnectCredential,
  type CredentialRow,
} from '../../domain/credentials/credentials.ts'
import { signMcpServerIn } from '../../domain/mcp/mcp-servers.ts'
import { callAccount } from '../../execution/account-call.ts'
import type { IssuedTokens, OAuthService } from './oauth-client.ts'
import { expiryOf } from './renewals.ts'

type Deps = Pick<Services, 'db' | 'vault' | 'clock' | 'ids'> & {
  fetch: GuardedFetch
  findConnector(slug: string): Connector | null
}

export type StoreAccount = ReturnType<typeof createStoreAccount>

/** Stores the account that a person has just signed in with. Throws AppError authorization_refused or vault_unavailable. */
export function createStoreAccount({ db, vault, clock, ids, fetch, findConnector }: Deps) {
  async function nameOf({ connector, plan }: AuthorizationRow, { name }: OAuthService, issued: IssuedTokens): Promise<string | null> {
    const known = findConnector(connector)
    const headers = { authorization: `Bearer ${issued.accessToken}` }
    const signIn = { headers, hosts: plan.hosts, fields: plan.endpoints.fields }
    const answer = known === null ? null : await callAccount(fetch, known, signIn).catch((error: unknown) => refuse(error, name))
    if (answer?.status === 401) throw new AppError('authorization_refused', createMessage('oauth_token_useless', { service: name }))
    return answer?.accountName ?? issued.accountName
  }

  return async (row: AuthorizationRow, service: OAuthService, issued: IssuedTokens): Promise<void> => {
    const { plan, connector, entityId, mcpServerId, resource } = row
    const accountName = await nameOf(row, service, issued)
    const signedInAgain = row.credentialId === null ? null : required(findCredentialRow(db, row.credentialId), 'authorization_over')
    const before = signedInAgain ?? (mcpServerId === null ? null : findCredentialOfMcpServer(db, mcpServerId))
    requireSameAccount(before, accountName, service)
    const tokens: Tokens = {
      kind: 'tokens',
      accessToken: issued.accessToken,
      refreshToken: issued.refreshToken,
      clientId: service.clientId,
      clientSecret: service.clientSecret,
      sentTo: placesOf(plan),
    }
    const given = {
      accountName,
      hosts: plan.hosts,
      scopes: scopesOf(issued, plan),
      endpoints: plan.endpoints,
      resource,
      expiresAt: expiryOf(issued, clock),
      renews: issued.refreshToken !== null,
    }
    const id = before?.id ?? ids.next()
    // First the secret: a row without it looks connected and is not.
    await writeCredentialSecret(vault, id, tokens)
    const isStored = transact(db, (tx) => {
      // It was cancelled, its time was over, or the account was disconnected, while the service and the vault were asked.
      if (!isAuthorizationOpen(tx, row.id) || (before !== null && findCredentialRow(tx, id) === null)) return false
      const agents = plan.agents.filter(({ agentId }) => findAgent(tx, agentId) !== null)
      if (before !== null) reconnectCredential(tx, id, given)
      else insertCredential(tx, { clock }, { id, entityId, connector, kind: 'oauth2', name: plan.name, mcpServerId, agents, ...given })
      if (mcpServerId !== null) signMcpServerIn(tx, mcpServerId, id)
      endAuthorization(tx, row.id, 'connected', { credentialId: id })
      return true
    })
    if (isStored) return
    if (findCredentialRow(db, id) === null) await vault.delete(credentialKey(id))
    throw new AppError('authorization_over')
  }
}

/** The agents of an account were chosen for it, so no other one takes its place. */
function requireSameAccount(before: CredentialRow | null, account: string | null, { name: service }: OAuthService): void {
  if (before?.accountName == null || before.accountName === account) return
  const { name, accountName: expected } = before
  throw new AppError(
    'authorization_refused',
    account === null
      ? createMessage('oauth_account_unknown', { service, name, expected })
      : createMessage('oauth_other_account', { name, account, expected }),
  )
}

/** OpenID Connect: asks for a refresh token. */
const OFFLINE = 'offline_access'

/** As the service granted them, else as they were asked for. */
function scopesOf({ scope, refreshToken }: IssuedTokens, { scopes }: AuthorizationRow['plan']): string[] {
  const granted = (scope ?? '').split(/[\s,]+/).filter((one) => one !== '' && one.length <= MAX_SCOPE_CHARS)
  if (granted.length === 0) return scopes
  // Microsoft grants it and does not list it. Without it, the next sign-in would get no refresh token.
  const isOffline = refreshToken !== null && scopes.includes(OFFLINE)
  return [...new Set([...(isOffline ? [OFFLINE] : []), ...granted])].slice(0, MAX_SCOPES)
}

/** Without an answer nobody knows whose account it is, and it could be another one than before. */
function refuse(error: unknown, service: string): never {
  if (!(error instanceof GuardedFetchError)) throw error
  throw new AppError('authorization_refused', createMessage('credential_unreachable', { service, words: error.message }))
}
