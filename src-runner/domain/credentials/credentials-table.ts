import { blob, index, integer, primaryKey, text, sqliteTable } from 'drizzle-orm/sqlite-core'
import { z } from 'zod'
import { checks, flag, idOf, indexWhere, json, jsonArray, jsonObject, moment, oneOf, uniqueWhere } from '../../platform/db/column-types.ts'
import { CredentialKind, OAuthEndpoints } from '../../contract/connectors.ts'
import {
  AuthorizationMethod,
  AuthorizationStatus,
  CredentialAccess,
  CredentialGrants,
  CredentialStatus,
} from '../../contract/credentials.ts'
import { agents } from '../agents/agents-table.ts'
import { entities } from '../entities/entities-table.ts'

/** How tokens are gotten, complete: the fields are filled in. */
export const TokenSource = OAuthEndpoints.extend({
  fields: z.record(z.string(), z.string()).default({}),
  /** It names itself in its answers (RFC 9207), so one without its name is refused. */
  namesItself: z.boolean().default(false),
})
export type TokenSource = z.infer<typeof TokenSource>

export const credentials = sqliteTable(
  'credentials',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    entityId: idOf('entity_id', () => entities.id),
    connector: text('connector').notNull(),
    kind: oneOf('kind', CredentialKind.options).notNull(),
    name: text('name').notNull(),
    accountName: text('account_name'),
    hosts: jsonArray('hosts', z.array(z.string())).notNull(),
    scopes: jsonArray('scopes', z.array(z.string())).notNull(),
    // null: it has no tokens.
    endpoints: jsonObject('endpoints', TokenSource),
    // The MCP server that it signs in to, and the resource that its tokens are for (RFC 8707).
    mcpServerId: text('mcp_server_id'),
    resource: text('resource'),
    status: oneOf('status', CredentialStatus.options).notNull(),
    problem: text('problem').notNull(),
    statusSince: moment('status_since').notNull(),
    expiresAt: moment('expires_at'),
    renews: flag('renews').notNull(),
    lastUsedAt: moment('last_used_at'),
    createdAt: moment('created_at').notNull(),
  },
  (t) => [
    ...checks(t, "(kind = 'oauth2') = (endpoints IS NOT NULL)", "kind = 'oauth2' OR (expires_at IS NULL AND renews = 0)"),
    index('credentials_by_entity').on(t.entityId, t.seq),
    uniqueWhere('credentials_one_per_mcp_server', [t.mcpServerId], 'mcp_server_id IS NOT NULL'),
    indexWhere('credentials_needing_sign_in', [t.statusSince], "status = 'needs_sign_in'"),
  ],
)

export const credentialGrants = sqliteTable(
  'credential_grants',
  {
    credentialId: idOf('credential_id', () => credentials.id, { onDelete: 'cascade' }),
    agentId: idOf('agent_id', () => agents.id),
    access: oneOf('access', CredentialAccess.options).notNull(),
  },
  (t) => [...checks(t), primaryKey({ columns: [t.credentialId, t.agentId] }), index('credential_grants_by_agent').on(t.agentId)],
)

/** What a sign-in asks for, without its secrets. */
export const AuthorizationPlan = z.object({
  name: z.string(),
  endpoints: TokenSource,
  scopes: z.array(z.string()),
  hosts: z.array(z.string()),
  agents: CredentialGrants,
})
export type AuthorizationPlan = z.infer<typeof AuthorizationPlan>

export const authorizations = sqliteTable(
  'authorizations',
  {
    id: text('id').primaryKey(),
    entityId: idOf('entity_id', () => entities.id),
    connector: text('connector').notNull(),
    method: oneOf('method', AuthorizationMethod.options).notNull(),
    // begun: a browser was sent to the service. exchanging: its answer is being exchanged, so no other one counts.
    status: oneOf('status', ['begun', 'exchanging', ...AuthorizationStatus.options]).notNull(),
    problem: text('problem').notNull(),
    plan: json('plan', AuthorizationPlan).notNull(),
    redirectUri: text('redirect_uri').notNull(),
    // SHA-256 of the state and of the session that it belongs to. null: not begun.
    stateDigest: blob('state_digest', { mode: 'buffer' }).unique(),
    sessionDigest: blob('session_digest', { mode: 'buffer' }),
    // Device flow.
    userCode: text('user_code'),
    verificationUrl: text('verification_url'),
    pollIntervalMs: integer('poll_interval_ms'),
    nextPollAt: moment('next_poll_at'),
    // The account that it signs in again, or created.
    credentialId: text('credential_id').references(() => credentials.id, { onDelete: 'set null' }),
    mcpServerId: text('mcp_server_id'),
    resource: text('resource'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (t) => [
    ...checks(t, 'length(state_digest) = 32', 'length(session_digest) = 32', '(state_digest IS NULL) = (session_digest IS NULL)'),
    indexWhere('authorizations_by_credential', [t.credentialId], 'credential_id IS NOT NULL'),
    index('authorizations_by_expiry').on(t.expiresAt),
    indexWhere('authorizations_open', [t.expiresAt], "status IN ('waiting', 'begun', 'exchanging')"),
  ],
)
