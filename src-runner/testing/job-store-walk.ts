import { quote } from '../lib/messages.ts'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { transact, type Tx } from '../platform/db/database.ts'
import { createLiveJobStreams } from '../platform/events/live-job-streams.ts'
import { isTerminal, type JobChannel, type JobStatus } from '../contract/jobs.ts'
import { deleteConversation } from '../domain/conversations/conversations.ts'
import type { Claim } from '../domain/jobs/claim-job.ts'
import type { AttemptOutcome } from '../domain/jobs/settle-job.ts'
import { createJobStore } from '../domain/jobs/job-store.ts'
import { openDomainRig, replyOf, type DomainRig } from './domain-rig.ts'
import { StaleClaimError } from '../lib/errors.ts'

/**
 * A random walk over everything that can happen to jobs, with a model of what must be true. After every step
 * the whole database is compared with the model. The model is written from the promises, not from the store.
 */

const LIMIT = 3
const AGENTS = 3
const SILENCE_MS = 15 * 60_000

type ModelJob = {
  id: string
  seq: number
  agent: string
  conversation: string | null
  schedule: string | null
  /** The job that delegated this one. */
  parent: string | null
  status: JobStatus
  claim: number
  crashes: number
  woken: boolean
  stopAsked: boolean
  lastSign: number
  steps: number
  turns: number
  toolCalls: number
  cost: number
  childrenCost: number
  said: string[]
  result: string | null
  error: string | null
  /** As the row was when the job ended. */
  frozen: string | null
}

type Walk = {
  rig: DomainRig
  agents: string[]
  jobs: ModelJob[]
  conversations: string[]
  /** Every claim so far, including lost ones. */
  claims: Claim[]
}

const STEPS = {
  enqueue,
  claimNext,
  claimOne,
  reply,
  toolStarted,
  toolResult,
  complete: settleWith({ kind: 'completed', text: 'the answer' }),
  completeWithReply,
  fail: settleWith({ kind: 'failed', error: 'model_unavailable', message: quote('It does not answer.') }),
  giveUp: settleWith({ kind: 'cancelled' }),
  ask: settleWith({ kind: 'waiting', status: 'awaiting_approval' }),
  delegate,
  awaitChild: settleWith({ kind: 'waiting', status: 'awaiting_child' }),
  release: settleWith({ kind: 'released' }),
  postpone: settleWith({ kind: 'postponed', cause: 'silence', waitMs: 0, message: quote('Nobody answers.'), notifiesOwner: true }),
  wake,
  cancel,
  cancelAllOfAgent,
  forceCancel,
  retry,
  crash,
  pass,
  beat,
  watch,
  removeConversation,
} satisfies Record<string, (walk: Walk, a: number, b: number) => void>

type StepName = keyof typeof STEPS

const WEIGHTS: Partial<Record<StepName, number>> = {
  enqueue: 6,
  claimNext: 8,
  reply: 5,
  toolResult: 3,
  wake: 4,
  ask: 3,
  delegate: 6,
  cancel: 2,
  crash: 2,
  completeWithReply: 3,
}

const anyStep = fc.record({
  name: fc.oneof(...(Object.keys(STEPS) as StepName[]).map((name) => ({ weight: WEIGHTS[name] ?? 2, arbitrary: fc.constant(name) }))),
  a: fc.nat(1000),
  b: fc.nat(1000),
})

/** Throws with the shortest walk that breaks a promise. Returns how many steps were taken. */
export function walkJobStore({ runs, length, seed }: { runs: number; length: number; seed?: number }): number {
  const rig = openDomainRig()
  const agents = Array.from({ length: AGENTS }, (_, i) => rig.addAgent(`Agent ${i}`).id)
  let taken = 0
  try {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: length, maxLength: length }), (steps) => {
        empty(rig)
        const walk: Walk = { rig, agents, jobs: [], conversations: [], claims: [] }
        boot(walk)
        for (const { name, a, b } of steps) {
          STEPS[name](walk, a, b)
          compare(walk)
          taken++
        }
      }),
      { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
    )
  } finally {
    rig.close()
  }
  return taken
}

function empty({ db }: DomainRig): void {
  for (const table of [
    'messages',
    'search_queue',
    'job_steps',
    'job_texts',
    'agent_jobs',
    'job_time_buckets',
    'conversations',
    'spend_buckets',
    'spend_days',
    'events',
  ]) {
    db.prepare(`DELETE FROM ${table}`).run()
  }
}

function boot(walk: Walk): void {
  const { rig } = walk
  rig.liveStreams = createLiveJobStreams()
  rig.store = createJobStore({ db: rig.db, clock: rig.clock, ids: rig.ids, bootId: rig.ids.next(), liveStreams: rig.liveStreams })
}

// The steps: each changes the store and checks the result.

function enqueue(walk: Walk, a: number, b: number): void {
  const agent = walk.agents[a % AGENTS]!
  const own = walk.conversations.filter((id) => walk.jobs.some((job) => job.conversation === id && job.agent === agent))
  const kind = b % 4
  const channel: JobChannel = kind === 3 ? 'schedule' : kind === 0 ? 'api' : 'chat'
  const conversation = kind === 2 && own.length > 0 ? own[b % own.length]! : kind === 1 || kind === 2 ? 'new' : null
  const schedule = kind === 3 ? `schedule-${a % 2}` : null
  const job = write(walk, (tx) =>
    walk.rig.store.enqueue(tx, { agentId: agent, channel, task: `Task ${b}`, conversation, scheduleId: schedule }),
  )
  assert.equal(job.status, 'pending')
  addJob(walk, job.id, agent, job.conversationId, schedule)
}

/** A running attempt hands work to another agent, and goes on. */
function delegate(walk: Walk, a: number, b: number): void {
  const callId = `call_${walk.jobs.length}`
  const agent = walk.agents[b % AGENTS]!
  let child = ''
  const job = attempt(walk, a, (tx, claim) => {
    walk.rig.store.recordToolStarted(tx, claim, { callId, name: 'delegate' })
    const links = { parentJobId: claim.jobId, parentCallId: callId }
    child = walk.rig.store.enqueue(tx, { agentId: agent, channel: 'delegation', task: `Part ${b}`, ...links }).id
  })
  if (job === null) return
  Object.assign(job, { steps: job.steps + 1, lastSign: walk.rig.clock.now() })
  addJob(walk, child, agent, null, null, job.id)
}

function addJob(
  walk: Walk,
  id: string,
  agent: string,
  conversation: string | null,
  schedule: string | null,
  parent: string | null = null,
): void {
  if (conversation !== null && !walk.conversations.includes(conversation)) walk.conversations.push(conversation)
  const { seq } = walk.rig.db.prepare<{ seq: number }>('SELECT seq FROM agent_jobs WHERE id = ?').get(id)!
  walk.jobs.push({
    id,
    seq,
    agent,
    conversation,
    schedule,
    parent,
    status: 'pending',
    claim: 0,
    crashes: 0,
    woken: false,
    stopAsked: false,
    lastSign: 0,
    steps: 0,
    turns: 0,
    toolCalls: 0,
    cost: 0,
    childrenCost: 0,
    said: [],
    result: null,
    error: null,
    frozen: null,
  })
}

function mayRun(walk: Walk, job: ModelJob): boolean {
  const inTheWay = (other: ModelJob) =>
    other.seq < job.seq &&
    !isTerminal(other.status) &&
    ((job.conversation !== null && other.conversation === job.conversation) || (job.schedule !== null && other.schedule === job.schedule))
  const suspectRuns = walk.jobs.some((other) => other.status === 'running' && other.crashes > 0)
  return job.status === 'pending' && !walk.jobs.some(inTheWay) && !(job.crashes > 0 && suspectRuns)
}

function runningOf(walk: Walk, agent?: string): number {
  return walk.jobs.filter((job) => job.status === 'running' && (agent === undefined || job.agent === agent)).length
}

function claimNext(walk: Walk): void {
  const able = runningOf(walk) < LIMIT ? walk.jobs.filter((job) => mayRun(walk, job)) : []
  const claimed = write(walk, (tx) => walk.rig.store.claimNext(tx, LIMIT))
  assert.equal(claimed !== null, able.length > 0, 'something is claimed exactly when something may run')
  if (claimed === null) return
  const job = able.find((one) => one.id === claimed.job.id)
  assert.ok(job, 'only what may run is claimed')
  assert.equal(
    runningOf(walk, job.agent),
    Math.min(...able.map((one) => runningOf(walk, one.agent))),
    'the agent with the fewest running is served',
  )
  assert.equal(job.seq, Math.min(...able.filter((one) => one.agent === job.agent).map((one) => one.seq)), 'an agent is served in order')
  tookClaim(walk, job, claimed.claim)
}

function claimOne(walk: Walk, a: number): void {
  const job = pick(walk.jobs, a)
  if (job === undefined) return
  const able = runningOf(walk) < LIMIT && mayRun(walk, job)
  const claimed = write(walk, (tx) => walk.rig.store.claim(tx, job.id, LIMIT))
  assert.equal(claimed !== null, able)
  if (claimed !== null) tookClaim(walk, job, claimed.claim)
}

function tookClaim(walk: Walk, job: ModelJob, claim: Claim): void {
  Object.assign(job, { status: 'running', claim: job.claim + 1, woken: false, lastSign: walk.rig.clock.now() })
  assert.equal(claim.claim, job.claim, 'a claim is never given twice')
  walk.claims.push(claim)
}

/** Lets an attempt write, often one that has lost its claim, and checks that only the present claim could. */
function attempt(walk: Walk, a: number, act: (tx: Tx, claim: Claim) => void): ModelJob | null {
  // Mostly the newest claims. Older ones must stay shut out.
  const claim = a % 3 === 0 ? pick(walk.claims, a) : walk.claims.at(-1 - (a % LIMIT))
  if (claim === undefined) return null
  const job = walk.jobs.find((one) => one.id === claim.jobId)!
  const holds = job.status === 'running' && job.claim === claim.claim
  let wrote = true
  try {
    write(walk, (tx) => act(tx, claim))
  } catch (error) {
    if (!(error instanceof StaleClaimError)) throw error
    wrote = false
  }
  assert.equal(wrote, holds, 'exactly the present claim may write')
  return wrote ? job : null
}

function countReply(walk: Walk, job: ModelJob, text: string): void {
  job.steps++
  job.turns++
  job.cost += 150
  for (let above = parentOf(walk, job); above !== undefined; above = parentOf(walk, above)) above.childrenCost += 150
  job.crashes = 0
  job.lastSign = walk.rig.clock.now()
  if (text !== '') job.said.push(text)
}

function reply(walk: Walk, a: number, b: number): void {
  const text = b % 3 === 0 ? '' : `reply ${b}`
  const model = { providerId: 'demo', model: b % 2 === 0 ? 'demo' : 'other' }
  const job = attempt(walk, a, (tx, claim) => walk.rig.store.recordReply(tx, claim, replyOf(text, { model })))
  if (job !== null) countReply(walk, job, text)
}

function toolStarted(walk: Walk, a: number): void {
  const job = attempt(walk, a, (tx, claim) => walk.rig.store.recordToolStarted(tx, claim, { callId: 'c', name: 'send' }))
  if (job !== null) Object.assign(job, { steps: job.steps + 1, lastSign: walk.rig.clock.now() })
}

function toolResult(walk: Walk, a: number, b: number): void {
  const result = { callId: 'c', name: 'send', ok: b % 2 === 0, output: 'done', durationMs: b }
  const job = attempt(walk, a, (tx, claim) => walk.rig.store.recordToolResult(tx, claim, result))
  if (job !== null) Object.assign(job, { steps: job.steps + 1, toolCalls: job.toolCalls + 1, crashes: 0, lastSign: walk.rig.clock.now() })
}

function settleWith(outcome: AttemptOutcome) {
  return (walk: Walk, a: number) => {
    const job = attempt(walk, a, (tx, claim) => walk.rig.store.settle(tx, claim, outcome))
    if (job !== null) settled(walk, job, outcome)
  }
}

function completeWithReply(walk: Walk, a: number): void {
  const job = attempt(walk, a, (tx, claim) =>
    walk.rig.store.settle(tx, claim, { kind: 'completed', text: 'the answer' }, replyOf('the answer')),
  )
  if (job === null) return
  countReply(walk, job, 'the answer')
  settled(walk, job, { kind: 'completed', text: 'the answer' })
}

function settled(walk: Walk, job: ModelJob, outcome: AttemptOutcome): void {
  if (outcome.kind === 'completed') end(walk, job, 'completed', outcome.text)
  else if (outcome.kind === 'cancelled' || job.stopAsked) end(walk, job, 'cancelled')
  else if (outcome.kind === 'failed') end(walk, job, 'failed', null, outcome.error)
  else if (outcome.kind === 'released') Object.assign(job, { status: 'pending', woken: false })
  else if (outcome.kind === 'postponed') Object.assign(job, { status: 'pending', woken: false, crashes: 0 })
  else Object.assign(job, { status: job.woken ? 'pending' : outcome.status, woken: false, crashes: 0 })
}

/** The children of a job end with it, and its parent hears of the end. */
function end(walk: Walk, job: ModelJob, status: JobStatus, text: string | null = null, error: string | null = null): void {
  const kept = job.said.length > 0 ? job.said.join('\n\n') : null
  Object.assign(job, { status, result: text ?? kept, error, woken: false })
  for (const child of walk.jobs.filter((one) => one.parent === job.id)) stop(walk, child)
  const parent = parentOf(walk, job)
  if (parent !== undefined) wakeUp(parent)
}

function stop(walk: Walk, job: ModelJob): void {
  if (isTerminal(job.status)) return
  job.stopAsked = true
  if (job.status !== 'running') end(walk, job, 'cancelled')
}

function wakeUp(job: ModelJob): void {
  if (job.status === 'awaiting_approval' || job.status === 'awaiting_child') job.status = 'pending'
  else if (job.status === 'running') job.woken = true
}

function parentOf(walk: Walk, job: ModelJob): ModelJob | undefined {
  return walk.jobs.find((one) => one.id === job.parent)
}

function wake(walk: Walk, a: number): void {
  const job = pick(walk.jobs, a)
  if (job === undefined) return
  const waits = job.status === 'awaiting_approval' || job.status === 'awaiting_child'
  const answer = write(walk, (tx) => walk.rig.store.wake(tx, job.id))
  assert.equal(answer, waits ? 'woken' : job.status === 'running' ? 'marked' : 'ignored')
  wakeUp(job)
}

function cancel(walk: Walk, a: number): void {
  const job = pick(walk.jobs, a)
  if (job === undefined) return
  if (isTerminal(job.status)) {
    assert.throws(() => write(walk, (tx) => walk.rig.store.cancel(tx, job.id)), { code: 'job_already_finished' })
    return
  }
  write(walk, (tx) => walk.rig.store.cancel(tx, job.id))
  stop(walk, job)
}

function cancelAllOfAgent(walk: Walk, a: number, b: number): void {
  if (a % 2 !== 0) return
  const agentId = walk.agents[b % AGENTS]!
  write(walk, (tx) => walk.rig.store.cancelAllOf(tx, { agentId }))
  for (const job of walk.jobs.filter((one) => one.agent === agentId)) stop(walk, job)
}

function forceCancel(walk: Walk, a: number): void {
  const job = pick(walk.jobs, a)
  if (job === undefined) return
  const due = job.status === 'running' && job.stopAsked
  assert.equal(
    write(walk, (tx) => walk.rig.store.forceCancel(tx, job.id)),
    due,
  )
  if (due) end(walk, job, 'cancelled')
}

function retry(walk: Walk, a: number): void {
  const job = pick(walk.jobs, a)
  if (job === undefined) return
  if (!isTerminal(job.status)) {
    assert.throws(() => write(walk, (tx) => walk.rig.store.retry(tx, job.id)), { code: 'job_not_finished' })
    return
  }
  const again = write(walk, (tx) => walk.rig.store.retry(tx, job.id))
  assert.equal(again.retryOfJobId, job.id)
  assert.equal(walk.rig.store.getJob(walk.rig.db, job.id).retriedByJobId, again.id)
  addJob(walk, again.id, job.agent, again.conversationId, job.schedule)
}

function crash(walk: Walk): void {
  boot(walk)
  const expected = { pending: [] as string[], cancelled: [] as string[], failed: [] as string[] }
  // A job that ends stops its children, which are younger.
  for (const job of walk.jobs) {
    if (job.status !== 'running') continue
    if (job.stopAsked) {
      end(walk, job, 'cancelled')
      expected.cancelled.push(job.id)
    } else if (job.crashes >= 1) {
      end(walk, job, 'failed', null, 'crash_loop')
      expected.failed.push(job.id)
    } else {
      Object.assign(job, { status: 'pending', crashes: job.crashes + 1, woken: false })
      expected.pending.push(job.id)
    }
  }
  assert.deepEqual(
    write(walk, (tx) => walk.rig.store.rescue(tx)),
    expected,
  )
}

function pass(walk: Walk, a: number): void {
  walk.rig.clock.advance(a % 2 === 0 ? a : a * 2000)
}

function beat(walk: Walk, a: number): void {
  const claims = walk.claims.slice(-1 - (a % 4))
  write(walk, (tx) => walk.rig.store.heartbeat(tx, claims))
  for (const claim of claims) {
    const job = walk.jobs.find((one) => one.id === claim.jobId)!
    if (job.status === 'running' && job.claim === claim.claim) job.lastSign = walk.rig.clock.now()
  }
}

function watch(walk: Walk): void {
  const silent = walk.jobs.filter((job) => job.status === 'running' && job.lastSign < walk.rig.clock.now() - SILENCE_MS)
  const failed = write(walk, (tx) => walk.rig.store.failStuck(tx, SILENCE_MS))
  assert.deepEqual(
    failed,
    silent.map((job) => job.id),
  )
  for (const job of silent) end(walk, job, 'failed', null, 'stuck')
}

function removeConversation(walk: Walk, a: number): void {
  if (a % 3 !== 0) return
  const id = pick(walk.conversations, a)
  if (id === undefined) return
  write(walk, (tx) => deleteConversation(tx, { jobs: walk.rig.store }, id))
  walk.conversations.splice(walk.conversations.indexOf(id), 1)
  for (const job of walk.jobs.filter((one) => one.conversation === id)) {
    stop(walk, job)
    job.conversation = null
  }
}

function write<T>(walk: Walk, work: (tx: Tx) => T): T {
  return transact<unknown>(walk.rig.db, work) as T
}

function pick<T>(from: readonly T[], a: number): T | undefined {
  return from.length === 0 ? undefined : from[a % from.length]
}

// What must be true after every step.

type Row = {
  seq: number
  id: string
  status: JobStatus
  conversation_id: string | null
  claim: number
  crashes: number
  woken: number
  cancel_requested_at: number | null
  boot_id: string | null
  steps: number
  turns: number
  tool_calls: number
  cost_micros: number
  children_cost_micros: number
  error: string | null
  finished_at: number | null
  heartbeat_at: number | null
  result: string | null
}

function compare(walk: Walk): void {
  const { db } = walk.rig
  assert.equal(db.connection.inTransaction, false)
  const rows = db
    .prepare<Row>('SELECT job.*, texts.result FROM agent_jobs AS job JOIN job_texts AS texts ON texts.job_seq = job.seq ORDER BY job.seq')
    .all()
  assert.equal(rows.length, walk.jobs.length, 'no job is lost and none appears')
  const boots = new Set<string>()
  walk.jobs.forEach((job, i) => {
    const row = rows[i]!
    compareRow(job, row)
    if (row.boot_id !== null) boots.add(row.boot_id)
  })
  assert.ok(boots.size <= 1, 'no job belongs to a boot that is over')
  compareQueues(walk)
  compareSums(walk, rows)
  compareConversations(walk)
}

function compareRow(job: ModelJob, row: Row): void {
  const found = [
    row.id,
    row.status,
    row.claim,
    row.crashes,
    row.woken === 1,
    row.cancel_requested_at !== null,
    row.steps,
    row.turns,
    row.tool_calls,
    row.cost_micros,
    row.children_cost_micros,
    row.error,
    row.conversation_id,
    row.result,
    row.heartbeat_at,
  ]
  const expected = [
    job.id,
    job.status,
    job.claim,
    job.crashes,
    job.woken,
    job.stopAsked,
    job.steps,
    job.turns,
    job.toolCalls,
    job.cost,
    job.childrenCost,
    job.error,
    job.conversation,
    job.result,
    job.status === 'running' ? job.lastSign : null,
  ]
  assert.equal(JSON.stringify(found), JSON.stringify(expected))
  if (!isTerminal(job.status)) return
  // The conversation may be deleted, and a child may still be running.
  const { conversation_id: _mayGo, children_cost_micros: _mayGrow, ...rest } = row
  const frozen = JSON.stringify(rest)
  job.frozen ??= frozen
  assert.equal(frozen, job.frozen, 'a finished job never changes')
}

function compareQueues(walk: Walk): void {
  const running = walk.jobs.filter((job) => job.status === 'running')
  assert.ok(running.length <= LIMIT)
  for (const queue of ['conversation', 'schedule'] as const) {
    const names = running.map((job) => job[queue]).filter((name) => name !== null)
    assert.equal(new Set(names).size, names.length, `one at a time in a ${queue}`)
  }
}

/** Numbers that are stored twice are equal. */
function compareSums({ rig: { db } }: Walk, rows: Row[]): void {
  const steps = db
    .prepare<{ job_seq: number; steps: number; last: number; cost: number }>(
      'SELECT job_seq, count(*) AS steps, max(seq) AS last, coalesce(sum(cost_micros), 0) AS cost FROM job_steps GROUP BY job_seq',
    )
    .all()
  const bySeq = new Map(steps.map((one) => [one.job_seq, one]))
  for (const row of rows) {
    const { steps: count, last, cost } = bySeq.get(row.seq) ?? { steps: 0, last: 0, cost: 0 }
    assert.equal(count, row.steps, 'every step is there')
    assert.equal(last, row.steps, 'steps are numbered without a gap')
    assert.equal(cost, row.cost_micros, 'a job costs what its replies cost')
  }
  for (const { fromSteps, fromSums } of SPEND) {
    assert.deepEqual(db.prepare(fromSums).all(), db.prepare(fromSteps).all(), 'spend is what the recorded replies cost')
  }
}

const SPEND = [
  {
    fromSteps: `SELECT created_at - created_at % 900000 AS at, sum(cost_micros) AS cost, sum(input_tokens) AS input, sum(first_of_job) AS jobs
      FROM job_steps WHERE kind = 'reply' GROUP BY 1 ORDER BY 1`,
    fromSums: 'SELECT bucket_at AS at, cost_micros AS cost, input_tokens AS input, jobs FROM spend_buckets ORDER BY 1',
  },
  {
    fromSteps: `SELECT step.created_at - step.created_at % 86400000 AS at, job.agent_id AS agent, job.channel AS channel, step.model AS model,
        sum(step.cost_micros) AS cost, sum(step.first_of_job) AS jobs, sum(step.first_of_model) AS model_jobs
      FROM job_steps AS step JOIN agent_jobs AS job ON job.seq = step.job_seq WHERE step.kind = 'reply'
      GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
    fromSums:
      'SELECT day_at AS at, agent_id AS agent, channel, model, cost_micros AS cost, jobs, model_jobs FROM spend_days ORDER BY 1, 2, 3, 4',
  },
]

function compareConversations(walk: Walk): void {
  const { db } = walk.rig
  const messages = db.prepare<{ job_id: string; role: string; text: string }>('SELECT job_id, role, text FROM messages').all()
  const expected = walk.jobs
    .filter((job) => job.conversation !== null)
    .flatMap((job) => [`${job.id} user`, ...(isTerminal(job.status) && job.result ? [`${job.id} assistant`] : [])])
  assert.deepEqual(messages.map((one) => `${one.job_id} ${one.role}`).sort(), expected.sort(), 'a conversation holds its turns, each once')
  const open = walk.jobs.filter((job) => !isTerminal(job.status)).length
  const counts = walk.rig.store.countJobs(db)
  assert.equal(counts.pending + counts.running + counts.awaiting_approval + counts.awaiting_child, open)
}
