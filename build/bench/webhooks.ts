import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callJson, closeClient, send } from './http-client.ts'
import { makeAgent } from './make-agent.ts'
import { makeFolder, median, ROOT, spread, startModelServer, startProgram, startRunner } from './processes.ts'
import type { Load, LoadResult } from './webhook-load.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
/** With the limit of 30 an hour this is 30,000 deliveries for one runner. */
const TRIGGERS = 1000
/** Before the first round, on both sides: what is measured is a process that has been at work for a while. */
const WARM_UP = { connections: 50, count: 6000 }
/** Before the clock of each round starts. */
const RUN_IN = 200
/** Deliveries in a round by connections, and what is aimed at beside the bare intake. */
const LEVELS = [
  { connections: 1, count: 1200, target: '0.7 or more' },
  { connections: 10, count: 2700, target: 'none' },
  { connections: 50, count: 3000, target: '2.5 or more' },
] as const

/** The baselines: an intake that writes a job and counts its trigger, which the target is for, and one that writes the job alone. */
const BARE = { counted: 'a job row and a counter', row: 'a job row alone' } as const
type Bare = keyof typeof BARE

/**
 * Accepted deliveries per second: trigger found, limit counted, template filled, job, inbox and event on disk before the
 * 202. Beside it, in turn, the bare intakes of `bare-intake.ts`, which do one synced transaction per request. Each server
 * and the load are a process of their own; no job runs meanwhile. Then what the intake at full load does to a chat that
 * streams.
 */
export async function benchWebhooks(): Promise<void> {
  console.log(
    `\nAccepted deliveries over ${TRIGGERS} triggers, each on disk before its 202 (${ROUNDS} rounds in turn after ${WARM_UP.count} deliveries to either; median, least and most)`,
  )
  console.log('connections | Deckhand, per s | p99, ms | a bare server that writes | per s | p99, ms | Deckhand / bare')
  for (const level of LEVELS) await benchLevel(level)
  await benchStreamBesideIntake()
  closeClient()
}

async function benchLevel({ connections, count, target }: (typeof LEVELS)[number]): Promise<void> {
  const runner = await startRunner()
  const pathsFile = await makeTriggers(runner.line.runnerUrl, await makeAgent(runner.line.runnerUrl, 'http://127.0.0.1:9'), TRIGGERS)
  await callJson('PATCH', `${runner.line.runnerUrl}/api/settings`, { pauseAll: true })
  const ours: LoadResult[] = []
  const others = [await startBare('counted'), await startBare('row')]
  const urls = [runner.line.runnerUrl, ...others.map(({ url }) => url)]
  for (const url of urls) await runLoad(url, { pathsFile, ...WARM_UP, from: 0 })
  for (let round = 0; round < ROUNDS; round++) {
    const load = { pathsFile, connections, count, warmUp: RUN_IN, from: WARM_UP.count + round * (count + RUN_IN) }
    ours.push(await runLoad(runner.line.runnerUrl, load))
    for (const other of others) other.results.push(await runLoad(other.url, load))
  }
  const rate = (results: LoadResult[]) =>
    spread(
      results.map(({ perSecond }) => perSecond),
      0,
    )
  const p99 = (results: LoadResult[]) => spread(results.map(({ p99Ms }) => p99Ms))
  for (const { kind, results } of others) {
    const ratio = median(ours.map(({ perSecond }, round) => perSecond / results[round]!.perSecond)).toFixed(2)
    const aim = kind === 'counted' ? ` (target: ${target})` : ''
    console.log(`${connections} | ${rate(ours)} | ${p99(ours)} | ${BARE[kind]} | ${rate(results)} | ${p99(results)} | ${ratio}${aim}`)
  }
  for (const { stop } of others) await stop()
  await runner.stop()
}

async function startBare(kind: Bare): Promise<{ kind: Bare; url: string; results: LoadResult[]; stop: () => Promise<void> }> {
  const { line, stop } = await startProgram<{ url: string }>(join(ROOT, 'build/bench/bare-intake.ts'), [kind])
  return { kind, url: line.url, results: [], stop }
}

const STREAM_TRIGGERS = 4000
const TOKENS = 4000
const TOKEN_MS = 10
const WINDOW_SECONDS = 2
const WINDOWS = 5

/**
 * One long chat, with nothing beside it, with the load on the bare intake, and with the load on ours, in turn. The second
 * keeps the machine as busy in another process: what the third adds to it is the price of sharing a process. The chat
 * runs when pause all is set, and goes on.
 */
async function benchStreamBesideIntake(): Promise<void> {
  const models = await startModelServer('--tokens', String(TOKENS), '--delay-ms', String(TOKEN_MS))
  const runner = await startRunner()
  const { runnerUrl } = runner.line
  const agentId = await makeAgent(runnerUrl, models.line.url)
  const pathsFile = await makeTriggers(runnerUrl, agentId, STREAM_TRIGGERS)
  const bare = await startBare('counted')
  const gaps = { quiet: [] as number[], busy: [] as number[], loaded: [] as number[] }
  const perSecond: number[] = []
  let phase: keyof typeof gaps | null = null
  let last = 0
  const stream = await send('POST', `${runnerUrl}/api/chat/stream`, { agentId, message: 'Say a lot.' })
  const flowing = new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      if (!chunk.includes('event: delta')) return
      const now = performance.now()
      if (phase !== null) gaps[phase].push(now - last)
      last = now
      resolve()
    })
  })
  await flowing
  await callJson('PATCH', `${runnerUrl}/api/settings`, { pauseAll: true })
  let from = 0
  for (let window = 0; window < WINDOWS; window++) {
    phase = 'quiet'
    await new Promise((resolve) => setTimeout(resolve, WINDOW_SECONDS * 1000))
    const load = { pathsFile, from, connections: 50, count: 22_000, seconds: WINDOW_SECONDS }
    phase = 'busy'
    await runLoad(bare.url, load)
    phase = 'loaded'
    const result = await runLoad(runnerUrl, load)
    phase = null
    from += result.sent
    perSecond.push(result.perSecond)
  }
  stream.destroy()
  await bare.stop()
  await runner.stop()
  await models.stop()
  const p99 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)]!
  const [quiet, busy, loaded] = [p99(gaps.quiet), p99(gaps.busy), p99(gaps.loaded)]
  console.log(`\nA chat that streams a token every ${TOKEN_MS} ms while deliveries come in over 50 connections (${WINDOWS} windows each)`)
  console.log('deliveries per s | gap between tokens at rest, p99 ms | machine as busy | deliveries to the same process | more')
  console.log(
    `${spread(perSecond, 0)} | ${quiet.toFixed(1)} | ${busy.toFixed(1)} | ${loaded.toFixed(1)} | ` +
      `+${(loaded - quiet).toFixed(1)} ms (target: +10 or less), of which ${(loaded - busy).toFixed(1)} ms are not the busy machine's`,
  )
}

async function runLoad(url: string, load: Omit<Load, 'port'>): Promise<LoadResult> {
  const program = await startProgram<LoadResult>(join(ROOT, 'build/bench/webhook-load.ts'), [
    JSON.stringify({ ...load, port: Number(new URL(url).port) } satisfies Load),
  ])
  await program.stop()
  return program.line
}

/** Gives the file in which the triggers' paths are. */
async function makeTriggers(runnerUrl: string, agentId: string, count: number): Promise<string> {
  const paths: string[] = []
  let left = count
  const create = async () => {
    while (left-- > 0) {
      const body = { name: `Trigger ${left}`, agentId, taskTemplate: 'Summarise issue {issue.number} "{issue.title}":\n\n{issue.body}' }
      const { url } = await callJson<{ url: string }>('POST', `${runnerUrl}/api/triggers`, body)
      paths.push(new URL(url).pathname)
    }
  }
  await Promise.all(Array.from({ length: 16 }, create))
  const file = join(makeFolder(), 'paths.json')
  writeFileSync(file, JSON.stringify(paths))
  return file
}
