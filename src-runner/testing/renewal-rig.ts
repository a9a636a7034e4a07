import { readFileSync, writeFileSync } from 'node:fs'
import { createGuardedFetch } from '../platform/net/guarded-fetch.ts'
import type { Database } from '../platform/db/database.ts'
import { createAuthorizations } from '../adapters/oauth/authorizations.ts'
import { createOAuthClient } from '../adapters/oauth/oauth-client.ts'
import { createRenewals } from '../adapters/oauth/renewals.ts'
import { createCredentialStore } from '../domain/credentials/use-credential.ts'
import type { Clock } from '../lib/clock.ts'
import type { Ids } from '../lib/ids.ts'
import { silentLog } from '../lib/log.ts'
import type { Vault } from '../lib/vault.ts'
import type { OAuthServer } from './oauth-server/oauth-server.ts'

/** Signing in and using accounts as the runner composes it, without the runner. */
export function openRenewalRig(deps: { db: Database; vault: Vault; clock: Clock; ids: Ids }, host: string, notes?: OAuthServer) {
  const fetch = createGuardedFetch({ opened: [host] })
  const client = createOAuthClient({ fetch, clock: deps.clock })
  const connections = { ...deps, log: silentLog, client, fetch, appUrl: () => 'http://127.0.0.1:3000' }
  const authorizations = createAuthorizations({ ...connections, findConnector: (slug) => notes?.connector(slug) ?? null })
  const credentials = createCredentialStore({ ...deps, log: silentLog, renew: createRenewals({ ...deps, client }) })
  return {
    authorizations,
    credentials,
    async signIn(scopes = ['notes:read'], again?: string): Promise<string> {
      const { clientId, clientSecret } = notes!
      const { id } = await authorizations.create({
        connector: 'notes',
        method: 'browser',
        clientId,
        clientSecret,
        scopes,
        credentialId: again,
      })
      const browser = { provider: 'notes', session: 'session' }
      const { url } = await authorizations.begin(id, browser)
      const { credentialId } = await authorizations.finish(id, { ...browser, query: (await notes!.agree(url)).search })
      return credentialId!
    },
  }
}

/** Survives its process. */
export function createFileVault(file: string): Vault {
  const read = () => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
  return {
    get: async (key) => read()[key] ?? null,
    set: async (key, value) => writeFileSync(file, JSON.stringify({ ...read(), [key]: value })),
    async delete(key) {
      const { [key]: _, ...rest } = read()
      writeFileSync(file, JSON.stringify(rest))
    },
  }
}
