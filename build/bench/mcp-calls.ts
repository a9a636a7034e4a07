import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { copyFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { McpTransport } from '../../src-runner/contract/mcp.ts'
import { createMemoryVault } from '../../src-runner/lib/vault.ts'
import { openServer } from '../../src-runner/execution/mcp/open-server.ts'
import { createServerFolders } from '../../src-runner/execution/mcp/server-folders.ts'
import { systemPrograms } from '../../src-runner/platform/programs/user-toolchain.ts'
import { findSandbox } from '../../src-runner/platform/sandbox/find-sandbox.ts'
import { findFreePort } from '../../src-runner/testing/free-port.ts'
import { makeFolder, ROOT, spread } from './processes.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
const CALLS = 200

type Side = { call(): Promise<unknown>; close(): Promise<unknown> }

/**
 * Tool calls per second, one after the other, through Deckhand's connection beside the bare client of the library: to a program,
 * which Deckhand starts in the sandbox, and over HTTP, which Deckhand sends through the guarded way out.
 */
export async function benchMcpCalls(): Promise<void> {
  console.log(`\nMCP tool calls per second (${ROUNDS} rounds of ${CALLS} in turn after one to warm up; median, least and most)`)
  const folder = makeFolder()
  const program = join(folder, 'server.mjs')
  copyFileSync(join(ROOT, 'src-runner/testing/mcp-server/stdio-server.mjs'), program)
  const http = await startHttpServer()
  const sides: Record<string, Side> = {
    'stdio, Deckhand': await openOurs(programIn(folder, program), 'look', { word: 'tea' }),
    'stdio, the bare client': await openBare(new StdioClientTransport({ command: 'node', args: [program], stderr: 'ignore' }), 'look', {
      word: 'tea',
    }),
    'HTTP, Deckhand': await openOurs({ kind: 'http', url: http.url, headerNames: [], credentialId: null }, 'echo', { message: 'tea' }),
    'HTTP, the bare client': await openBare(new StreamableHTTPClientTransport(new URL(http.url)), 'echo', { message: 'tea' }),
  }
  const measured: Record<string, { calls: number[]; cpu: number[] }> = {}
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, side] of Object.entries(sides)) {
      const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
      for (let i = 0; i < CALLS; i++) await side.call()
      const { user, system } = process.cpuUsage(cpu)
      const figures = (measured[name] ??= { calls: [], cpu: [] })
      if (round === 0) continue
      figures.calls.push((CALLS * 1000) / (performance.now() - startedAt))
      figures.cpu.push((user + system) / CALLS)
    }
  }
  console.log('client | calls a second | processor µs a call, of the client alone')
  for (const [name, side] of Object.entries(sides)) {
    const { calls, cpu } = measured[name]!
    console.log(`${name} | ${spread(calls, 0)} | ${spread(cpu, 0)}`)
    await side.close()
  }
  http.stop()
}

function programIn(folder: string, program: string): McpTransport {
  return { kind: 'stdio', command: 'node', args: [program], envNames: [], folders: [folder], hosts: [], allowsUnsandboxed: true }
}

async function openOurs(transport: McpTransport, tool: string, args: Record<string, unknown>): Promise<Side> {
  const deps = {
    vault: createMemoryVault(),
    sandbox: findSandbox,
    programs: async () => systemPrograms(),
    folders: createServerFolders(makeFolder()),
    internet: () => ({}),
    monotonic: () => performance.now(),
    credentials: { use: () => Promise.reject(new Error('there are none')) } as never,
  }
  const listeners = {
    onToolsChanged() {},
    note() {},
    onSecrets() {},
    onSetAside() {},
    signal: new AbortController().signal,
    onElicitation: async () => ({ action: 'decline' as const }),
  }
  const connection = await openServer(deps, { id: 'bench', transport }, listeners)
  const { signal } = new AbortController()
  return { call: () => connection.call(tool, args, { signal }), close: connection.close }
}

async function openBare(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  tool: string,
  args: Record<string, unknown>,
): Promise<Side> {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(transport)
  return { call: () => client.callTool({ name: tool, arguments: args }), close: () => client.close() }
}

/** The example server of the protocol's own project. */
async function startHttpServer(): Promise<{ url: string; stop(): void }> {
  const port = await findFreePort()
  const entry = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')
  const child = spawn(process.execPath, [entry, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('listening')) resolve()
    })
    child.once('exit', () => reject(new Error('the example server ended')))
  })
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => void child.kill('SIGKILL') }
}
