import { readFileSync } from 'node:fs'
import { callJson } from './http-client.ts'
import { cpuSeconds, makeFolder, spread, startRunner } from './processes.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
const SERVERS = 20

/**
 * The start of the runner with 20 MCP servers that an agent may use, beside one without. Until it is ready; then what it has used.
 * No server is started and no library of the protocol is loaded before it is needed, so the two should be the same.
 */
export async function benchMcpStart(): Promise<void> {
  console.log(`\nStart of the runner (${ROUNDS} rounds in turn after one to warm up; median, least and most)`)
  const folders = { 'without MCP servers': await prepare(0), [`with ${SERVERS} MCP servers`]: await prepare(SERVERS) }
  const measured = new Map<string, number[][]>()
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, folder] of Object.entries(folders)) {
      const figures = await measure(folder)
      if (round > 0) measured.set(name, [...(measured.get(name) ?? []), figures])
    }
  }
  console.log('runner | ready after ms | processor ms | memory MB | child processes')
  for (const [name, rounds] of measured) {
    console.log(
      [
        name,
        ...[0, 1, 2, 3].map((i) =>
          spread(
            rounds.map((figures) => figures[i]!),
            0,
          ),
        ),
      ].join(' | '),
    )
  }
}

/** A data folder with an agent and so many servers, which are programs of this machine and addresses. */
async function prepare(servers: number): Promise<string> {
  const folder = makeFolder()
  const { line, stop } = await startRunner({ DECKHAND_DATA_DIR: folder })
  const post = <T>(path: string, body: unknown) => callJson<T>('POST', `${line.runnerUrl}${path}`, body)
  const { agent } = await post<{ agent: { id: string } }>('/api/agents', { name: 'Bench' })
  for (let i = 0; i < servers; i++) {
    const transport =
      i % 2 === 0 ? { kind: 'stdio', command: 'npx', args: ['-y', `server-${i}`] } : { kind: 'http', url: `https://mcp-${i}.example/mcp` }
    await post('/api/mcp-servers', { name: `Server ${i}`, transport, agents: [{ agentId: agent.id }] })
  }
  await stop()
  return folder
}

async function measure(folder: string): Promise<number[]> {
  const startedAt = performance.now()
  const { pid, stop } = await startRunner({ DECKHAND_DATA_DIR: folder })
  const readyMs = performance.now() - startedAt
  const memory = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/)
  const figures = [readyMs, cpuSeconds(pid) * 1000, Number(memory?.[1] ?? 0) / 1024, children.filter((child) => child !== '').length]
  await stop()
  return figures
}
