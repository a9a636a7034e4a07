import type { Database } from '../../platform/db/database.ts'
import type { SandboxState } from '../../platform/sandbox/sandbox-types.ts'
import type { McpToolUse, McpTransport } from '../../contract/mcp.ts'
import { memoize } from '../../lib/memoize.ts'
import { getAgent } from '../../domain/agents/agents.ts'
import { findConnectableServer } from '../../domain/mcp/mcp-servers.ts'
import { isOffered, listAcceptedTools, listToolsOfAgent, type AgentMcpTool } from '../../domain/mcp/mcp-tools.ts'
import { readSettings } from '../../domain/settings/settings.ts'
import { createArgsChecker } from '../../agent/mcp/check-args.ts'
import { elicit, type Elicited } from '../../agent/mcp/elicitation.ts'
import { createServerTool, type CallResult, type ServerReach } from '../../agent/mcp/server-tool.ts'
import type { ModelSource } from '../../agent/providers/model.ts'
import { maxTokensOfTools } from '../../agent/providers/prompt-size.ts'
import { findToolsTool } from '../../agent/tools/find-tools/find-tools.ts'
import { readResult } from '../../agent/tools/read-result/read-result.ts'
import { describeTool, type Tool, type ToolContext } from '../../agent/tools/tool.ts'
import type { CallProgress } from '../../agent/mcp/connect-server.ts'
import { modelsOf } from '../agent-work.ts'
import type { ParkedCalls } from '../parked-calls.ts'
import type { McpPool } from './mcp-pool.ts'
import type { SamplingModels } from './sampling.ts'

export type AgentMcpToolsDeps = {
  db: Database
  pool: McpPool
  parked: ParkedCalls<CallResult>
  sandbox: () => Promise<SandboxState>
  models: ModelSource
  sampling: Pick<SamplingModels, 'duringCall'>
}

export type AgentMcpTools = {
  /** What a job of the agent gets. No server is started. */
  toolsFor(agentId: string): Promise<Tool[]>
  /** How a job of the agent gets them now, and what they cost. Throws AppError agent_not_found. */
  readUse(agentId: string): Promise<McpToolUse>
  /** Accepted tools of a workspace, for rules. null: of all workspaces. */
  listAccepted(entityId: string | null): Promise<Tool[]>
}

/** Descriptions of this size are always all in the prompt. */
const ALWAYS_IN_PROMPT_TOKENS = 1_000
/** A turn of a long job would cost more for its tools than for its work. */
const MAX_IN_PROMPT_TOKENS = 8_000
/** The rest of the window is for the conversation. */
const SHARE_OF_WINDOW = 0.1
/** How many questions of a call the model is told that nobody has answered. */
const MAX_ASKED = 10
/** Servers of models on this machine are asked. */
const WINDOW_MS = 2_000

const NOT_TELLABLE: Elicited = {
  answer: { action: 'decline' },
  note: 'not asked, because other calls of the server were under way, and nobody can tell which of them asks. Call again later',
}

/** The tools of MCP servers that an agent may use, as its person accepted them. */
export function createAgentMcpTools({ db, pool, parked, sandbox, models, sampling }: AgentMcpToolsDeps): AgentMcpTools {
  const loadChecker = memoize(createArgsChecker)

  async function reach(serverId: string): Promise<ServerReach> {
    const transport = findConnectableServer(db, serverId)?.transport
    const isConfined = (await sandbox()).works
    return reachOf(transport, isConfined)
  }

  async function call(
    offered: AgentMcpTool,
    args: Record<string, unknown>,
    { jobId, callId, agentId, signal, show: showLine }: ToolContext,
    onProgress: (progress: CallProgress) => void,
  ): Promise<CallResult> {
    return parked.run({ jobId, callId }, signal, (own, ask) =>
      pool.use(offered.serverId, own, async ({ connection, scrub, listen }) => {
        // The server was connected just now, and its tools were read again.
        if (!isOffered(db, agentId, offered)) throw new Error('Not run: the person has to look at this tool again, because it has changed.')
        const asked: string[] = []
        const show = ({ message, ...progress }: CallProgress) =>
          onProgress({ ...progress, message: message === null ? null : scrub(message) })
        const content = await sampling.duringCall(jobId, offered.server, (askModel) => {
          listen({
            async elicit(question, isOfOneCall) {
              const { answer, note } = isOfOneCall ? await elicit(question, offered.server, ask) : NOT_TELLABLE
              if (note !== null && asked.length < MAX_ASKED) asked.push(`${question.message}: ${note}`)
              return answer
            },
            async sample(request, cancelled) {
              const { tokens, ...sampled } = await askModel(request, AbortSignal.any([own, cancelled]))
              showLine?.(`${offered.server} asked the model: ${tokens} tokens\n`)
              return sampled
            },
          })
          return connection.call(offered.name, args, { signal: own, onProgress: show })
        })
        return { content, asked, scrub }
      }),
    )
  }

  async function toolsOf(offered: readonly AgentMcpTool[], onDemand: boolean): Promise<Tool[]> {
    if (offered.length === 0) return []
    const checkerFor = await loadChecker()
    return offered.map((tool) => {
      const { name, agentName, server, description, inputSchema, digest, effect, serverId } = tool
      return createServerTool({
        name: agentName,
        tool: name,
        server,
        description,
        effect,
        onDemand,
        schema: { json: inputSchema, check: checkerFor(digest, inputSchema) },
        reach: () => reach(serverId),
        call: (args, context, onProgress) => call(tool, args, context, onProgress),
        takeSetAside: () => pool.takeSetAside(serverId),
      })
    })
  }

  async function isOnDemand(agentId: string, tokens: number): Promise<boolean> {
    if (tokens <= ALWAYS_IN_PROMPT_TOKENS || tokens > MAX_IN_PROMPT_TOKENS) return tokens > ALWAYS_IN_PROMPT_TOKENS
    const [ref] = modelsOf(getAgent(db, agentId), readSettings(db).defaultModel)
    const model = ref === undefined ? null : await models.open(ref)
    const window =
      model === null || 'failure' in model ? null : await model.readWindow?.(tokens, AbortSignal.timeout(WINDOW_MS)).catch(() => null)
    return window != null && tokens > window * SHARE_OF_WINDOW
  }

  function finder(agentId: string, offered: readonly AgentMcpTool[]): Tool {
    const findable = offered.map(({ agentName, server, title, description }) => ({ name: agentName, server, title, description }))
    const digests = new Map(offered.map(({ agentName, digest }) => [agentName, digest]))
    return findToolsTool(findable, () => {
      const now = listToolsOfAgent(db, agentId).filter(({ agentName, digest }) => digests.get(agentName) === digest)
      return new Set(now.map(({ agentName }) => agentName))
    })
  }

  return {
    async toolsFor(agentId) {
      const offered = listToolsOfAgent(db, agentId)
      const onDemand = await isOnDemand(agentId, tokensOf(offered))
      if (offered.length === 0) return []
      return [readResult, ...(onDemand ? [finder(agentId, offered)] : []), ...(await toolsOf(offered, onDemand))]
    },
    async readUse(agentId) {
      getAgent(db, agentId)
      const offered = listToolsOfAgent(db, agentId)
      const tokens = tokensOf(offered)
      const onDemand = await isOnDemand(agentId, tokens)
      const perTurn = onDemand ? maxTokensOfTools([describeTool(finder(agentId, offered))]) : tokens
      return { onDemand, tools: offered.length, tokens, tokensPerTurn: perTurn }
    },
    listAccepted: async (entityId) => toolsOf(listAcceptedTools(db, entityId), false),
  }
}

function tokensOf(tools: readonly AgentMcpTool[]): number {
  return tools.reduce((sum, { tokens }) => sum + tokens, 0)
}

/** A program in a sandbox reaches its folders and hosts. Everything else is assumed to reach all. */
export function reachOf(transport: McpTransport | undefined, isConfined: boolean): ServerReach {
  if (transport === undefined || transport.kind !== 'stdio') return { leavesMachine: true, overwrites: false, deletes: false }
  const { folders, hosts } = transport
  const holdsFiles = folders.length > 0 || !isConfined
  return { leavesMachine: hosts.length > 0 || !isConfined, overwrites: holdsFiles, deletes: holdsFiles }
}
