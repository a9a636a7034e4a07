import type { Db } from '../platform/db/database.ts'
import type { GuardedFetch } from '../platform/net/guarded-fetch.ts'
import type { Connector, ReadCalls } from '../contract/connectors.ts'
import { AppError } from '../lib/errors.ts'
import { findConnector as findInCatalogue, isGeneral, listConnectors } from '../domain/connectors/connectors.ts'
import { findCredential, listCredentialsOfAgent } from '../domain/credentials/credentials.ts'
import type { CredentialStore } from '../domain/credentials/use-credential.ts'
import type { HttpRequestDeps } from '../agent/tools/http-request/http-request.ts'
import type { Connection } from '../agent/tools/http-request/prepare-request.ts'
import { callAccount } from './account-call.ts'

type Deps = { db: Db; credentials: CredentialStore; fetch: GuardedFetch; findConnector?: typeof findInCatalogue }

/** The accounts that agents use by `http_request`. */
export function createAgentConnections({
  db,
  credentials,
  fetch,
  findConnector = findInCatalogue,
}: Deps): Pick<HttpRequestDeps, 'connections' | 'signIn' | 'renew'> {
  return {
    connections: (agentId) => connectionsOf(db, agentId, findConnector),

    async signIn(connectionId, agentId, access) {
      const { headers, hosts, secrets } = await credentials.use(connectionId, agentId, access)
      return { headers, hosts, secrets }
    },

    /**
     * Some services answer 401 where others answer 403, and an agent must not be able to end a sign-in by such a call. So the
     * service is asked about the account first.
     */
    async renew(connectionId, agentId, refused) {
      const credential = findCredential(db, connectionId)
      const connector = credential === null ? null : findConnector(credential.connector)
      if (credential === null || connector === null) return false
      const answer = await callAccount(fetch, connector, refused).catch(() => null)
      if (answer === null ? credential.kind !== 'oauth2' : answer.status !== 401) return false
      try {
        await credentials.use(connectionId, agentId, 'read', { refused: refused.secrets })
        return true
      } catch (error) {
        // The agent reads that the service refused the call. The person sees why on the connection.
        if (error instanceof AppError) return false
        throw error
      }
    },
  }
}

/** With a name each that no other of them has. The oldest first, so that a new one renames none. */
function connectionsOf(db: Db, agentId: string, findConnector: typeof findInCatalogue): Connection[] {
  const taken = new Set<string>()
  return listCredentialsOfAgent(db, agentId)
    .filter(({ mcpServerId }) => mcpServerId === null)
    .reverse()
    .flatMap(({ id, name: given, connector: slug, accountName, hosts, agents }) => {
      const connector = findConnector(slug)
      const access = agents.find((grant) => grant.agentId === agentId)?.access
      if (connector === null || access === undefined) return []
      const name = freeName(given, accountName, taken)
      taken.add(name)
      const { name: service, docsUrl, headers } = connector
      return [{ id, name, service, accountName, access, hosts, docsUrl, headers, reads: readsOf(connector, hosts) }]
    })
}

/** At a service of the catalogue whose GET requests may write, they do so whatever way the account is connected. */
function readsOf(connector: Connector, hosts: readonly string[]): ReadCalls {
  const stricter = listConnectors().find(({ reads, hosts: own }) => !reads.get && own.some((host) => hosts.includes(host)))
  return isGeneral(connector) ? (stricter ?? connector).reads : connector.reads
}

function freeName(name: string, accountName: string | null, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name
  const withAccount = accountName === null ? name : `${name} (${accountName})`
  if (!taken.has(withAccount)) return withAccount
  let number = 2
  while (taken.has(`${withAccount} ${number}`)) number++
  return `${withAccount} ${number}`
}
