import { z } from 'zod'

/** A text in each language of the app, beside the data that it is about. */
export const LocalText = z.object({ en: z.string().min(1), de: z.string().min(1) })
export type LocalText = z.infer<typeof LocalText>

export const CredentialKind = z.enum(['oauth2', 'api_key', 'basic', 'header'])
export type CredentialKind = z.infer<typeof CredentialKind>

/** One permission that a service offers. */
export const ConnectorScope = z.object({
  /** As the service spells it. */
  scope: z.string().min(1),
  /** What an agent may do with it, in plain words. */
  words: LocalText,
  access: z.enum(['read', 'write']),
  /** Asked for unless the person takes it away. */
  preset: z.boolean(),
})

/** How a service signs people in. `{domain}` in an address is a field of the connector, which the person fills in. */
export const OAuthEndpoints = z.object({
  /** For providers with metadata (RFC 8414 or OpenID). null: the addresses below count. */
  issuer: z.string().nullable(),
  authorizationUrl: z.string(),
  tokenUrl: z.string(),
  revocationUrl: z.string().nullable(),
  /** The address of the device flow (RFC 8628). */
  deviceUrl: z.string().nullable(),
  /** How the client authenticates at the token address. */
  clientAuth: z.enum(['basic', 'body', 'none']),
  scopeSeparator: z.enum([' ', ',']),
  /** Further fixed parameters of the authorization request (`access_type: offline`). */
  parameters: z.record(z.string(), z.string()),
  usesPkce: z.boolean(),
})
export type OAuthEndpoints = z.infer<typeof OAuthEndpoints>

/** The request that proves a credential and names its account. `name`: the path of fields in the JSON response. */
export const AccountCall = z.object({
  method: z.enum(['GET', 'POST']),
  url: z.string(),
  body: z.string().nullable(),
  name: z.array(z.string()).min(1),
})
export type AccountCall = z.infer<typeof AccountCall>

/** Which calls change nothing. All others are writes. */
export const ReadCalls = z.object({
  /** GET and HEAD. false for a service whose GET requests may write. */
  get: z.boolean(),
  /** Further ones: `POST /v1/search`. `*` is one segment of the path. */
  calls: z.array(z.string().regex(/^(GET|POST) \/\S*$/)),
  /** Paths of a GraphQL API. A POST of a query without a mutation reads. */
  graphql: z.array(z.string().startsWith('/')),
})
export type ReadCalls = z.infer<typeof ReadCalls>

/** A part of the addresses that the person fills in. */
export const ConnectorField = z.object({
  name: z.string().regex(/^[a-z]+$/),
  label: LocalText,
  /** Filled in at first. */
  preset: z.string(),
})

export const Connector = z.object({
  slug: z.string().regex(/^[a-z][a-z0-9-]{1,40}$/),
  name: z.string().min(1),
  /** null: the name is the same in every language. */
  localName: LocalText.nullable().default(null),
  /** What an agent can do with it, in one sentence. */
  description: LocalText,
  category: z.enum(['code', 'mail', 'files', 'chat', 'notes', 'tasks', 'sales', 'music', 'other']),
  /** An SVG path in a square of 24 units, and the brand's colour. */
  logo: z.object({ path: z.string().min(1), color: z.string().regex(/^#[0-9a-f]{6}$/i) }),
  /** The way that is offered first. With `oauth2`, a key is accepted as well if there is a `keyHeader`. */
  kind: CredentialKind,
  /** The only hosts that the credential is sent to. `*.example.com` is one label. Empty: the person names them. */
  hosts: z.array(z.string()),
  /** Parts of the addresses and hosts. */
  fields: z.array(ConnectorField).default([]),
  /** Where its API is described, for people and agents. */
  docsUrl: z.string().nullable(),
  /** Sent with every call unless the call has its own (`Notion-Version`). */
  headers: z.record(z.string(), z.string()).default({}),
  reads: ReadCalls.default({ get: true, calls: [], graphql: [] }),
  oauth: OAuthEndpoints.nullable(),
  scopes: z.array(ConnectorScope),
  account: AccountCall.nullable(),
  /** How to get a client id, or the key if there is no `oauth`, step by step. `{redirectUri}` is filled in. */
  steps: z.array(LocalText),
  /** Where the first step leads. */
  setUpUrl: z.string().nullable(),
  /** How a key is sent: `Authorization`, `Bearer {key}`. */
  keyHeader: z.object({ name: z.string(), value: z.string() }).nullable(),
  /** With `oauth` and a `keyHeader`: how to get a key instead, which needs no client id. */
  keySteps: z.array(LocalText).default([]),
  keyUrl: z.string().nullable().default(null),
})
export type Connector = z.infer<typeof Connector>

/** `redirectUri`: what a sign-in sends, to be registered at the service. null: nobody signs in there. */
export const ListedConnector = Connector.extend({ redirectUri: z.string().nullable() })
export type ListedConnector = z.infer<typeof ListedConnector>
