import { z } from 'zod'
import { CreateMcpServer, EnvName, HeaderName, McpTransport } from './mcp.ts'
import { Message } from './messages.ts'
import { Name } from './primitives.ts'

/** A variable of the environment, or a header, that a server is to get. */
export const McpDraftValue = z.object({
  place: z.enum(['env', 'header']),
  name: z.union([EnvName, HeaderName]),
  /** null: the person enters it, or it is not shown. */
  value: z.string().max(20_000).nullable(),
  /** What it is, as the source says. Untrusted text. */
  description: z.string().max(1000).nullable(),
  isRequired: z.boolean(),
})
export type McpDraftValue = z.infer<typeof McpDraftValue>

/** An MCP server that was read somewhere and is not added yet. All of its texts are untrusted. */
export const McpDraft = z.object({
  name: Name,
  description: z.string().max(1000).nullable(),
  /** Exactly what would be started or called. */
  transport: McpTransport,
  values: z.array(McpDraftValue).max(100),
  /** What the person should know before adding it. */
  notes: z.array(Message),
})
export type McpDraft = z.infer<typeof McpDraft>

/** An entry that cannot be used, and why. */
export const SkippedMcpDraft = z.object({ name: z.string(), problem: Message })
export type SkippedMcpDraft = z.infer<typeof SkippedMcpDraft>

export const McpDrafts = z.object({ servers: z.array(McpDraft), skipped: z.array(SkippedMcpDraft) })
export type McpDrafts = z.infer<typeof McpDrafts>

export const MAX_PASTE_CHARS = 100_000

/** A program of this machine whose MCP servers can be taken over. */
export const McpImportApp = z.enum(['claude_desktop', 'claude_code', 'cursor', 'vscode', 'goose'])
export type McpImportApp = z.infer<typeof McpImportApp>

export const McpImport = z.object({
  app: McpImportApp,
  path: z.string(),
  /** The values are not shown. `id`: names the server as it is in the file now. */
  servers: z.array(McpDraft.extend({ id: z.string(), /** An equal server was added before. */ isAdded: z.boolean() })),
  skipped: z.array(SkippedMcpDraft),
  /** Why the file cannot be read. */
  problem: Message.nullable(),
})
export type McpImport = z.infer<typeof McpImport>

export const ImportMcpServers = z.object({
  /** Ids of servers, as they were listed. */
  chosen: z.array(z.string().length(64)).min(1).max(100),
  /** The agents that may use them, once their tools are accepted. */
  agents: CreateMcpServer.shape.agents,
})
export type ImportMcpServers = z.infer<typeof ImportMcpServers>
