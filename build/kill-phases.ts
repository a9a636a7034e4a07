// Kills the runner at each phase of a job, again and again, on one and the same data, and looks whether anything happened
// twice, got lost or changed afterwards.
//
//   node build/kill-phases.ts [--each 20] [--phase 7]
//
// The job calls a program, which is never repeated by itself, and edits a file. Both leave a line outside of the runner's
// data, which is counted here. Deaths are either self-inflicted at an exact point (src-runner/testing/fault-points.ts) or
// come from here, when the model or the job is seen to be where it should be.
import { englishText } from '../src-runner/lib/messages.ts'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findSandbox } from '../src-runner/platform/sandbox/find-sandbox.ts'
import type { Approval } from '../src-runner/contract/approvals.ts'
import type { Job, JobStatus, Step } from '../src-runner/contract/jobs.ts'
import { systemClock } from '../src-runner/lib/clock.ts'
import { builtChild } from '../src-runner/testing/built-children.ts'
import type { FaultPoint } from '../src-runner/testing/fault-points.ts'
import { findFreePort } from '../src-runner/testing/free-port.ts'
import { startModelServer, type ModelServer } from '../src-runner/testing/model-servers/model-server.ts'
import type { ServedReply } from '../src-runner/testing/model-servers/reply.ts'
import { createRunnerClient, type RunnerClient } from '../src-runner/testing/runner-client.ts'
import { setup } from './build-first.mjs'
import { isAlive, sendFault, startRunnerProcess, untilHealthy } from './runner-process.ts'

export type KillPhasesOptions = { each: number; phase?: number; tell?: (line: string) => void; signal?: AbortSignal }

export type KillPhasesResult = {
  kills: number
  jobs: number
  /** Program calls that had an effect twice, which nobody was told. */
  repeated: number
  /** Calls whose outcome was asked of a person. */
  asked: number
  /** Milliseconds from the start of the next process to the job's end or question. */
  slowestMs: number
  medianMs: number
  /** What was broken, in words. Empty is the only good answer. */
  broken: string[]
}

const CHILD = builtChild('kill-child')
const LIMIT_MS = 120_000
const USAGE = { input: 100, output: 10 }

/** How a job is brought to the phase, and what must be so afterwards. */
type Phase = {
  number: number
  name: string
  /** Where the process dies by its own hand; without it, it is killed from here. Several are taken in turn. */
  at?: readonly FaultPoint[]
  autonomy?: 'ask_first'
  /** Program lines that must be there in the end. */
  effects: number
  /** What a person says when the outcome is unknown. */
  unknown?: 'happened' | 'again'
}

const PHASES: readonly Phase[] = [
  { number: 1, name: 'body read, before the commit', at: ['a job is being kept'], effects: 1 },
  { number: 2, name: 'committed, before the 202', at: ['a job is kept'], effects: 1 },
  { number: 3, name: 'queued', effects: 1 },
  { number: 4, name: 'claimed', at: ['a job is claimed'], effects: 1 },
  { number: 5, name: 'in the middle of the answer of the model', effects: 1 },
  { number: 6, name: 'answer saved, tool not started', at: ['a reply is recorded'], effects: 1 },
  { number: 7, name: 'tool marked started, effect not done', at: ['a call is started'], effects: 1, unknown: 'again' },
  { number: 8, name: 'effect done, not marked', at: ['a result is being recorded'], effects: 1, unknown: 'happened' },
  { number: 9, name: 'waiting for an approval', at: ['an approval is asked'], autonomy: 'ask_first', effects: 1 },
  { number: 10, name: 'approval saved, not resumed', at: ['an approval is answered'], autonomy: 'ask_first', effects: 1 },
  { number: 11, name: 'cost or result being saved', at: ['a reply is being recorded', 'the end is being recorded'], effects: 1 },
  { number: 12, name: 'result saved, nobody told', at: ['the end is recorded'], effects: 1 },
]

export async function runKillPhases({ each, phase: only, tell = () => {}, signal }: KillPhasesOptions): Promise<KillPhasesResult> {
  const home = mkdtempSync(join(tmpdir(), 'deckhand-phases-'))
  const folder = join(home, 'Work')
  const dataDir = join(home, 'data')
  mkdirSync(folder)
  const model = await startModelServer({ fallback: (request) => replyTo(request as Asked) })
  const port = await findFreePort()
  const client = createRunnerClient(`http://127.0.0.1:${port}`)
  const broken: string[] = []
  const times: number[] = []
  const ended = new Map<string, string>()
  let kills = 0
  let asked = 0
  let repeated = 0
  const running: { child: ChildProcess | null } = { child: null }

  const boot = async () => {
    running.child = startRunnerProcess(CHILD, { dataDir, port, takesFaults: true, signal })
    await untilHealthy(client, running.child, LIMIT_MS)
  }
  const died = async (signal?: 'SIGKILL') => {
    const dying = running.child!
    if (signal !== undefined) dying.kill(signal)
    if (isAlive(dying)) await withLimit(once(dying, 'exit'), 'the process did not die')
    if (dying.signalCode !== 'SIGKILL') throw new Error(`the process ended with ${dying.exitCode ?? dying.signalCode}, not by the kill`)
    kills++
  }

  try {
    await boot()
    const agents = await prepare(client, model, folder)
    for (const phase of PHASES.filter(({ number }) => only === undefined || number === only)) {
      const found: string[] = []
      for (let round = 0; round < each; round++) {
        const token = `phase-${phase.number}-${round}`
        signal?.throwIfAborted()
        const faults = await killOnce(agents, phase, round, token).catch((error: Error) => [`${token}: ${error.message}`])
        found.push(...faults)
        // It may still have to die.
        if (faults.length > 0 && isAlive(running.child)) await died('SIGKILL')
        if (!isAlive(running.child)) await boot()
      }
      broken.push(...found)
      tell(`phase ${phase.number}, ${phase.name}: ${each} kills, ${found.length} broken`)
    }
    await died('SIGKILL')
    await boot()
    broken.push(...(await changedSince(client, ended)))
    const { pending, running: atWork, awaiting_approval, awaiting_child } = await client.ok('countJobs')
    if (pending + atWork + awaiting_approval + awaiting_child > 0) broken.push('jobs are left that neither ended nor were answered')
  } finally {
    running.child?.kill('SIGKILL')
    await model.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  times.sort((a, b) => a - b)
  return {
    kills,
    jobs: ended.size,
    repeated,
    asked,
    broken: [...new Set(broken)].slice(0, 50),
    slowestMs: Math.round(times.at(-1) ?? 0),
    medianMs: Math.round(times[Math.floor(times.length / 2)] ?? 0),
  }

  /** One job, one death at the phase, one restart, and everything that must be so. Answers what was not. */
  async function killOnce(agents: Agents, phase: Phase, round: number, token: string): Promise<string[]> {
    const agentId = phase.autonomy === 'ask_first' ? agents.asking : agents.free
    const fault = phase.at?.[round % phase.at.length]
    writeFileSync(join(folder, `${token}.txt`), 'count: 0\n')
    // The process that ended the job before is the one that dies now.
    if (fault !== undefined) await sendFault(running.child!, fault)
    const submitted = await bringToDeath(phase, { agentId, token })
    const startedAt = performance.now()
    await boot()
    if (phase.number === 3) await client.ok('updateSettings', { body: { pauseAll: false } })
    const found: string[] = []
    const jobs = (await client.ok('listJobs', { query: { limit: 200 } })).jobs.filter((job) => job.title.endsWith(token))
    if (phase.number === 1 && jobs.length > 0) found.push(`${token}: there is a job that was never kept`)
    if (phase.number !== 1 && jobs.length !== 1) return [`${token}: ${jobs.length} jobs where there should be one`]
    const jobId = phase.number === 1 ? await submit(agentId, token) : jobs[0]!.id
    if (submitted !== null && submitted !== jobId) found.push(`${token}: the job is another one than was promised`)
    const job = await finish(phase, jobId, startedAt, found)
    found.push(...(await faultsOf(phase, token, job)))
    ended.set(jobId, await fingerprint(client, jobId))
    return found
  }

  /** Answers the id that was promised, if any was. */
  async function bringToDeath({ number, autonomy }: Phase, { agentId, token }: { agentId: string; token: string }): Promise<string | null> {
    if (number === 3) await client.ok('updateSettings', { body: { pauseAll: true } })
    const latch = number === 5 ? model.holdBefore(3) : null
    const jobId = await submit(agentId, token).catch(() => null)
    if (latch !== null) {
      await withLimit(model.untilQuiet(), 'the model was not asked')
      await died('SIGKILL')
      latch.release()
      return jobId
    }
    if (number === 3) {
      await died('SIGKILL')
      return jobId
    }
    if (number === 10) {
      const [approval] = await untilAsked(jobId!)
      await client.ask('resolveApproval', { body: { approvalId: approval!.id, decision: 'approve' } }).catch(() => null)
    }
    if (number <= 2 && jobId !== null) throw new Error('the submission was answered although the process was to die before')
    if (number > 2 && autonomy === undefined && jobId === null) throw new Error('the submission was not answered')
    await died()
    return jobId
  }

  async function submit(agentId: string, token: string): Promise<string> {
    return (await client.ok('submitTask', { body: { agentId, task: `Do ${token}` } })).jobId
  }

  async function untilAsked(jobId: string): Promise<Approval[]> {
    return until(async () => {
      const { approvals } = await client.ok('listApprovals', { query: { status: 'pending', jobId } })
      return approvals.length > 0 ? approvals : null
    }, 'nothing was asked')
  }

  /** Answers what is asked, until the job has ended. */
  async function finish(phase: Phase, jobId: string, startedAt: number, found: string[]): Promise<Job> {
    const answeredBefore = (await client.ok('listApprovals', { query: { status: 'approved', jobId } })).approvals
    let told = false
    for (;;) {
      const job = await until(
        async () => {
          const { job } = await client.ok('getJob', { params: { jobId } })
          return isSettled(job.status) ? job : null
        },
        `the job is neither done nor asks after ${LIMIT_MS / 1000} s`,
      )
      if (!told) times.push(performance.now() - startedAt)
      told = true
      if (job.finishedAt !== null) return job
      for (const approval of await untilAsked(jobId)) {
        const again = answeredBefore.some(({ callId, kind }) => callId === approval.callId && kind === approval.kind)
        if (again) found.push(`${job.title}: asked again about a call that was answered`)
        if (approval.kind === 'unknown_outcome') asked++
        if (approval.kind === 'unknown_outcome' && phase.unknown === undefined)
          found.push(`${job.title}: an outcome is unknown that was known`)
        const answer = approval.kind === 'unknown_outcome' ? { answer: phase.unknown ?? 'happened' } : {}
        await client.ok('resolveApproval', { body: { approvalId: approval.id, decision: 'approve', ...answer } })
      }
      await until(async () => {
        const { job } = await client.ok('getJob', { params: { jobId } })
        return job.status === 'awaiting_approval' && (await pendingOf(jobId)) === 0 ? null : job
      }, 'the answer did not wake the job')
    }
  }

  async function pendingOf(jobId: string): Promise<number> {
    return (await client.ok('listApprovals', { query: { status: 'pending', jobId } })).approvals.length
  }

  async function faultsOf(phase: Phase, token: string, job: Job): Promise<string[]> {
    const found: string[] = []
    if (job.status !== 'completed')
      found.push(
        `${token}: the job is ${job.status} (${job.error ?? ''} ${job.errorMessage === null ? '' : englishText(job.errorMessage)})`,
      )
    const lines = readFileSync(join(folder, 'effects.log'), 'utf8').split('\n')
    const effects = lines.filter((line) => line === token).length
    if (effects > phase.effects) repeated++
    if (effects !== phase.effects) found.push(`${token}: the program had its effect ${effects} times`)
    const file = readFileSync(join(folder, `${token}.txt`), 'utf8')
    if (file !== 'count: 01\n') found.push(`${token}: the file holds ${JSON.stringify(file)}`)
    const { steps } = await client.ok('listSteps', { params: { jobId: job.id } })
    found.push(...faultsInSteps(steps).map((fault) => `${token}: ${fault}`))
    const replies = steps.filter(({ kind }) => kind === 'reply').length
    if (job.inputTokens !== replies * USAGE.input || Math.abs(job.costUsd - replies * 0.00012) > 1e-9)
      found.push(`${token}: ${replies} replies cost ${job.inputTokens} tokens and $${job.costUsd}`)
    return found
  }
}

function isSettled(status: JobStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'awaiting_approval'
}

function faultsInSteps(steps: readonly Step[]): string[] {
  const found: string[] = []
  if (steps.some((step, i) => step.seq !== i + 1)) found.push('its steps have a gap or a double')
  const results = steps.flatMap((step) => (step.kind === 'tool_result' ? [step.callId] : []))
  if (new Set(results).size !== results.length) found.push('two results of one call')
  const calls = steps.flatMap((step) => (step.kind === 'reply' ? step.toolCalls.map(({ callId }) => callId) : []))
  if (new Set(calls).size !== calls.length) found.push('one reply twice')
  if (results.length !== 2) found.push(`${results.length} results of two calls`)
  return found
}

/** What a job that has ended says of itself, down to each step. */
async function fingerprint(client: RunnerClient, jobId: string): Promise<string> {
  const [{ job }, { steps }] = await Promise.all([
    client.ok('getJob', { params: { jobId } }),
    client.ok('listSteps', { params: { jobId } }),
  ])
  return JSON.stringify({ job, steps })
}

async function changedSince(client: RunnerClient, ended: ReadonlyMap<string, string>): Promise<string[]> {
  const found: string[] = []
  for (const [jobId, before] of ended) if ((await fingerprint(client, jobId)) !== before) found.push(`job ${jobId} had ended and changed`)
  return found
}

type Agents = { free: string; asking: string }

type Asked = { messages: { role: string; content: unknown }[] }

/** Decides by the conversation alone, as a model does: a program, then a change of a file, then a text. */
function replyTo({ messages }: Asked): ServedReply {
  const token = /Do (phase-\d+-\d+)/.exec(JSON.stringify(messages.findLast(({ role }) => role === 'user')))?.[1] ?? 'nothing'
  const answered = messages.filter(({ role }) => role === 'tool').length
  const usage = USAGE
  if (answered === 0) {
    const args = { command: ['sh', '-c', `echo ${token} >> effects.log`], folder: 'Work' }
    return { text: ['Let me ', 'start ', 'it.'], toolCalls: [{ id: 'run', name: 'run_command', args }], usage }
  }
  if (answered === 1) {
    // Made twice it would be seen: the text that is replaced is still there afterwards.
    const args = { path: `Work/${token}.txt`, oldText: 'count: 0', newText: 'count: 01' }
    return { text: ['And ', 'note ', 'it.'], toolCalls: [{ id: 'note', name: 'edit_file', args }], usage }
  }
  return { text: ['It ', 'is ', 'done.'], usage }
}

async function prepare(client: RunnerClient, model: ModelServer, folder: string): Promise<Agents> {
  const { provider } = await client.ok('createProvider', {
    body: { kind: 'openai-compatible', name: 'Phases', baseUrl: `${model.url}/v1` },
  })
  const ref = { providerId: provider.id, model: 'small' }
  await client.ok('setModelPrice', { body: { model: ref, price: { inputUsdPerMillion: 1, outputUsdPerMillion: 2 } } })
  for (const tool of ['run_command', 'edit_file']) await client.ok('createRule', { body: { effect: 'allow', tool, folder } })
  const make = async (name: string, autonomy: 'on_its_own' | 'ask_first') =>
    (await client.ok('createAgent', { body: { name, model: ref, folders: [folder], autonomy } })).agent.id
  const agents = { free: await make('Free', 'on_its_own'), asking: await make('Asking', 'ask_first') }
  await client.ok('createRule', { body: { effect: 'ask', tool: 'run_command', folder, agentId: agents.asking } })
  return agents
}

/** Looks again until there is something to see. */
async function until<T>(look: () => Promise<T | null>, problem: string): Promise<T> {
  const limit = performance.now() + LIMIT_MS
  while (performance.now() < limit) {
    const seen = await look()
    if (seen !== null) return seen
    await systemClock.sleep(3)
  }
  throw new Error(problem)
}

async function withLimit<T>(work: Promise<T>, problem: string): Promise<T> {
  const over = new AbortController()
  const late = systemClock.sleep(LIMIT_MS, over.signal).then(() => Promise.reject(new Error(problem)))
  late.catch(() => {})
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await setup()
  const { values } = parseArgs({ options: { each: { type: 'string', default: '20' }, phase: { type: 'string' } } })
  const sandbox = await findSandbox()
  if (!sandbox.works) {
    process.stderr.write(
      `✗ Without a sandbox every program waits for an approval, so the phases are never reached. ${sandbox.reason === null ? '' : englishText(sandbox.reason)}\n`,
    )
    process.exit(1)
  }
  const startedAt = performance.now()
  const result = await runKillPhases({
    each: Number(values.each),
    ...(values.phase === undefined ? {} : { phase: Number(values.phase) }),
    tell: (line) => process.stdout.write(`${line}\n`),
  })
  process.stdout.write(`${JSON.stringify({ ...result, seconds: Math.round((performance.now() - startedAt) / 1000) }, null, 2)}\n`)
  process.exit(result.broken.length === 0 ? 0 : 1)
}
