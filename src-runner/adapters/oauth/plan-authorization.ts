import type { Db } from '../../platform/db/database.ts'
import type { Connector, OAuthEndpoints } from '../../contract/connectors.ts'
import type { CreateAuthorization } from '../../contract/credentials.ts'
import { AppError, invalidAt, required } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import type { Vault } from '../../lib/vault.ts'
import { fillIn, isGeneral, nameFor } from '../../domain/connectors/connectors.ts'
import { isGivenFor, readCredentialSecret } from '../../domain/credentials/credential-secret.ts'
import { findCredentialRow, listCredentials, type CredentialRow } from '../../domain/credentials/credentials.ts'
import type { AuthorizationPlan, TokenSource } from '../../domain/credentials/credentials-table.ts'
import { readHosts } from '../../domain/credentials/read-key.ts'
import { findDefaultEntity } from '../../domain/entities/entities.ts'
import { readSettings } from '../../domain/settings/settings.ts'
import type { OAuthClient } from './oauth-client.ts'
import { isSafeAddress, requireSafe } from './safe-endpoints.ts'

/** The connector of MCP servers, which is in no catalogue. */
export const MCP_CONNECTOR = 'mcp'

/** A part of an address: a host name, perhaps with a port, or one segment of a path. */
const FIELD = /^[\w-]+(\.[\w-]+)*(:\d{1,5})?$/
const HOST = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$|^\[[0-9a-f:]+\](:\d{1,5})?$/

/** What most services do. */
const PLAIN = {
  issuer: null,
  revocationUrl: null,
  deviceUrl: null,
  clientAuth: 'body',
  scopeSeparator: ' ',
  parameters: {},
  usesPkce: true,
} as const satisfies Partial<OAuthEndpoints>

export type Planned = {
  entityId: string
  plan: AuthorizationPlan
  clientId: string
  clientSecret: string | null
  resource: string | null
  /** The account that is signed in again. */
  credential: CredentialRow | null
}

type Deps = { db: Db; vault: Vault; client: Pick<OAuthClient, 'discover'>; findConnector(slug: string): Connector | null }

/**
 * What a sign-in asks for: from the request, else from the account that is signed in again, else from the catalogue. Throws AppError
 * connector_not_found, credential_not_found, invalid_request or authorization_refused.
 */
export async function planAuthorization(deps: Deps, input: CreateAuthorization): Promise<Planned> {
  const connector = input.connector === MCP_CONNECTOR && input.mcpServerId !== undefined ? null : requireConnector(deps, input.connector)
  const credential =
    input.credentialId === undefined ? null : required(findCredentialRow(deps.db, input.credentialId), 'credential_not_found')
  const isOther = credential !== null && (credential.connector !== input.connector || credential.kind !== 'oauth2')
  if (isOther) throw new AppError('credential_not_found')
  const secret = credential === null ? null : await readCredentialSecret(deps.vault, credential.id)
  const fields = fieldsOf(input, connector, credential)
  const endpoints = await sourceOf(deps, input.endpoints, connector, { credential, fields })
  const before = secret?.kind === 'tokens' ? secret : null
  const hosts =
    connector === null || isGeneral(connector)
      ? (givenHosts(deps.db, input, connector) ?? credential?.hosts ?? [])
      : connector.hosts.map((host) => fillIn(host, connector, fields).toLowerCase())
  refuseUnless(hosts.length > 0 && hosts.every((host) => HOST.test(host)), 'hosts', 'oauth_hosts')
  const clientId = input.clientId ?? before?.clientId
  refuseUnless(clientId !== undefined, 'clientId', 'oauth_client_missing')
  // A new client has no secret unless it is given, and the former secret goes to no other service.
  const keepsSecret = before !== null && clientId === before.clientId && isGivenFor(before, { hosts: [], endpoints })
  const presets = connector?.scopes.filter(({ preset }) => preset).map(({ scope }) => scope)
  return {
    entityId: credential?.entityId ?? findDefaultEntity(deps.db).id,
    plan: {
      name: input.name ?? credential?.name ?? (connector === null ? input.connector : nameFor(connector, hosts)),
      endpoints: requireSafe(endpoints),
      scopes: [...new Set(input.scopes ?? credential?.scopes ?? presets)],
      hosts,
      agents: input.agents ?? (credential === null ? [] : listGrants(deps.db, credential.id)),
    },
    clientId: clientId!,
    clientSecret: input.clientSecret ?? (keepsSecret ? before.clientSecret : null),
    resource: input.resource ?? credential?.resource ?? null,
    credential,
  }
}

/** Those of an MCP server are its own address; others are as careful as those of a key. */
function givenHosts(db: Db, { hosts }: CreateAuthorization, connector: Connector | null): string[] | undefined {
  return connector === null ? hosts : hosts && readHosts(hosts, readSettings(db).openedHosts)
}

function requireConnector({ findConnector }: Deps, slug: string): Connector {
  const connector = required(findConnector(slug), 'connector_not_found')
  refuseUnless(connector.kind === 'oauth2', 'connector', 'oauth_not_offered')
  return connector
}

async function sourceOf(
  { client }: Deps,
  given: CreateAuthorization['endpoints'],
  connector: Connector | null,
  { credential, fields }: { credential: CredentialRow | null; fields: Record<string, string> },
): Promise<TokenSource> {
  const isOwn = connector !== null && !isGeneral(connector)
  refuseUnless(given === undefined || !isOwn, 'endpoints', 'oauth_endpoints_fixed')
  const known = isOwn ? filled(connector, fields) : credential?.endpoints
  const { authorizationUrl, tokenUrl, issuer = null } = { ...known, ...given }
  if (authorizationUrl !== undefined && tokenUrl !== undefined) {
    return { ...PLAIN, namesItself: false, ...known, ...given, authorizationUrl, tokenUrl, fields }
  }
  refuseUnless(issuer !== null && URL.canParse(issuer), 'endpoints', 'oauth_endpoints_missing')
  // Whoever could change the metadata on its way would choose where tokens go.
  refuseUnless(isSafeAddress(issuer!), 'endpoints.issuer', 'oauth_address')
  const found = await client.discover(issuer!, new URL(issuer!).host)
  if ('problem' in found) throw new AppError('authorization_refused', found.problem)
  return { ...found.endpoints, ...given, fields, namesItself: found.namesItself }
}

function filled({ oauth, ...connector }: Connector, fields: Record<string, string>): OAuthEndpoints | null {
  if (oauth === null) return null
  const fill = <Address extends string | null>(address: Address) => (address === null ? address : fillIn(address, connector, fields))
  const { issuer, authorizationUrl, tokenUrl, revocationUrl, deviceUrl } = oauth
  return {
    ...oauth,
    issuer: fill(issuer),
    authorizationUrl: fill(authorizationUrl),
    tokenUrl: fill(tokenUrl),
    revocationUrl: fill(revocationUrl),
    deviceUrl: fill(deviceUrl),
  }
}

function fieldsOf(
  { fields: given }: Pick<CreateAuthorization, 'fields'>,
  connector: Connector | null,
  credential: CredentialRow | null,
): Record<string, string> {
  const fields = given ?? credential?.endpoints?.fields ?? {}
  const names = new Set(connector?.fields.map(({ name }) => name))
  for (const [name, value] of Object.entries(fields)) refuseUnless(names.has(name) && FIELD.test(value), `fields.${name}`, 'oauth_field')
  return fields
}

function listGrants(db: Db, credentialId: string) {
  const credential = listCredentials(db).find(({ id }) => id === credentialId)
  return credential?.agents.map(({ agentId, access }) => ({ agentId, access })) ?? []
}

type FieldProblem =
  | 'oauth_hosts'
  | 'oauth_client_missing'
  | 'oauth_not_offered'
  | 'oauth_endpoints_fixed'
  | 'oauth_endpoints_missing'
  | 'oauth_field'
  | 'oauth_address'

function refuseUnless(isFine: boolean, path: string, code: FieldProblem): void {
  if (!isFine) throw invalidAt(path, createMessage(code))
}
