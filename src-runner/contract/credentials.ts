import { z } from 'zod'
import { CredentialKind, OAuthEndpoints } from './connectors.ts'
import { Message } from './messages.ts'
import { Id, Moment, Name } from './primitives.ts'

/** write: everything that the account may do. */
export const CredentialAccess = z.enum(['read', 'write'])
export type CredentialAccess = z.infer<typeof CredentialAccess>

/** An agent that may use an account. Others do not know that it exists. */
export const CredentialGrant = z.object({ agentId: Id, access: CredentialAccess })
export type CredentialGrant = z.infer<typeof CredentialGrant>

/** needs_sign_in: the service refuses it, so a person must sign in again or enter another key. */
export const CredentialStatus = z.enum(['connected', 'needs_sign_in'])
export type CredentialStatus = z.infer<typeof CredentialStatus>

/** An account at a service. Its tokens, keys and passwords are in the vault and never returned. */
export const Credential = z.object({
  id: Id,
  entityId: Id,
  /** The slug of its connector. */
  connector: z.string(),
  kind: CredentialKind,
  name: Name,
  /** As the service names the account. null: it does not say. */
  accountName: z.string().nullable(),
  /** The only hosts that it is sent to. `*.example.com`: one label. */
  hosts: z.array(z.string()),
  /** As the service spells them. */
  scopes: z.array(z.string()),
  status: CredentialStatus,
  problem: Message.nullable(),
  /** When the access token expires; null: never, or the service does not say. */
  expiresAt: Moment.nullable(),
  /** Deckhand gets the next access token without a person. */
  renews: z.boolean(),
  /** Exact to a minute. */
  lastUsedAt: Moment.nullable(),
  createdAt: Moment,
  /** The MCP server that it signs in to. null: agents use it themselves. */
  mcpServerId: Id.nullable(),
  agents: z.array(CredentialGrant.extend({ agentName: z.string() })),
})
export type Credential = z.infer<typeof Credential>

export const CredentialGrants = z.array(CredentialGrant).max(200)

export const UpdateCredential = z.object({ name: Name, agents: CredentialGrants }).partial()
export type UpdateCredential = z.infer<typeof UpdateCredential>

/** How a service signs a person in: in a browser, or by a code that they type on another device (RFC 8628). */
export const AuthorizationMethod = z.enum(['browser', 'device'])
export type AuthorizationMethod = z.infer<typeof AuthorizationMethod>

export const AuthorizationStatus = z.enum(['waiting', 'connected', 'failed', 'cancelled', 'expired'])
export type AuthorizationStatus = z.infer<typeof AuthorizationStatus>

/** How long a sign-in may take. */
export const AUTHORIZATION_LIVES_MS = 10 * 60_000

/** One sign-in at a service, from the click to its end. */
export const Authorization = z.object({
  id: Id,
  connector: z.string(),
  method: AuthorizationMethod,
  status: AuthorizationStatus,
  problem: Message.nullable(),
  /** The address to register at the service. */
  redirectUri: z.string(),
  /** What to type where. null: this is a sign-in in a browser. */
  device: z.object({ userCode: z.string(), verificationUrl: z.string() }).nullable(),
  credentialId: Id.nullable(),
  mcpServerId: Id.nullable(),
  createdAt: Moment,
  expiresAt: Moment,
})
export type Authorization = z.infer<typeof Authorization>

/** Printable ASCII, as RFC 6749 defines both. A line break would end a header. */
const Client = z
  .string()
  .trim()
  .min(1)
  .max(2000)
  .regex(/^[\x20-\x7e]+$/)
const Host = z.string().trim().min(1).max(300)
/** More or longer ones are not kept. */
export const MAX_SCOPES = 100
export const MAX_SCOPE_CHARS = 300

const Scope = z
  .string()
  .trim()
  .min(1)
  .max(MAX_SCOPE_CHARS)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/)

export const CreateAuthorization = z.object({
  /** The slug of a connector; `generic-oauth2` for any other service, whose addresses are in `endpoints`. */
  connector: z.string().min(1).max(60),
  /** The name of `generic-oauth2` in the redirect address. Default: `oauth2`. */
  redirectAs: z.enum(['oauth2', 'generic-oauth2']).optional(),
  /** Signs this account in again. What is left out stays as it was. */
  credentialId: Id.optional(),
  method: AuthorizationMethod.default('browser'),
  clientId: Client.optional(),
  /** Stored in the vault and never returned. */
  clientSecret: Client.optional(),
  scopes: z.array(Scope).max(MAX_SCOPES).optional(),
  endpoints: OAuthEndpoints.partial().optional(),
  hosts: z.array(Host).max(20).optional(),
  /** Values for the `{…}` in the connector's addresses. */
  fields: z.record(z.string().regex(/^\w{1,40}$/), z.string().trim().min(1).max(300)).optional(),
  name: Name.optional(),
  agents: CredentialGrants.optional(),
  /** Signs in to this MCP server. */
  mcpServerId: Id.optional(),
  /** The resource that the token is for (RFC 8707). */
  resource: z.url().max(2000).optional(),
})
export type CreateAuthorization = z.infer<typeof CreateAuthorization>

/** No control character, which would end a header. */
const Secret = z
  .string()
  .trim()
  .min(1)
  .max(8192)
  .regex(/^\P{Cc}+$/u)
/** Sent in a header as it is. */
const HeaderSecret = Secret.regex(/^[\x20-\x7e]+$/)
const HeaderName = z
  .string()
  .trim()
  .max(100)
  .regex(/^[\w!#$%&'*+.^`|~-]+$/)

/** What a person enters for an account that is not connected by signing in. */
export const CredentialKey = z.union([
  z.strictObject({ key: HeaderSecret }),
  z.strictObject({
    username: z
      .string()
      .trim()
      .max(500)
      .regex(/^[^:\p{Cc}]*$/u),
    password: Secret,
  }),
  z.strictObject({ header: HeaderName, value: HeaderSecret }),
])
export type CredentialKey = z.infer<typeof CredentialKey>

export const CreateCredential = z.object({
  /** The slug of a connector that takes a key, a password or a header. */
  connector: z.string().min(1).max(60),
  /** Gives this account a new key. What is left out stays as it was. */
  credentialId: Id.optional(),
  entityId: Id.optional(),
  /** Default: the name of the connector. */
  name: Name.optional(),
  /** Where the key may be sent, for a connector without hosts of its own. */
  hosts: z.array(Host).min(1).max(20).optional(),
  /** Values for the `{…}` in the connector's addresses. */
  fields: z.record(z.string().regex(/^\w{1,40}$/), z.string().trim().min(1).max(300)).optional(),
  /** Stored in the vault and never returned. */
  secret: CredentialKey,
  agents: CredentialGrants.optional(),
})
export type CreateCredential = z.infer<typeof CreateCredential>
