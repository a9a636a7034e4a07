import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Job } from '../../src-runner/contract/jobs.ts'
import type { ServedReply } from '../../src-runner/testing/model-servers/reply.ts'
import { listFiles } from '../../src-runner/agent/tools/list-files/list-files.ts'
import { readFile } from '../../src-runner/agent/tools/read-file/read-file.ts'
import type { ToolContext } from '../../src-runner/agent/tools/tool.ts'
import { callJson, closeClient, send } from './http-client.ts'
import { makeAgent } from './make-agent.ts'
import { makeFolder, median, spread, startModelServer, startRunner } from './processes.ts'

const CALLS = 50
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 15)

type Call = { name: 'read_file' | 'list_files'; args: { path: string } }

/**
 * A job with 50 file tool calls: each asked for by a model over HTTP, decided by the policy, run, and on disk before the
 * next. Beside it the same calls made directly, one after another, in one process.
 */
export async function benchTools(): Promise<void> {
  const folder = fillFolder()
  const calls = Array.from({ length: CALLS }, (_, n): Call =>
    n % 2 === 0
      ? { name: 'read_file', args: { path: `Work/part-${n % 10}/file-${n}.txt` } }
      : { name: 'list_files', args: { path: `Work/part-${n % 10}` } },
  )
  const models = await startModelServer()
  const runner = await startRunner()
  const { runnerUrl } = runner.line
  const agentId = await makeAgent(runnerUrl, models.line.url, {
    folders: [folder],
    limits: { maxTurns: 200, maxToolCalls: 500, maxCostUsd: 1, maxWorkingMs: 600_000 },
  })
  console.log(`\nA job with ${CALLS} file tool calls (${ROUNDS} rounds in turn; ms per call: median, least and most)`)
  console.log('calls in a reply | job | made directly | job / direct')
  for (const inReply of [1, 5, 25]) {
    const job: number[] = []
    const direct: number[] = []
    for (let round = -3; round < ROUNDS; round++) {
      const [ours, bare] = [await runJob(runnerUrl, models.line.url, agentId, inReplies(calls, inReply)), await callDirectly(folder, calls)]
      if (round < 0) continue
      job.push(ours / CALLS)
      direct.push(bare / CALLS)
    }
    console.log(`${inReply} | ${spread(job, 2)} | ${spread(direct, 2)} | ${median(job.map((ms, i) => ms / direct[i]!)).toFixed(1)}`)
  }
  closeClient()
  await runner.stop()
  await models.stop()
}

function fillFolder(): string {
  const folder = join(makeFolder(), 'Work')
  for (let part = 0; part < 10; part++) {
    mkdirSync(join(folder, `part-${part}`), { recursive: true })
    for (let n = part; n < CALLS; n += 10)
      writeFileSync(join(folder, `part-${part}`, `file-${n}.txt`), `line ${n} of the file\n`.repeat(200))
  }
  return folder
}

function inReplies(calls: readonly Call[], size: number): ServedReply[] {
  const usage = { input: 1000, output: 20 }
  const replies = Array.from({ length: Math.ceil(calls.length / size) }, (_, i): ServedReply => {
    const toolCalls = calls.slice(i * size, (i + 1) * size).map((call, n) => ({ id: `call_${i}_${n}`, ...call }))
    return { text: ['I look.'], toolCalls, usage }
  })
  return [...replies, { text: ['Done.'], usage }]
}

/** Milliseconds from the start of the work to its end, as the job itself says. */
async function runJob(runnerUrl: string, modelsUrl: string, agentId: string, replies: ServedReply[]): Promise<number> {
  await callJson('POST', `${modelsUrl}/control/play`, replies)
  const { jobId } = await callJson<{ jobId: string }>('POST', `${runnerUrl}/api/agent`, { agentId, task: 'Look at everything.' })
  const stream = await send('GET', `${runnerUrl}/api/jobs/${jobId}/stream`)
  for await (const _piece of stream);
  const { job } = await callJson<{ job: Job }>('GET', `${runnerUrl}/api/jobs/${jobId}`)
  if (job.status !== 'completed' || job.toolCalls !== CALLS) throw new Error(`the job is ${job.status} after ${job.toolCalls} calls`)
  return job.finishedAt! - job.startedAt!
}

async function callDirectly(folder: string, calls: readonly Call[]): Promise<number> {
  const tools = { read_file: readFile, list_files: listFiles }
  const context: ToolContext = {
    jobId: '',
    agentId: '',
    callId: '',
    folders: [folder],
    closedFolders: [],
    signal: new AbortController().signal,
  }
  const startedAt = performance.now()
  for (const { name, args } of calls) {
    const { ok, output } = await tools[name].run(args, context)
    if (!ok) throw new Error(output)
  }
  return performance.now() - startedAt
}
