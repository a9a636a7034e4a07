import type { Database } from '../../platform/db/database.ts'
import type { SandboxState } from '../../platform/sandbox/sandbox-types.ts'
import type { McpTransport } from '../../contract/mcp.ts'
import { memoize } from '../../lib/memoize.ts'
import { findConnectableServer } from '../../domain/mcp/mcp-servers.ts'
import { isOffered, listToolsOfAgent, type AgentMcpTool } from '../../domain/mcp/mcp-tools.ts'
import { createArgsChecker } from '../../agent/mcp/check-args.ts'
import { createServerTool, type CallResult, type ServerReach } from '../../agent/mcp/server-tool.ts'
import type { Tool, ToolContext } from '../../agent/tools/tool.ts'
import type { CallProgress } from '../../agent/mcp/connect-server.ts'
import type { McpPool } from './mcp-pool.ts'

export type AgentMcpToolsDeps = { db: Database; pool: McpPool; sandbox: () => Promise<SandboxState> }

/** The tools of MCP servers that an agent may use, as its person accepted them. No server is started. */
export function createAgentMcpTools({ db, pool, sandbox }: AgentMcpToolsDeps): (agentId: string) => Promise<Tool[]> {
  const loadChecker = memoize(createArgsChecker)

  async function reach(serverId: string): Promise<ServerReach> {
    const transport = findConnectableServer(db, serverId)?.transport
    const isConfined = (await sandbox()).works
    return reachOf(transport, isConfined)
  }

  async function call(
    offered: AgentMcpTool,
    args: Record<string, unknown>,
    { agentId, signal }: ToolContext,
    onProgress: (progress: CallProgress) => void,
  ): Promise<CallResult> {
    return pool.use(offered.serverId, signal, async ({ connection, scrub }) => {
      // The server was connected just now, and its tools were read again.
      if (!isOffered(db, agentId, offered)) throw new Error('Not run: the person has to look at this tool again, because it has changed.')
      const asked: string[] = []
      const stopListening = pool.onElicitation(offered.serverId, async ({ message }) => {
        asked.push(message)
        return { action: 'decline' }
      })
      try {
        return { content: await connection.call(offered.name, args, { signal, onProgress }), asked, scrub }
      } finally {
        stopListening()
      }
    })
  }

  return async (agentId) => {
    const offered = listToolsOfAgent(db, agentId)
    if (offered.length === 0) return []
    const checkerFor = await loadChecker()
    return offered.map((tool) => {
      const { name, agentName, description, inputSchema, digest, effect, serverId } = tool
      return createServerTool({
        ...{ name: agentName, tool: name, description, effect },
        server: findConnectableServer(db, serverId)!.name,
        schema: { json: inputSchema, check: checkerFor(digest, inputSchema) },
        reach: () => reach(serverId),
        call: (args, context, onProgress) => call(tool, args, context, onProgress),
      })
    })
  }
}

/** A program in a sandbox reaches its folders and hosts. Everything else is assumed to reach all. */
export function reachOf(transport: McpTransport | undefined, isConfined: boolean): ServerReach {
  if (transport === undefined || transport.kind !== 'stdio') return { leavesMachine: true, overwrites: false, deletes: false }
  const { folders, hosts } = transport
  const holdsFiles = folders.length > 0 || !isConfined
  return { leavesMachine: hosts.length > 0 || !isConfined, overwrites: holdsFiles, deletes: holdsFiles }
}
