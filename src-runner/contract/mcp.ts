import { z } from 'zod'
import { Folder } from './agents.ts'
import { Message } from './messages.ts'
import { Id, Moment, Name } from './primitives.ts'

/** The name of an environment variable. */
export const EnvName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
/** The name of a header of HTTP. */
export const HeaderName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/)
/** The value of either. */
const Secret = z.string().max(20_000)

/** A host that a program may reach: `api.example.com`, or `*` for every host of the internet. */
const HostName = z
  .string()
  .max(253)
  .regex(/^(\*|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)$/i)

const Program = z.object({
  kind: z.literal('stdio'),
  /** A name that is looked up in the folders of programs, or an absolute path. There is no shell. */
  command: z.string().trim().min(1).max(4096),
  args: z.array(z.string().max(10_000)).max(200).default([]),
  /** Their values are in the vault. */
  envNames: z.array(EnvName).max(100).default([]),
  /** Folders of the person in which it may read and write. */
  folders: z.array(Folder).max(50).default([]),
  /** Empty: it has no network. */
  hosts: z.array(HostName).max(100).default([]),
  /** The person allows it to run without a sandbox on a machine that has none. */
  allowsUnsandboxed: z.boolean().default(false),
})

const Remote = z.object({
  /** `sse`: the older protocol of remote servers. */
  kind: z.enum(['http', 'sse']),
  url: z.string().trim().min(1).max(4096),
  /** Their values are in the vault. */
  headerNames: z.array(HeaderName).max(100).default([]),
  /** The account with which it is called. */
  credentialId: Id.nullable().default(null),
})

export const McpTransport = z.discriminatedUnion('kind', [Program, Remote])
export type McpTransport = z.infer<typeof McpTransport>

/**
 * read: changes nothing. idempotent: acts, and may be repeated. once: must not be repeated. The person decides; what a server
 * says about its tools only makes the proposal.
 */
export const McpToolEffect = z.enum(['read', 'idempotent', 'once'])
export type McpToolEffect = z.infer<typeof McpToolEffect>

/**
 * new: nobody has decided, so no agent has it. changed: it is not as it was accepted, so no agent has it until it is accepted
 * again. gone: the server no longer has it.
 */
export const McpToolStatus = z.enum(['new', 'accepted', 'changed', 'gone'])

export const McpInputSchema = z.record(z.string(), z.unknown())

export const McpTool = z.object({
  /** As the server calls it. */
  name: z.string(),
  /** As agents and rules call it: `slug__name`. */
  agentName: z.string(),
  title: z.string().nullable(),
  description: z.string(),
  inputSchema: McpInputSchema,
  /** The digest of name, description and schema. Accepting names it, so that nothing is accepted that was not shown. */
  digest: z.string(),
  /** null: nobody has decided. */
  effect: McpToolEffect.nullable(),
  proposal: McpToolEffect,
  status: McpToolStatus,
  /** Why it cannot be accepted. null: it can. */
  problem: Message.nullable(),
  /** What was accepted before, if it has changed since. */
  accepted: z.object({ description: z.string(), inputSchema: McpInputSchema }).nullable(),
  /** About how many tokens its description costs in each turn. */
  tokens: z.number().int(),
})
export type McpTool = z.infer<typeof McpTool>

/** null: all accepted tools. */
const GrantedTools = z.array(z.string().min(1).max(256)).max(1000).nullable()

export const McpServerStatus = z.enum(['off', 'stopped', 'starting', 'running', 'failing', 'needs_sign_in'])

export const McpServer = z.object({
  id: Id,
  entityId: Id,
  name: Name,
  /** The names of its tools begin with it. */
  slug: z.string(),
  transport: McpTransport,
  enabled: z.boolean(),
  /** The server may ask the model of the job that calls it. */
  mayAskModel: z.boolean(),
  /** stopped: it starts when it is needed. */
  status: McpServerStatus,
  problem: Message.nullable(),
  /** null: not a program of this machine, or not known before it has run. */
  sandboxed: z.boolean().nullable(),
  /** What the server calls itself, with its version. */
  version: z.string().nullable(),
  tools: z.array(McpTool),
  agents: z.array(
    z.object({ agentId: Id, agentName: z.string(), tools: GrantedTools, /** What its tools add to each turn. */ tokens: z.number().int() }),
  ),
  lastUsedAt: Moment.nullable(),
  createdAt: Moment,
})
export type McpServer = z.infer<typeof McpServer>

const grants = z.array(z.object({ agentId: Id, tools: GrantedTools.default(null) })).max(1000)

/** Values are stored in the vault and never returned. */
const secrets = {
  env: z.record(EnvName, Secret).optional(),
  headers: z.record(HeaderName, Secret).optional(),
}

export const CreateMcpServer = z.object({
  entityId: Id.optional(),
  /** Default: from its address or command. */
  name: Name.optional(),
  transport: McpTransport,
  ...secrets,
  agents: grants.default([]),
})
export type CreateMcpServer = z.infer<typeof CreateMcpServer>

/** A name that is left out of `envNames` or `headerNames` loses its value; one without a new value keeps its own. */
export const UpdateMcpServer = z
  .object({ name: Name, transport: McpTransport, ...secrets, enabled: z.boolean(), mayAskModel: z.boolean(), agents: grants })
  .partial()
export type UpdateMcpServer = z.infer<typeof UpdateMcpServer>

/** null: takes the tool away from all agents. */
export const AcceptMcpTools = z.object({
  tools: z
    .array(z.object({ name: z.string().min(1).max(256), digest: z.string().length(64), effect: McpToolEffect.nullable() }))
    .min(1)
    .max(1000),
})
export type AcceptMcpTools = z.infer<typeof AcceptMcpTools>

/** What a server wrote to its error output, and what Deckhand notes about it. In memory, and only the last lines. */
export const McpLogLine = z.object({ at: Moment, text: z.string() })

/** How an agent gets its tools of MCP servers, as decided for its next job. */
export const McpToolUse = z.object({
  /** Its prompt has only their names, and it adds tools by a search. */
  onDemand: z.boolean(),
  tools: z.number().int(),
  /** The tokens of all descriptions. */
  tokens: z.number().int(),
  /** In each turn, before any tool was found. */
  tokensPerTurn: z.number().int(),
})
export type McpToolUse = z.infer<typeof McpToolUse>
