import { createGuardedFetch, type GuardedCaps, type GuardedFetch, type GuardedFetchOptions } from '../platform/net/guarded-fetch.ts'
import type { Database } from '../platform/db/database.ts'
import { createAuthorizations } from '../adapters/oauth/authorizations.ts'
import { createOAuthClient } from '../adapters/oauth/oauth-client.ts'
import { createRenewals } from '../adapters/oauth/renewals.ts'
import { createCredentialStore } from '../domain/credentials/use-credential.ts'
import { readSettings } from '../domain/settings/settings.ts'
import type { Core } from './core.ts'
import type { Storage } from './storage.ts'

/** Made for each request, because the opened hosts and our own ports may have changed. */
export function createToolFetch(core: Core, db: Database, caps: Partial<GuardedCaps> = {}): GuardedFetch {
  return (address, request) => createGuardedFetch({ ...guardOptions(core, db), caps })(address, request)
}

export function guardOptions({ options, ownPorts }: Core, db: Database): GuardedFetchOptions {
  return { ...options.internet, opened: readSettings(db).openedHosts, closedPorts: ownPorts }
}

/** Where a stand-alone runner would find the dashboard. */
const DEFAULT_APP_URL = 'http://127.0.0.1:3000'

export type Connections = ReturnType<typeof createConnections>

/** Accounts at services: signing in to them, and using them. */
export function createConnections(core: Core, { db }: Storage) {
  const { vault, clock, log, access, disposables } = core
  const fetch = createToolFetch(core, db)
  const client = createOAuthClient({ fetch, clock })
  const credentials = createCredentialStore({ db, vault, clock, log, renew: createRenewals({ db, vault, clock, client }) })
  const appUrl = () => access.appUrl ?? DEFAULT_APP_URL
  const authorizations = createAuthorizations({ ...core, db, client, fetch, appUrl, findConnector: core.options.findConnector })
  disposables.add(() => authorizations.stop())
  return { credentials, authorizations, fetchGuarded: fetch }
}
