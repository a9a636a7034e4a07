import { z } from 'zod'
import { Authorization, CreateAuthorization } from '../credentials.ts'
import { AcceptMcpTools, CreateMcpServer, McpLogLine, McpServer, McpToolUse, UpdateMcpServer } from '../mcp.ts'
import { ImportMcpServers, MAX_PASTE_CHARS, McpDrafts, McpImport } from '../mcp-drafts.ts'
import { Message } from '../messages.ts'
import { Id, NextCursor, ShortListQuery } from '../primitives.ts'
import { del, get, Nothing, patch, post } from './route.ts'

const serverParams = z.object({ mcpServerId: Id })
const oneServer = z.object({ server: McpServer })

export const mcpRoutes = {
  listMcpServers: get('/api/mcp-servers', {
    reach: 'workspace',
    summary: 'MCP servers with their tools and the agents that use them, in the order in which they were added.',
    query: ShortListQuery.extend({ agentId: Id.optional() }),
    answer: z.object({ servers: z.array(McpServer), nextCursor: NextCursor }),
    shows: ['mcp_servers'],
  }),
  getMcpToolUse: get('/api/agents/:agentId/mcp-tools', {
    reach: 'workspace',
    summary: 'What the tools of MCP servers cost an agent, and whether it gets all of them at once or finds them by words.',
    params: z.object({ agentId: Id }),
    answer: McpToolUse,
    errors: ['agent_not_found'],
    shows: ['mcp_servers', 'agents'],
  }),
  createMcpServer: post('/api/mcp-servers', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Add an MCP server. It is not started, and no agent has its tools before they are accepted.',
    body: CreateMcpServer,
    status: 201,
    answer: oneServer,
    errors: ['credential_not_found', 'entity_not_found', 'agent_not_found', 'folder_not_usable', 'vault_unavailable'],
  }),
  getMcpServer: get('/api/mcp-servers/:mcpServerId', {
    reach: 'workspace',
    summary: 'One MCP server.',
    params: serverParams,
    answer: oneServer,
    errors: ['mcp_server_not_found'],
    shows: ['mcp_servers'],
  }),
  updateMcpServer: patch('/api/mcp-servers/:mcpServerId', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Change an MCP server, or which agents use it. Another program or address loses its accepted tools.',
    params: serverParams,
    body: UpdateMcpServer,
    answer: oneServer,
    errors: ['credential_not_found', 'mcp_server_not_found', 'agent_not_found', 'folder_not_usable', 'vault_unavailable'],
  }),
  deleteMcpServer: del('/api/mcp-servers/:mcpServerId', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Stop and remove an MCP server with its secrets.',
    params: serverParams,
    answer: Nothing,
    errors: ['mcp_server_not_found', 'vault_unavailable'],
  }),
  readMcpPaste: post('/api/mcp-servers/read-paste', {
    reach: 'machine',
    ownerOnly: true,
    summary:
      'The MCP servers in what a person pasted: an address, a command line, or JSON of another program. Nothing is added or started.',
    body: z.object({ text: z.string().trim().min(1).max(MAX_PASTE_CHARS) }),
    answer: McpDrafts,
  }),
  listMcpImports: get('/api/mcp-imports', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'The MCP servers that other programs of this machine have, without the values of variables and headers.',
    answer: z.object({ found: z.array(McpImport) }),
    shows: ['mcp_servers'],
  }),
  importMcpServers: post('/api/mcp-imports', {
    reach: 'machine',
    ownerOnly: true,
    summary:
      'Add servers of other programs, with their values in the vault. The files stay as they are. Refused if one has changed since it was listed.',
    body: ImportMcpServers,
    status: 201,
    answer: z.object({ servers: z.array(McpServer) }),
    errors: ['mcp_import_changed', 'agent_not_found', 'vault_unavailable'],
  }),
  searchMcpRegistry: get('/api/mcp-registry', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Search the official registry of MCP servers. What it says is untrusted text.',
    query: z.object({ q: z.string().trim().min(1).max(200), cursor: z.string().min(1).max(500).optional() }),
    answer: McpDrafts.extend({ nextCursor: z.string().nullable() }),
    errors: ['mcp_registry_unreachable'],
  }),
  signInToMcpServer: post('/api/mcp-servers/:mcpServerId/sign-in', {
    reach: 'machine',
    ownerOnly: true,
    summary:
      'Prepare a sign-in at an MCP server: finds out where, and registers Deckhand there unless a client ID is given. Then as for any sign-in.',
    params: serverParams,
    body: CreateAuthorization.pick({ clientId: true, clientSecret: true }),
    status: 201,
    answer: z.object({ authorization: Authorization }),
    errors: ['mcp_server_not_found', 'authorization_refused', 'vault_unavailable'],
  }),
  testMcpServer: post('/api/mcp-servers/:mcpServerId/test', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Start or reach a server, and read its tools.',
    params: serverParams,
    answer: z.object({ ok: z.boolean(), message: Message.nullable(), server: McpServer }),
    errors: ['mcp_server_not_found'],
  }),
  readMcpServerLog: get('/api/mcp-servers/:mcpServerId/log', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'What a server wrote to its error output, and what happened to it.',
    params: serverParams,
    answer: z.object({ lines: z.array(McpLogLine) }),
    errors: ['mcp_server_not_found'],
    shows: ['mcp_servers'],
  }),
  acceptMcpTools: post('/api/mcp-servers/:mcpServerId/tools', {
    reach: 'machine',
    ownerOnly: true,
    summary: 'Accept tools as they were shown, and say what they do. Refused if one has changed meanwhile.',
    params: serverParams,
    body: AcceptMcpTools,
    answer: oneServer,
    errors: ['mcp_server_not_found', 'mcp_tool_changed'],
  }),
}
