import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { McpServer, McpToolEffect } from '../../contract/mcp.ts'
import type { TestRunner } from '../create-test-runner.ts'

export type HostileServer = {
  server: McpServer
  folder: string
  /** The calls that reached it: `send {"to":"bo"}`. */
  calls(): string[]
  test(): Promise<{ ok: boolean; server: McpServer; message: { code: string; params: Record<string, unknown> } | null }>
  /** Accepts these tools as the server lists them now. */
  accept(effects: Record<string, McpToolEffect>): Promise<void>
}

export type HostileServerOptions = {
  agentIds?: readonly string[]
  modes?: readonly string[]
  hosts?: string[]
  name?: string
  env?: Record<string, string>
}

/** Adds the program beside this file as a server that runs in the sandbox, in a folder of its own. */
export async function addHostileServer(
  runner: TestRunner,
  { agentIds = [], modes = [], hosts = [], name = 'Hostile', env = {} }: HostileServerOptions = {},
): Promise<HostileServer> {
  const folder = runner.makeFolder()
  copyFileSync(join(import.meta.dirname, 'stdio-server.mjs'), join(folder, 'server.mjs'))
  const transport = { kind: 'stdio' as const, command: 'node', args: [join(folder, 'server.mjs'), ...modes], folders: [folder], hosts }
  const agents = agentIds.map((agentId) => ({ agentId }))
  const { server } = await runner.client.ok('createMcpServer', { body: { name, transport, agents, env } })
  const params = { mcpServerId: server.id }
  const test = () => runner.client.ok('testMcpServer', { params })
  return {
    server,
    folder,
    calls: () => (existsSync(join(folder, 'calls.log')) ? readFileSync(join(folder, 'calls.log'), 'utf8').trim().split('\n') : []),
    test: test,
    async accept(effects) {
      const { server: found } = await test()
      const tools = Object.entries(effects).map(([tool, effect]) => {
        return { name: tool, effect, digest: found.tools.find((one) => one.name === tool)!.digest }
      })
      await runner.client.ok('acceptMcpTools', { params, body: { tools } })
    },
  }
}
