// Kills the runner without warning, again and again, while four clients submit tasks and a service posts to webhooks, and
// then looks for what it broke.
//
//   node build/kill-test.ts [--kills 200] [--entry out/main/runner.js]
//
// What must hold: every accepted job is there and comes to an end, no job exists twice, no step is recorded twice or
// missing, finished jobs stay as they were, and the file is sound. The service repeats each delivery until it is answered,
// as services do: it must have made one job, and the counters of its webhook must be those of the jobs.
import { englishText } from '../src-runner/lib/messages.ts'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Database } from '../src-runner/platform/db/database.ts'
import { openDatabase } from '../src-runner/platform/db/open-database.ts'
import type { JobStatus, Step } from '../src-runner/contract/jobs.ts'
import { systemClock } from '../src-runner/lib/clock.ts'
import { createIds } from '../src-runner/lib/ids.ts'
import { createLiveJobStreams } from '../src-runner/platform/events/live-job-streams.ts'
import { createJobStore } from '../src-runner/domain/jobs/job-store.ts'
import { findFreePort } from '../src-runner/testing/free-port.ts'
import { createRunnerClient, type RunnerClient } from '../src-runner/testing/runner-client.ts'
import { openAiChat } from '../src-runner/testing/model-servers/openai-chat.ts'
import type { ServedReply } from '../src-runner/testing/model-servers/reply.ts'
import { postWebhook } from '../src-runner/testing/webhook-sender.ts'
import { setup } from './build-first.mjs'
import { endProcess, startRunnerProcess, untilHealthy } from './runner-process.ts'

export type KillTestOptions = {
  kills: number
  /** What is started: the source, or the built bundle. */
  entry?: string
  /** Told now and then how far it is. */
  tell?: (line: string) => void
  signal?: AbortSignal
}

export type KillTestResult = {
  kills: number
  accepted: number
  /** The accepted ones that came as webhook deliveries. */
  delivered: number
  completed: number
  /** Ended because they were at work in two processes that died: what the product promises for them. */
  crashLoop: number
  /** Milliseconds from starting the process to the first 200 of health. */
  healthyP50: number
  healthyP99: number
  /** What was broken, in words. Empty is the only good answer. */
  broken: string[]
}

const CLIENTS = 4
/** Fewer than the limit of the hour. */
const DELIVERIES_EACH = 25
const TURNS_WITH_TOOLS = 2
const DRAIN_LIMIT_MS = 120_000
/** Only ends a hang: how soon it is healthy is in the report. */
const HEALTHY_WITHIN_MS = 60_000
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export async function runKillTest({
  kills,
  entry = here('../out/main/runner.js'),
  tell = () => {},
  signal,
}: KillTestOptions): Promise<KillTestResult> {
  const home = mkdtempSync(join(tmpdir(), 'deckhand-kill-'))
  const models = await startModels()
  const port = await findFreePort()
  const client = createRunnerClient(`http://127.0.0.1:${port}`)
  const broken: string[] = []
  const healthy: number[] = []
  const accepted = new Map<string, string>()
  const finished = new Map<string, string>()
  const dataDir = join(home, 'data')
  const start = () => startRunnerProcess(entry, { dataDir, port, signal })

  let runner = start()
  let submitting = true
  try {
    await untilHealthy(client, runner, HEALTHY_WITHIN_MS)
    const agentId = await prepare(client, models.url, join(home, 'folder'))

    let sent = 0
    const submitters = Array.from({ length: CLIENTS }, async () => {
      while (submitting) {
        const task = `Look at the folder, number ${++sent}.`
        const answer = await client.ask('submitTask', { body: { task, agentId } }).catch(() => null)
        if (answer?.status === 202) accepted.set((answer.body as { jobId: string }).jobId, task)
        else if (answer !== null) broken.push(`a task was answered with ${answer.status}: ${JSON.stringify(answer.body)}`)
        await systemClock.sleep(answer === null ? 5 : Math.random() * 40)
      }
    })

    let delivered = 0
    const deliver = async () => {
      let url = ''
      for (let n = 0; submitting; n++) {
        if (n % DELIVERIES_EACH === 0) url = await untilAnswered(() => makeTrigger(client, agentId))
        const number = ++sent
        const headers = { 'content-type': 'application/json', 'webhook-id': `delivery ${number}` }
        const answer = await untilAnswered(() => postWebhook(url, { body: { number }, headers }))
        if (answer.status === 202) accepted.set(answer.body.jobId!, `delivery ${number}`)
        else broken.push(`a delivery was answered with ${answer.status}: ${answer.text}`)
        delivered++
        await systemClock.sleep(Math.random() * 40)
      }
    }
    submitters.push(deliver())

    for (let kill = 1; kill <= kills; kill++) {
      // One in four dies while it is still starting. The others have taken something, however busy the machine is.
      if (kill % 4 !== 0) {
        const before = delivered
        while (delivered === before) await systemClock.sleep(5, signal)
        await systemClock.sleep(Math.random() * 150)
      }
      await endProcess(runner, 'SIGKILL')
      if (kill % 50 === 0 || kill === kills) {
        broken.push(...(await inspect(dataDir, finished)))
        tell(`${kill} kills, ${accepted.size} accepted, ${finished.size} ended, ${broken.length} broken`)
      }
      const startedAt = performance.now()
      runner = start()
      if (kill % 4 === 3 && kill < kills) await systemClock.sleep(Math.random() * 200)
      else {
        await untilHealthy(client, runner, HEALTHY_WITHIN_MS)
        healthy.push(performance.now() - startedAt)
      }
    }

    submitting = false
    await Promise.all(submitters)
    await untilDrained(client).catch((error: Error) => broken.push(error.message))
    const outcome = await endProcess(runner, 'SIGTERM')
    if (outcome !== 0) broken.push(`SIGTERM ended the runner with ${outcome}`)
    broken.push(...(await inspect(dataDir, finished)))
    for (const jobId of accepted.keys()) if (!finished.has(jobId)) broken.push(`accepted job ${jobId} has not come to an end`)
    const outcomes = [...finished.values()]
    healthy.sort((a, b) => a - b)
    return {
      kills,
      accepted: accepted.size,
      delivered,
      completed: outcomes.filter((outcome) => outcome.startsWith('completed')).length,
      crashLoop: outcomes.filter((outcome) => outcome.startsWith('failed:crash_loop')).length,
      healthyP50: Math.round(healthy[Math.floor(healthy.length * 0.5)] ?? 0),
      healthyP99: Math.round(healthy[Math.floor(healthy.length * 0.99)] ?? 0),
      broken: [...new Set(broken)].slice(0, 50),
    }
  } finally {
    submitting = false
    await endProcess(runner, 'SIGKILL')
    models.close()
    rmSync(home, { recursive: true, force: true })
  }

  /** Reads the data of a dead runner as the next one would, and compares it with what was known before. */
  async function inspect(folder: string, known: Map<string, string>): Promise<string[]> {
    const found: string[] = []
    const db = openDatabase({ file: join(folder, 'deckhand.db'), clock: systemClock })
    try {
      const store = createJobStore({
        db,
        clock: systemClock,
        ids: createIds(() => Date.now()),
        bootId: 'the kill test',
        liveStreams: createLiveJobStreams(),
      })
      found.push(...(await db.findDamage()).map((line) => `the file is damaged: ${line}`))
      found.push(...findMiscounts(db))
      const tasks = new Set<string>()
      const there = new Set<string>()
      for (let cursor: string | undefined; ;) {
        const page = store.listJobs(db, { cursor, limit: 200 })
        for (const summary of page.jobs) {
          const job = store.getJob(db, summary.id)
          const steps = store.listSteps(db, job.id)
          there.add(job.id)
          // The fence around what a service sent is another one each time.
          const task = /number (\d+)\./.exec(job.task)?.[1] ?? job.task
          if (tasks.has(task)) found.push(`job ${job.id} is there twice`)
          tasks.add(task)
          found.push(...faultsOf(job.id, job.status, steps))
          const outcome = `${job.status}:${job.error ?? ''}:${job.result ?? ''}:${job.finishedAt}:${steps.length}`
          const before = known.get(job.id)
          if (before !== undefined && before !== outcome) found.push(`job ${job.id} had ended and changed: ${before} → ${outcome}`)
          if (isEnded(job.status)) known.set(job.id, outcome)
          if (job.status === 'failed' && job.error !== 'crash_loop')
            found.push(`job ${job.id} failed: ${job.error} ${job.errorMessage === null ? '' : englishText(job.errorMessage)}`)
        }
        if (page.nextCursor === null) break
        cursor = page.nextCursor
      }
      for (const jobId of accepted.keys()) if (!there.has(jobId)) found.push(`accepted job ${jobId} is gone`)
    } finally {
      db.close()
    }
    return found
  }
}

function findMiscounts(db: Database): string[] {
  return db
    .prepare<{ id: string; fires: number; jobs: number; kept: number }>(
      `SELECT t.id, t.trigger_count AS fires, (SELECT count(*) FROM agent_jobs WHERE trigger_id = t.id) AS jobs,
         (SELECT count(*) FROM (WITH RECURSIVE chain (seq) AS (SELECT t.newest_job_seq UNION ALL
           SELECT before_job_seq FROM chain JOIN job_texts ON job_seq = seq) SELECT seq FROM chain WHERE seq IS NOT NULL)) AS kept
       FROM webhook_triggers AS t`,
    )
    .all()
    .filter(({ fires, jobs, kept }) => fires !== jobs || kept !== jobs)
    .map(({ id, fires, jobs, kept }) => `webhook ${id} counts ${fires} fires, made ${jobs} jobs and keeps ${kept} deliveries`)
}

function isEnded(status: JobStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}

/** Steps are numbered without a gap, every call is answered once, and a completed job has exactly the steps of its script. */
function faultsOf(jobId: string, status: JobStatus, steps: Step[]): string[] {
  const found: string[] = []
  if (steps.some((step, i) => step.seq !== i + 1)) found.push(`the steps of job ${jobId} have a gap or a double`)
  const results = steps.flatMap((step) => (step.kind === 'tool_result' ? [step.callId] : []))
  if (new Set(results).size !== results.length) found.push(`job ${jobId} has two results of one call`)
  const replies = steps.filter((step) => step.kind === 'reply' && !step.interrupted)
  const asked = replies.flatMap((step) => (step.kind === 'reply' ? step.toolCalls.map((call) => call.callId) : []))
  if (new Set(asked).size !== asked.length) found.push(`job ${jobId} has one reply twice`)
  if (status === 'completed' && (replies.length !== TURNS_WITH_TOOLS + 1 || results.length !== TURNS_WITH_TOOLS)) {
    found.push(`completed job ${jobId} has ${replies.length} replies and ${results.length} results`)
  }
  return found
}

/** A model whose answer follows from the conversation alone: two calls of a tool, then a text. */
async function startModels(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method === 'GET')
        return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[{"id":"small"}]}')
      const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: { role: string }[] }
      const answered = messages.filter((message) => message.role === 'tool').length
      const reply: ServedReply =
        answered < TURNS_WITH_TOOLS
          ? {
              text: ['Let me ', 'look. '],
              toolCalls: [{ id: `call_${answered + 1}`, name: 'list_files', args: {} }],
              usage: { input: 100, output: 10 },
            }
          : { text: ['I have ', 'looked, ', 'and ', 'all ', 'is ', 'well.'], usage: { input: 200, output: 20 } }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const frames = openAiChat.frames(reply, 'small')
      // A little time between the frames, so that kills fall into the middle of answers too.
      const next = (i: number): void => {
        if (i === frames.length) return void response.end()
        response.write(`${frames[i]!.lines.join('\n')}\n\n`)
        if (i % 4 === 3) setTimeout(next, 1, i + 1)
        else next(i + 1)
      }
      next(0)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close }
}

async function prepare(client: RunnerClient, modelsUrl: string, folder: string): Promise<string> {
  mkdirSync(folder)
  const { provider } = await client.ok('createProvider', { body: { kind: 'openai-compatible', name: 'Kill test', baseUrl: modelsUrl } })
  const model = { providerId: provider.id, model: 'small' }
  const { agent } = await client.ok('createAgent', { body: { name: 'Survivor', model, folders: [folder] } })
  return agent.id
}

async function makeTrigger(client: RunnerClient, agentId: string): Promise<string> {
  const body = { name: 'Kill test', agentId, taskTemplate: 'Look at the folder, number {number}.', dedupe: true }
  return (await client.ok('createTrigger', { body })).url
}

/** As a service does that is not sure: again, until somebody says something. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (const limit = performance.now() + DRAIN_LIMIT_MS; ;) {
    const answer = await ask().catch((error: unknown) => error as Error)
    if (!(answer instanceof Error)) return answer
    if (performance.now() > limit) throw answer
    await systemClock.sleep(5)
  }
}

async function untilDrained(client: RunnerClient): Promise<void> {
  const limit = performance.now() + DRAIN_LIMIT_MS
  while (performance.now() < limit) {
    const { pending, running } = await client.ok('countJobs')
    if (pending + running === 0) return
    await systemClock.sleep(100)
  }
  throw new Error(`jobs were still at work ${DRAIN_LIMIT_MS / 1000} s after the last kill: ${JSON.stringify(await client.ok('countJobs'))}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await setup()
  const { values } = parseArgs({ options: { kills: { type: 'string', default: '200' }, entry: { type: 'string' } } })
  const startedAt = performance.now()
  const result = await runKillTest({ kills: Number(values.kills), entry: values.entry, tell: (line) => process.stdout.write(`${line}\n`) })
  process.stdout.write(`${JSON.stringify({ ...result, seconds: Math.round((performance.now() - startedAt) / 1000) }, null, 2)}\n`)
  process.exit(result.broken.length === 0 ? 0 : 1)
}
