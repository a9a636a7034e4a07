import { findToolsTool } from '../agent/tools/find-tools/find-tools.ts'
import { readResult } from '../agent/tools/read-result/read-result.ts'
import type { Tool } from '../agent/tools/tool.ts'
import { CODE_RULE_TOOLS } from './coding/code-rule-tools.ts'
import type { AgentMcpTools } from './mcp/agent-mcp-tools.ts'

export type KnownToolsDeps = {
  /** The built-in ones. */
  tools: () => readonly Tool[]
  mcpTools: Pick<AgentMcpTools, 'listAccepted'>
}

/** Jobs with tools of MCP servers have them too. */
const BESIDE_MCP_TOOLS: readonly Tool[] = [readResult, findToolsTool([], () => new Set())]

/** Every tool that a rule can name, as far as a workspace knows it. null: of all workspaces. */
export async function listKnownTools({ tools, mcpTools }: KnownToolsDeps, entityId: string | null): Promise<Tool[]> {
  return [...tools(), ...CODE_RULE_TOOLS, ...BESIDE_MCP_TOOLS, ...(await mcpTools.listAccepted(entityId))]
}
