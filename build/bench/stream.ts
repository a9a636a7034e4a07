import { join } from 'node:path'
import { closeClient, send } from './http-client.ts'
import { makeAgent } from './make-agent.ts'
import { cpuSeconds, makeFolder, median, ROOT, spread, startModelServer, startProgram, startRunner } from './processes.ts'

/**
 * The first token and the processor time per token of a streamed chat turn, at the runner and on the page's path
 * (through the dashboard), beside reading the same stream from the model server directly.
 */
const TURNS = Number(process.env['BENCH_TURNS'] ?? 100)
const TOKENS = 2000
const LONG_TURNS = 20

type Turn = { firstTokenMs: number; bytes: number }
type Path = { name: string; turn(): Promise<Turn>; pids: number[]; close(): Promise<void> }

export async function benchStream(): Promise<void> {
  console.log(`\nStreaming a chat turn (first token: ${TURNS} turns in turn; processor time: ${LONG_TURNS} turns of ${TOKENS} tokens)`)
  const short = await startModelServer('--tokens', '40')
  const paths = await startPaths(short.line.url)
  const first = paths.map(() => [] as number[])
  for (const path of paths) for (let n = 0; n < 20; n++) await path.turn()
  for (let n = 0; n < TURNS; n++) for (const [index, path] of paths.entries()) first[index]!.push((await path.turn()).firstTokenMs)
  for (const path of paths) await path.close()
  await short.stop()

  const long = await startModelServer('--tokens', String(TOKENS))
  const cpu: number[] = []
  for (const path of await startPaths(long.line.url)) {
    for (let n = 0; n < 3; n++) await path.turn()
    const used = () => path.pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
    const before = used()
    for (let n = 0; n < LONG_TURNS; n++) await path.turn()
    cpu.push(((used() - before) * 1e6) / (LONG_TURNS * TOKENS))
    await path.close()
  }
  await long.stop()

  const direct = median(first[0]!)
  console.log('path | first token, ms | more than direct | processor time per token, µs (serving side)')
  for (const [index, path] of paths.entries()) {
    const more = index === 0 ? '' : `+${(median(first[index]!) - direct).toFixed(2)} ms (target: +5 or less)`
    console.log(`${path.name} | ${spread(first[index]!, 2)} | ${more} | ${cpu[index]!.toFixed(1)}`)
  }
  closeClient()
}

async function startPaths(modelUrl: string): Promise<Path[]> {
  const runner = await startRunner()
  const runnerAgent = await makeAgent(runner.line.runnerUrl, modelUrl)
  const headless = await startProgram<{ runnerUrl: string; dashboardUrl: string }>(join(ROOT, 'out/main/headless.js'), [], {
    DECKHAND_DATA_DIR: makeFolder(),
    DECKHAND_VAULT: 'file',
    RUNNER_PORT: '0',
    DASHBOARD_PORT: '0',
    LOG_LEVEL: 'warn',
  })
  const pageAgent = await makeAgent(headless.line.dashboardUrl, modelUrl)
  const readBody = {
    model: 'small',
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'Say hello.' }],
  }
  return [
    {
      name: 'model server, read directly',
      turn: () => readStream(`${modelUrl}/v1/chat/completions`, readBody, '"content":"word'),
      pids: [process.pid],
      close: async () => {},
    },
    {
      name: 'POST /api/chat/stream',
      turn: () => readStream(`${runner.line.runnerUrl}/api/chat/stream`, { agentId: runnerAgent, message: 'Say hello.' }, 'event: delta'),
      pids: [runner.pid],
      close: runner.stop,
    },
    {
      name: 'the same through the dashboard',
      turn: () =>
        readStream(`${headless.line.dashboardUrl}/api/chat/stream`, { agentId: pageAgent, message: 'Say hello.' }, 'event: delta'),
      pids: [headless.pid, ...childrenOf(headless.pid)],
      close: headless.stop,
    },
  ]
}

function childrenOf(pid: number): number[] {
  return process
    .getBuiltinModule('node:fs')
    .readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
}

async function readStream(url: string, body: unknown, mark: string): Promise<Turn> {
  const before = performance.now()
  const answer = await send('POST', url, body)
  answer.setEncoding('utf8')
  let firstTokenMs = -1
  let bytes = 0
  let tail = ''
  for await (const chunk of answer) {
    bytes += (chunk as string).length
    if (firstTokenMs >= 0) continue
    tail = (tail + (chunk as string)).slice(-4096)
    if (tail.includes(mark)) firstTokenMs = performance.now() - before
  }
  if (firstTokenMs < 0) throw new Error(`no token came from ${url}: ${tail.slice(-300)}`)
  return { firstTokenMs, bytes }
}
