import { quote } from '../../lib/messages.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { transact, type Tx } from '../../platform/db/database.ts'
import type { LiveJobStream, StoredEvent } from '../../contract/events.ts'
import { openDomainRig, replyOf, type DomainRig } from '../../testing/domain-rig.ts'
import { deleteAgent } from '../../execution/delete-agent.ts'
import { deleteConversation, findConversation, getConversation, listMessages } from '../conversations/conversations.ts'
import type { Claim } from './claim-job.ts'
import type { AttemptOutcome } from './settle-job.ts'
import type { NewJob } from './enqueue-job.ts'
import type { NewReply } from './record-steps.ts'
import { StaleClaimError } from '../../lib/errors.ts'

let rig: DomainRig
let agentId: string
let events: StoredEvent[]

beforeEach(() => {
  rig = openDomainRig()
  agentId = rig.addAgent('Ada').id
  events = []
  rig.db.onEvents((event) => void events.push(event))
})
afterEach(() => rig.close())

function write<T>(work: (tx: Tx) => T): T {
  return transact<unknown>(rig.db, work) as T
}
const enqueue = (job: Partial<NewJob> = {}) => write((tx) => rig.store.enqueue(tx, { agentId, channel: 'api', task: 'Do it', ...job }))
const claim = (jobId: string): Claim => write((tx) => rig.store.claim(tx, jobId, 100))!.claim
const claimNext = () => write((tx) => rig.store.claimNext(tx, 100))
const job = (id: string) => rig.store.getJob(rig.db, id)
const types = () => events.map((event) => event.type)
const settle = (held: Claim, outcome: AttemptOutcome, lastReply?: NewReply) => write((tx) => rig.store.settle(tx, held, outcome, lastReply))
const recordReply = (held: Claim, reply: NewReply) => write((tx) => rig.store.recordReply(tx, held, reply))
const complete = (held: Claim, text = 'Done.') => settle(held, { kind: 'completed', text })

describe('enqueueing', () => {
  test('makes a pending job with the first non-empty line as its title', () => {
    const { id } = enqueue({ task: '\n   \n  Sum   up the report\nwith three points' })
    expect(job(id)).toMatchObject({
      status: 'pending',
      title: 'Sum up the report',
      agentName: 'Ada',
      attempt: 0,
      startedAt: null,
      costUsd: 0,
    })
    expect(types()).toEqual(['job.created'])
  })

  test('cuts a long title to 80 characters without splitting one', () => {
    expect(enqueue({ task: 'x'.repeat(200) }).title).toBe(`${'x'.repeat(79)}…`)
    expect(enqueue({ task: `${'x'.repeat(78)}😀${'y'.repeat(20)}` }).title).toBe(`${'x'.repeat(78)}…`)
  })

  test('opens a conversation for a chat message, and continues it with the next turn', () => {
    const first = enqueue({ channel: 'chat', task: 'Hello' })
    const conversationId = first.conversationId!
    rig.clock.advance(1000)
    enqueue({ channel: 'chat', task: 'And then?', conversation: conversationId })
    expect(getConversation(rig.db, conversationId)).toMatchObject({
      title: 'Hello',
      agentName: 'Ada',
      lastJobStatus: 'pending',
      updatedAt: rig.clock.now(),
    })
    expect(listMessages(rig.db, conversationId).map((one) => `${one.role}: ${one.text}`)).toEqual(['user: Hello', 'user: And then?'])
    expect(types()).toEqual(['conversation.created', 'job.created', 'conversation.changed', 'job.created'])
  })

  test('names what does not exist, and writes nothing', () => {
    const nobody = rig.ids.next()
    const other = rig.addAgent('Bob').id
    const { conversationId } = enqueue({ channel: 'chat' })
    events.length = 0
    expect(() => enqueue({ agentId: nobody })).toThrow(expect.objectContaining({ code: 'agent_not_found' }))
    expect(() => enqueue({ conversation: nobody })).toThrow(expect.objectContaining({ code: 'conversation_not_found' }))
    expect(() => enqueue({ agentId: other, conversation: conversationId })).toThrow(
      expect.objectContaining({ code: 'conversation_not_found' }),
    )
    expect(() => enqueue({ parentJobId: nobody })).toThrow(expect.objectContaining({ code: 'job_not_found' }))
    expect(rig.store.countJobs(rig.db).pending).toBe(1)
    expect(events).toEqual([])
  })

  test('rejects a second job with the same id', () => {
    const insert = () =>
      write((tx) => rig.store.insertAll(tx, [{ job: { agentId, channel: 'schedule', task: 'Do it', scheduleId: 's' }, id: 'made-before' }]))
    expect(insert()[0]!.id).toBe('made-before')
    expect(insert).toThrow(/UNIQUE/)
    expect(rig.store.countJobs(rig.db).pending).toBe(1)
  })

  test.each([1, 15, 16, 17, 50])('inserts %i jobs in order, each with its own texts and event', (count) => {
    const other = rig.addAgent('Bob').id
    const toMake = Array.from({ length: count }, (_, i) => ({
      job: { agentId: i % 3 === 0 ? other : agentId, channel: 'api' as const, task: `Task ${i}`, context: { i } },
    }))
    const made = write((tx) => rig.store.insertAll(tx, toMake))
    const jobs = made.map(({ id }) => rig.store.getJob(rig.db, id))
    expect(jobs.map(({ agentId, task, context }) => ({ agentId, task, context }))).toEqual(
      toMake.map(({ job: { agentId, task, context } }) => ({ agentId, task, context })),
    )
    expect(rig.store.listJobs(rig.db, { limit: 100 }).jobs.map(({ id }) => id)).toEqual(made.map(({ id }) => id).reverse())
    const created = events.filter(({ type }) => type === 'job.created')
    expect(created.map(({ payload }) => payload)).toMatchObject(jobs.map(({ id, agentId, title }) => ({ jobId: id, agentId, title })))
    expect(created.map(({ id }) => id - created[0]!.id)).toEqual([...created.keys()])
  })

  test('inserts all jobs of a batch or none', () => {
    const job = { agentId, channel: 'api' as const, task: 'Do it' }
    const toMake = [...Array.from({ length: 20 }, () => ({ job })), { job: { ...job, agentId: 'nobody' } }]
    expect(() => write((tx) => rig.store.insertAll(tx, toMake))).toThrow('This agent does not exist.')
    expect(rig.store.countJobs(rig.db).pending).toBe(0)
  })
})

describe('claiming', () => {
  test('returns the job with its claim and attempt, and emits an event', () => {
    const { id } = enqueue()
    const claimed = claimNext()!
    expect(claimed.claim).toMatchObject({ jobId: id, claim: 1, attempt: 1 })
    expect(claimed.job).toMatchObject({ id, status: 'running', task: 'Do it', startedAt: rig.clock.now() })
    expect(events.at(-1)).toMatchObject({ type: 'job.started', payload: { jobId: id, attempt: 1 } })
    expect(claimNext()).toBeNull()
  })

  test('serves another agent beside one with a hundred jobs', () => {
    const busy = Array.from({ length: 100 }, () => enqueue().id)
    const quiet = rig.addAgent('Bob').id
    const lone = enqueue({ agentId: quiet }).id
    const served = [claimNext(), claimNext()].map((one) => one!.job.id)
    expect(new Set(served)).toEqual(new Set([busy[0], lone]))
  })

  test('prefers an agent without a running job', () => {
    claim(enqueue().id)
    const quiet = rig.addAgent('Bob').id
    enqueue()
    const lone = enqueue({ agentId: quiet }).id
    expect(claimNext()!.job.id).toBe(lone)
  })

  test('serves equally waiting agents in turn', () => {
    const others = [rig.addAgent('Bob').id, rig.addAgent('Cy').id]
    for (const id of [agentId, ...others]) for (let i = 0; i < 2; i++) enqueue({ agentId: id })
    const order: string[] = []
    for (let i = 0; i < 6; i++) {
      const { claim: held, job: served } = claimNext()!
      order.push(served.agentId)
      complete(held)
    }
    expect(new Set(order.slice(0, 3)).size).toBe(3)
    expect(order.slice(3)).toEqual(order.slice(0, 3))
  })

  test('runs turns of a conversation one after another, also while one waits for a person', () => {
    const first = enqueue({ channel: 'chat', task: 'one' })
    const second = enqueue({ channel: 'chat', task: 'two', conversation: first.conversationId })
    const held = claimNext()!.claim
    expect(held.jobId).toBe(first.id)
    expect(claimNext()).toBeNull()
    settle(held, { kind: 'waiting', status: 'awaiting_approval' })
    expect(claimNext()).toBeNull()
    write((tx) => rig.store.wake(tx, first.id))
    complete(claimNext()!.claim)
    expect(claimNext()!.job.id).toBe(second.id)
  })

  test('runs one job of a schedule at a time, and never more jobs than the limit', () => {
    const fire = enqueue({ channel: 'schedule', scheduleId: 's' })
    enqueue({ channel: 'schedule', scheduleId: 's' })
    enqueue()
    expect(write((tx) => rig.store.claimNext(tx, 2))!.job.id).toBe(fire.id)
    expect(write((tx) => rig.store.claimNext(tx, 2))!.job.scheduleId).toBeNull()
    expect(write((tx) => rig.store.claimNext(tx, 2))).toBeNull()
    expect(write((tx) => rig.store.claimNext(tx, 3))).toBeNull()
  })

  test('returns null for a named job that runs or has ended', () => {
    const { id } = enqueue()
    const held = claim(id)
    expect(write((tx) => rig.store.claim(tx, id, 100))).toBeNull()
    complete(held)
    expect(write((tx) => rig.store.claim(tx, id, 100))).toBeNull()
    expect(write((tx) => rig.store.claim(tx, rig.ids.next(), 100))).toBeNull()
    expect(job(id).attempt).toBe(1)
  })
})

describe('recording', () => {
  test('stores a reply as a step and adds it to the job at once', () => {
    const { id } = enqueue()
    const held = claim(id)
    rig.clock.advance(2500)
    const toolCalls = [{ callId: 'a', name: 'read_file', args: { path: 'x', deep: [1, null] } }]
    const step = recordReply(held, replyOf('Looking', { toolCalls, reasoning: 'hm', costMicros: 1_250_000 }))
    write((tx) => rig.store.recordToolStarted(tx, held, { callId: 'a', name: 'read_file' }))
    write((tx) => rig.store.recordToolResult(tx, held, { callId: 'a', name: 'read_file', ok: false, output: 'gone', durationMs: 3.7 }))
    recordReply(held, replyOf('Sorry', { priced: false, costMicros: 0, model: { providerId: 'demo', model: 'b' } }))
    const steps = rig.store.listSteps(rig.db, id)
    expect(steps[0]).toEqual(step)
    expect(steps.map((one) => [one.seq, one.kind])).toEqual([
      [1, 'reply'],
      [2, 'tool_started'],
      [3, 'tool_result'],
      [4, 'reply'],
    ])
    expect(steps[0]).toMatchObject({ text: 'Looking', reasoning: 'hm', toolCalls, costUsd: 1.25, priced: true })
    expect(steps[2]).toMatchObject({ callId: 'a', ok: false, output: 'gone', durationMs: 4 })
    expect(steps[3]).not.toHaveProperty('reasoning')
    expect(job(id)).toMatchObject({
      turns: 2,
      toolCalls: 1,
      inputTokens: 200,
      outputTokens: 40,
      cachedTokens: 20,
      costUsd: 1.25,
      priced: false,
      model: { providerId: 'demo', model: 'b' },
      workingMs: 2500,
    })
    expect(rig.store.listSteps(rig.db, id, 2).map((one) => one.seq)).toEqual([3, 4])
    expect(events.filter((event) => event.type === 'job.step_recorded').map((event) => event.payload.seq)).toEqual([1, 2, 3, 4])
  })

  test('counts invalid numbers of a provider as 0', () => {
    const { id } = enqueue()
    const usage = { input: 10, output: Number.NaN, cached: 99 }
    recordReply(claim(id), replyOf('x', { usage, costMicros: 0.4, durationMs: -1 }))
    expect(job(id)).toMatchObject({ inputTokens: 10, outputTokens: 0, cachedTokens: 10, costUsd: 0 })
  })

  test('does not count waiting as working time', () => {
    const { id } = enqueue()
    const first = claim(id)
    rig.clock.advance(1000)
    settle(first, { kind: 'waiting', status: 'awaiting_approval' })
    rig.clock.advance(3_600_000)
    write((tx) => rig.store.wake(tx, id))
    const second = claim(id)
    rig.clock.advance(500)
    complete(second)
    expect(job(id).workingMs).toBe(1500)
  })
})

describe('settling', () => {
  test('counts how often a job was postponed in a row for one cause, until it makes progress', () => {
    const { id } = enqueue()
    const postpone = (cause: 'silence' | 'keychain') => {
      settle(claim(id), { kind: 'postponed', cause, waitMs: 0, message: quote('Nobody answers.'), notifiesOwner: false })
      return rig.store.findPostponed(rig.db, id)
    }
    expect([postpone('keychain'), postpone('keychain'), postpone('silence'), postpone('silence')]).toEqual([
      { cause: 'keychain', times: 1 },
      { cause: 'keychain', times: 2 },
      { cause: 'silence', times: 1 },
      { cause: 'silence', times: 2 },
    ])
    recordReply(claim(id), replyOf('Here.'))
    expect(rig.store.findPostponed(rig.db, id)).toBeNull()
  })

  test('completes a job with its result and message in the transaction of the last reply', () => {
    const { id, conversationId } = enqueue({ channel: 'chat' })
    const held = claim(id)
    events.length = 0
    expect(settle(held, { kind: 'completed', text: 'It is done.' }, replyOf('It is done.'))).toBe('completed')
    expect(job(id)).toMatchObject({ status: 'completed', result: 'It is done.', turns: 1, finishedAt: rig.clock.now(), error: null })
    expect(listMessages(rig.db, conversationId!).at(-1)).toMatchObject({ role: 'assistant', text: 'It is done.', jobId: id })
    expect(types()).toEqual(['job.step_recorded', 'conversation.changed', 'job.finished'])
    expect(events.at(-1)).toMatchObject({ payload: { status: 'completed', costUsd: 0.00015, error: null } })
  })

  test.each(['failed', 'cancelled'] as const)('keeps the text so far of a job that is %s', (outcome) => {
    const { id, conversationId } = enqueue({ channel: 'chat' })
    const held = claim(id)
    recordReply(held, replyOf('First half.'))
    recordReply(held, replyOf(''))
    recordReply(held, replyOf('Second half.'))
    settle(held, outcome === 'failed' ? { kind: outcome, error: 'turn_limit', message: quote('Too many turns.') } : { kind: outcome })
    expect(job(id)).toMatchObject({ status: outcome, result: 'First half.\n\nSecond half.' })
    expect(job(id).error).toBe(outcome === 'failed' ? 'turn_limit' : null)
    expect(listMessages(rig.db, conversationId!)).toHaveLength(2)
  })

  test('keeps a reply that broke off only until another one follows', () => {
    const { id } = enqueue({ channel: 'chat' })
    const first = claim(id)
    recordReply(first, replyOf('Dear An', { interrupted: true }))
    settle(first, { kind: 'released' })
    const second = claim(id)
    recordReply(second, replyOf('Dear Anna, I look it up.'))
    recordReply(second, replyOf('It ra', { interrupted: true }))
    recordReply(second, replyOf('', { interrupted: true }))
    settle(second, { kind: 'cancelled' })
    expect(job(id).result).toBe('Dear Anna, I look it up.\n\nIt ra')
  })

  test('counts the reply under way of a job that is stopped by force as one that follows', () => {
    const { id } = enqueue({ channel: 'chat' })
    const first = claim(id)
    recordReply(first, replyOf('Dear An', { interrupted: true }))
    settle(first, { kind: 'released' })
    const second = claim(id)
    rig.liveStreams.delta(second, 'Dear Anna')
    write((tx) => rig.store.cancel(tx, id))
    write((tx) => rig.store.forceCancel(tx, id))
    expect(job(id)).toMatchObject({ status: 'cancelled', result: 'Dear Anna' })
  })

  test('stores no result and no message for a job without text', () => {
    const { id, conversationId } = enqueue({ channel: 'chat' })
    settle(claim(id), { kind: 'failed', error: 'model_auth', message: quote('The key is wrong.'), text: '' })
    expect(job(id)).toMatchObject({ result: null, errorMessage: quote('The key is wrong.') })
    expect(listMessages(rig.db, conversationId!).map((one) => one.role)).toEqual(['user'])
  })

  test('makes a released job pending with its steps, without counting a crash', () => {
    const { id } = enqueue()
    for (let i = 1; i <= 4; i++) {
      const held = claim(id)
      if (i === 1) write((tx) => rig.store.recordToolStarted(tx, held, { callId: 'a', name: 'send' }))
      expect(settle(held, { kind: 'released' })).toBe('pending')
    }
    expect(job(id)).toMatchObject({ status: 'pending', attempt: 4 })
    expect(rig.store.listSteps(rig.db, id)).toHaveLength(1)
  })

  test('lets a Stop win over failing, waiting and releasing, but not over a complete answer', () => {
    const outcomes = [
      [{ kind: 'failed', error: 'internal', message: quote('aborted') }, 'cancelled'],
      [{ kind: 'waiting', status: 'awaiting_approval' }, 'cancelled'],
      [{ kind: 'released' }, 'cancelled'],
      [{ kind: 'completed', text: 'ready' }, 'completed'],
    ] as const
    for (const [outcome, status] of outcomes) {
      const { id } = enqueue()
      const held = claim(id)
      expect(write((tx) => rig.store.cancel(tx, id))).toMatchObject({ status: 'running', cancelRequested: true })
      expect(settle(held, outcome)).toBe(status)
      expect(job(id).status).toBe(status)
    }
  })
})

describe('a wake', () => {
  test('makes the job pending if it comes before the job sleeps', () => {
    const { id } = enqueue()
    const held = claim(id)
    expect(write((tx) => rig.store.wake(tx, id))).toBe('marked')
    expect(settle(held, { kind: 'waiting', status: 'awaiting_approval' })).toBe('pending')
    expect(claimNext()!.job.id).toBe(id)
  })

  test('counts for one sleep only', () => {
    const { id } = enqueue()
    const first = claim(id)
    write((tx) => rig.store.wake(tx, id))
    settle(first, { kind: 'waiting', status: 'awaiting_approval' })
    expect(settle(claim(id), { kind: 'waiting', status: 'awaiting_child' })).toBe('awaiting_child')
  })
})

describe('a late wake', () => {
  test.each(['completed', 'failed', 'cancelled', 'pending'] as const)('leaves a job %s', (status) => {
    const { id } = enqueue()
    if (status === 'completed') complete(claim(id))
    if (status === 'failed') settle(claim(id), { kind: 'failed', error: 'stuck', message: quote('x') })
    if (status === 'cancelled') write((tx) => rig.store.cancel(tx, id))
    events.length = 0
    expect(write((tx) => rig.store.wake(tx, id))).toBe('ignored')
    expect(job(id).status).toBe(status)
    expect(events).toEqual([])
  })

  test('starts one run for two answers', () => {
    const { id } = enqueue()
    settle(claim(id), { kind: 'waiting', status: 'awaiting_approval' })
    expect([1, 2].map(() => write((tx) => rig.store.wake(tx, id)))).toEqual(['woken', 'ignored'])
    claim(id)
    expect(claimNext()).toBeNull()
  })
})

describe('a lost claim', () => {
  const WRITES: Record<string, (tx: Tx, held: Claim) => unknown> = {
    reply: (tx, held) => rig.store.recordReply(tx, held, replyOf('late')),
    'tool start': (tx, held) => rig.store.recordToolStarted(tx, held, { callId: 'a', name: 't' }),
    'tool result': (tx, held) => rig.store.recordToolResult(tx, held, { callId: 'a', name: 't', ok: true, output: '', durationMs: 0 }),
    outcome: (tx, held) => rig.store.settle(tx, held, { kind: 'completed', text: 'late' }),
    'outcome with reply': (tx, held) => rig.store.settle(tx, held, { kind: 'completed', text: 'late' }, replyOf('late')),
  }
  const LOSSES: Record<string, (id: string) => void> = {
    'a process that died': () => {
      rig.reboot()
      write((tx) => rig.store.rescue(tx))
    },
    'a process that died, while another attempt runs': (id) => {
      rig.reboot()
      write((tx) => rig.store.rescue(tx))
      claim(id)
    },
    'a forced stop': (id) => {
      write((tx) => rig.store.cancel(tx, id))
      write((tx) => rig.store.forceCancel(tx, id))
    },
    'being stuck': () => {
      rig.clock.advance(16 * 60_000)
      write((tx) => rig.store.failStuck(tx, 15 * 60_000))
    },
  }
  for (const [loss, lose] of Object.entries(LOSSES)) {
    test.each(Object.keys(WRITES))(`after ${loss} allows no %s`, (kind) => {
      const { id } = enqueue({ channel: 'chat' })
      const held = claim(id)
      lose(id)
      const before = rig.db.prepare('SELECT * FROM agent_jobs').all()
      expect(() => write((tx) => WRITES[kind]!(tx, held))).toThrow(StaleClaimError)
      expect(rig.db.prepare('SELECT * FROM agent_jobs').all()).toEqual(before)
      expect(rig.store.listSteps(rig.db, id)).toEqual([])
      rig.clock.advance(1)
      write((tx) => rig.store.heartbeat(tx, [held]))
      expect(rig.db.prepare('SELECT * FROM agent_jobs').all()).toEqual(before)
      expect(rig.store.isHeld(rig.db, held)).toBe(false)
    })
  }
})

test('shows since when a job works, and nothing while it waits', () => {
  const { id } = enqueue()
  expect(rig.store.getJob(rig.db, id)).toMatchObject({ workingMs: 0, workingSince: null })
  const held = claim(id)
  expect(rig.store.getJob(rig.db, id)).toMatchObject({ workingMs: 0, workingSince: rig.clock.now() })
  rig.clock.advance(700)
  write((tx) => rig.store.heartbeat(tx, [held]))
  expect(rig.store.getJob(rig.db, id)).toMatchObject({ workingMs: 700, workingSince: rig.clock.now() })
  rig.clock.advance(300)
  settle(held, { kind: 'waiting', status: 'awaiting_approval' })
  rig.clock.advance(60_000)
  expect(rig.store.getJob(rig.db, id)).toMatchObject({ workingMs: 1_000, workingSince: null })
})

describe('stopping', () => {
  test('ends a job that does not run at once', () => {
    const { id } = enqueue()
    expect(write((tx) => rig.store.cancel(tx, id))).toMatchObject({
      status: 'cancelled',
      cancelRequested: true,
      finishedAt: rig.clock.now(),
    })
    expect(() => write((tx) => rig.store.cancel(tx, id))).toThrow(expect.objectContaining({ code: 'job_already_finished' }))
    expect(() => write((tx) => rig.store.cancel(tx, rig.ids.next()))).toThrow(expect.objectContaining({ code: 'job_not_found' }))
  })

  test('keeps recorded replies and the reply under way of a forced stop', () => {
    const { id } = enqueue()
    const held = claim(id)
    recordReply(held, replyOf('Recorded.'))
    rig.liveStreams.delta(held, 'Half a sen')
    expect(write((tx) => rig.store.forceCancel(tx, id))).toBe(false)
    write((tx) => rig.store.cancel(tx, id))
    expect(write((tx) => rig.store.forceCancel(tx, id))).toBe(true)
    expect(job(id)).toMatchObject({ status: 'cancelled', result: 'Recorded.\n\nHalf a sen' })
  })

  test('stops the jobs of a deleted agent, which stay readable', () => {
    const pending = enqueue()
    const running = enqueue()
    const held = claim(running.id)
    write((tx) => deleteAgent(tx, { clock: rig.clock, jobs: rig.store }, agentId))
    expect(job(pending.id)).toMatchObject({ status: 'cancelled', agentName: 'Ada' })
    expect(job(running.id)).toMatchObject({ status: 'running', cancelRequested: true })
    settle(held, { kind: 'cancelled' })
    expect(() => enqueue()).toThrow(expect.objectContaining({ code: 'agent_not_found' }))
    expect(() => write((tx) => rig.store.retry(tx, pending.id))).toThrow(expect.objectContaining({ code: 'agent_not_found' }))
  })

  test('stops the jobs of a deleted agent that wait for other jobs of it', () => {
    const { id } = enqueue()
    const held = claim(id)
    const child = enqueue({ channel: 'delegation', parentJobId: id, parentCallId: 'call_1' }).id
    settle(held, { kind: 'waiting', status: 'awaiting_child' })
    write((tx) => deleteAgent(tx, { clock: rig.clock, jobs: rig.store }, agentId))
    expect([job(id).status, job(child).status]).toEqual(['cancelled', 'cancelled'])
  })

  test('stops the turns of a deleted conversation, whose jobs stay', () => {
    const done = enqueue({ channel: 'chat' })
    complete(claim(done.id))
    const waiting = enqueue({ channel: 'chat', conversation: done.conversationId })
    write((tx) => deleteConversation(tx, { jobs: rig.store }, done.conversationId!))
    expect(findConversation(rig.db, done.conversationId!)).toBeNull()
    expect(job(done.id)).toMatchObject({ status: 'completed', conversationId: null, result: 'Done.' })
    expect(job(waiting.id)).toMatchObject({ status: 'cancelled', conversationId: null })
  })
})

describe('after a crash', () => {
  test('continues jobs from their last step, ends stopped ones and leaves finished ones alone', () => {
    const [done, running, stopping, asked] = [enqueue().id, enqueue().id, enqueue().id, enqueue().id]
    complete(claim(done))
    const held = claim(running)
    recordReply(held, replyOf('Step one.'))
    claim(stopping)
    write((tx) => rig.store.cancel(tx, stopping))
    settle(claim(asked), { kind: 'waiting', status: 'awaiting_approval' })
    const before = job(done)
    rig.reboot()
    expect(write((tx) => rig.store.rescue(tx))).toEqual({ pending: [running], cancelled: [stopping], failed: [] })
    expect(job(done)).toEqual(before)
    expect(job(asked).status).toBe('awaiting_approval')
    expect(rig.store.listSteps(rig.db, running)).toHaveLength(1)
    expect(claimNext()!.claim).toMatchObject({ jobId: running, claim: 2, attempt: 2 })
    expect(write((tx) => rig.store.rescue(tx))).toEqual({ pending: [], cancelled: [], failed: [] })
  })

  test('fails a job that crashes the process twice without progress', () => {
    const { id } = enqueue()
    for (const expected of ['pending', 'failed']) {
      claim(id)
      rig.reboot()
      write((tx) => rig.store.rescue(tx))
      expect(job(id).status).toBe(expected)
    }
    expect(job(id)).toMatchObject({ error: 'crash_loop' })
  })

  test.each([
    ['was being stopped', 'cancelled'],
    ['crashed the process twice', 'failed'],
  ])('ends the child of a job that %s while both were running', (_how, end) => {
    const { id } = enqueue()
    if (end === 'failed') {
      claim(id)
      rig.reboot()
      write((tx) => rig.store.rescue(tx))
    }
    claim(id)
    const child = enqueue({ channel: 'delegation', parentJobId: id, parentCallId: 'call_1' }).id
    const held = claim(child)
    recordReply(held, replyOf('Half of it.'))
    if (end === 'cancelled') write((tx) => rig.store.cancel(tx, id))
    rig.reboot()
    write((tx) => rig.store.rescue(tx))
    expect([job(id).status, job(child).status]).toEqual([end, 'cancelled'])
  })

  test('does not fail a job that makes progress each time', () => {
    const { id } = enqueue()
    for (let i = 0; i < 5; i++) {
      const held = claim(id)
      recordReply(held, replyOf(`Reply ${i}`))
      rig.reboot()
      write((tx) => rig.store.rescue(tx))
    }
    expect(job(id)).toMatchObject({ status: 'pending', attempt: 5, turns: 5 })
  })

  test('does not fail the jobs beside the one that crashes the process', () => {
    const ids = Array.from({ length: 4 }, () => enqueue().id)
    const poison = ids[1]!
    for (let boots = 0; boots < 10; boots++) {
      const running: Claim[] = []
      for (let next = claimNext(); next !== null; next = claimNext()) running.push(next.claim)
      if (running.length === 0) break
      if (running.some((held) => held.jobId === poison)) {
        rig.reboot()
        write((tx) => rig.store.rescue(tx))
      } else running.forEach((held) => complete(held))
    }
    expect(ids.map((id) => job(id).status)).toEqual(['completed', 'failed', 'completed', 'completed'])
  })
})

describe('stuck jobs', () => {
  test('fail after 15 minutes without a step or heartbeat', () => {
    const [silent, stepping, beating] = [enqueue().id, enqueue().id, enqueue().id].map((id) => claim(id)) as [Claim, Claim, Claim]
    rig.clock.advance(10 * 60_000)
    write((tx) => rig.store.recordToolStarted(tx, stepping, { callId: 'a', name: 't' }))
    write((tx) => rig.store.heartbeat(tx, [beating]))
    rig.clock.advance(5 * 60_000)
    expect(write((tx) => rig.store.failStuck(tx, 15 * 60_000))).toEqual([])
    rig.clock.advance(1)
    expect(write((tx) => rig.store.failStuck(tx, 15 * 60_000))).toEqual([silent.jobId])
    expect(job(silent.jobId)).toMatchObject({
      status: 'failed',
      error: 'stuck',
      errorMessage: expect.objectContaining({ code: 'job_silent' }),
    })
  })
})

describe('retrying', () => {
  test('makes a new job with the same task in the same conversation, linked both ways', () => {
    const old = enqueue({ channel: 'chat', task: 'Try this', context: { from: 'me' } })
    expect(() => write((tx) => rig.store.retry(tx, old.id))).toThrow(expect.objectContaining({ code: 'job_not_finished' }))
    write((tx) => rig.store.cancel(tx, old.id))
    const again = write((tx) => rig.store.retry(tx, old.id))
    expect(again).toMatchObject({
      task: 'Try this',
      title: 'Try this',
      context: { from: 'me' },
      retryOfJobId: old.id,
      conversationId: old.conversationId,
      status: 'pending',
      attempt: 0,
      result: null,
    })
    expect(job(old.id).retriedByJobId).toBe(again.id)
  })

  test('opens a new conversation if the old one was deleted', () => {
    const old = enqueue({ channel: 'chat' })
    write((tx) => deleteConversation(tx, { jobs: rig.store }, old.conversationId!))
    const again = write((tx) => rig.store.retry(tx, old.id))
    expect(again.conversationId).not.toBeNull()
    expect(again.conversationId).not.toBe(old.conversationId)
  })
})

describe('the database', () => {
  test.each([
    "UPDATE agent_jobs SET status = 'pending', finished_at = NULL",
    "UPDATE agent_jobs SET result_preview = 'another'",
    'UPDATE agent_jobs SET cost_micros = 0',
  ])('rejects rewriting history: %s', (sql) => {
    complete(claim(enqueue().id))
    expect(() => rig.db.connection.exec(sql)).toThrow('a finished job never changes')
  })

  test.each([
    ["UPDATE agent_jobs SET status = 'running'", /CHECK/],
    ["UPDATE agent_jobs SET status = 'completed'", /CHECK/],
    ["UPDATE agent_jobs SET status = 'asleep'", /CHECK/],
    ['UPDATE agent_jobs SET woken = 1', /CHECK/],
    ['UPDATE agent_jobs SET claim = claim - 1', /a claim is never given back/],
    ["UPDATE agent_jobs SET turns = 'many'", /cannot store TEXT/],
    ["UPDATE agent_jobs SET agent_id = 'nobody'", /FOREIGN KEY/],
  ])('rejects an impossible state: %s', (sql, message) => {
    const { id } = enqueue()
    settle(claim(id), { kind: 'released' })
    expect(() => rig.db.connection.exec(sql)).toThrow(message)
  })
})

test('streams steps and outcomes after their commits', () => {
  const { id } = enqueue()
  const held = claim(id)
  const heard: LiveJobStream[] = []
  rig.liveStreams.attach(id, (tail) => void heard.push(tail))
  expect(() =>
    write((tx) => {
      rig.store.recordReply(tx, held, replyOf('undone'))
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(heard).toEqual([])
  const step = recordReply(held, replyOf('kept'))
  settle(held, { kind: 'waiting', status: 'awaiting_approval' })
  write((tx) => rig.store.cancel(tx, id))
  expect(heard).toEqual([
    { type: 'step', step },
    { type: 'waiting', status: 'awaiting_approval' },
    { type: 'finished', status: 'cancelled' },
  ])
})
