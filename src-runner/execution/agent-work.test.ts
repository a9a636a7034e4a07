import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { transact } from '../platform/db/database.ts'
import { createEventHub } from '../platform/events/event-hub.ts'
import type { UpdateAgent } from '../contract/agents.ts'
import type { LiveJobStream } from '../contract/events.ts'
import type { Job } from '../contract/jobs.ts'
import { silentLog } from '../lib/log.ts'
import { updateAgent } from '../domain/agents/agents.ts'
import { createApprovals } from '../domain/approvals/approvals.ts'
import { createReservations } from '../domain/budgets/reservations.ts'
import { createBlobs } from '../domain/files/blobs.ts'
import { listMessages } from '../domain/conversations/conversations.ts'
import { AttemptStopped, type Attempt } from '../domain/jobs/attempts.ts'
import { createRuleBook } from '../domain/rules/rules.ts'
import { changeSettings } from '../domain/settings/settings.ts'
import { ask, call, fail, finish, hangAfter, PRICE, say, text, tool, type Turn } from '../testing/loop-rig.ts'
import { openDomainRig } from '../testing/domain-rig.ts'
import type { ModelRequest, PromptMessage } from '../agent/providers/model.ts'
import { ALL_TOOLS } from '../agent/tools/all-tools.ts'
import { createParkedCalls } from './parked-calls.ts'
import { createAgentWork, modelsOf, type AgentWorkDeps } from './agent-work.ts'

const MAIN = { providerId: 'demo', model: 'main' }
const closers: (() => void)[] = []
afterEach(() => closers.splice(0).forEach((close) => close()))

/** Real records over a real file; only the model is scripted. */
function openWork(options: { turns?: Turn[]; agent?: UpdateAgent; deps?: Partial<AgentWorkDeps> } = {}) {
  const rig = openDomainRig()
  closers.push(rig.close)
  const { clock, ids } = rig
  const agent = rig.addAgent('Ada')
  transact(rig.db, (tx) => updateAgent(tx, { clock }, agent.id, { model: MAIN, ...options.agent }))
  const turns = [...(options.turns ?? [])]
  const requests: ModelRequest[] = []
  const liveStreams: LiveJobStream[] = []

  const work = {
    rig,
    agent,
    requests,
    liveStreams,
    script: (...more: Turn[]) => turns.push(...more),
    enqueue: (task: string, conversation?: string) =>
      transact(rig.db, (tx) => rig.store.enqueue(tx, { agentId: agent.id, channel: 'chat', task, conversation })),
    /** Claims the job and performs one attempt at it. */
    attempt(jobId: string): { done: Promise<void>; stop: AbortController; attempt: Attempt } {
      const { db, store } = rig
      const claimed = transact(db, (tx) => store.claim(tx, jobId, 4))!
      const stop = new AbortController()
      rig.liveStreams.attach(jobId, (tail) => liveStreams.push(tail))
      const perform = createAgentWork({
        mcpTools: async () => [],
        parked: createParkedCalls(),
        sampling: { during: (_, work) => work() },
        db,
        jobs: store,
        liveStreams: rig.liveStreams,
        hub: createEventHub({ db }),
        models: {
          open: async () => ({
            price: PRICE,
            providerName: 'Acme',
            adapter: {
              listModels: async () => [],
              async *stream(request, signal) {
                requests.push(structuredClone(request))
                const turn = turns.shift()
                if (turn === undefined) throw new Error('the script is at its end')
                if (typeof turn === 'function') yield* turn(request, signal)
                else yield* turn
              },
            },
          }),
        },
        clock,
        ids,
        blobs: createBlobs(join(rig.folder, 'files')),
        log: silentLog,
        random: () => 0,
        dataDir: rig.folder,
        tools: () => ALL_TOOLS,
        timezone: () => 'UTC',
        approvals: createApprovals({ clock, ids, jobs: store }),
        rules: createRuleBook(db),
        reservations: createReservations({ db, money: clock, timezone: () => 'UTC' }),
        ownPorts: () => [],
        ...options.deps,
      })
      const attempt: Attempt = { ...claimed, signal: stop.signal, alive() {} }
      return { done: perform(attempt), stop, attempt }
    },
    async run(jobId: string): Promise<Job> {
      await work.attempt(jobId).done
      return rig.store.getJob(rig.db, jobId)
    },
    ids,
  }
  return work
}

const spoken = (messages: PromptMessage[]) => messages.slice(1).map((m) => `${m.role}: ${m.role === 'tool' ? m.output : m.text}`)

describe('a job from beginning to end', () => {
  it('is recorded step by step, and its last reply together with its end', async () => {
    const look = tool('look', { args: z.object({}), run: () => ({ ok: true, output: 'three files' }) })
    const work = openWork({
      turns: [[text('Let me look.'), ...ask(call('c1', 'look'))], say('There are three.')],
      deps: { tools: () => [look] },
    })
    const job = await work.run(work.enqueue('How many files?').id)
    expect(job).toMatchObject({
      status: 'completed',
      result: 'There are three.',
      turns: 2,
      toolCalls: 1,
      costUsd: 0.0009,
      priced: true,
      error: null,
    })
    expect(work.rig.store.listSteps(work.rig.db, job.id).map((s) => [s.seq, s.kind])).toEqual([
      [1, 'reply'],
      [2, 'tool_result'],
      [3, 'reply'],
    ])
    expect(listMessages(work.rig.db, job.conversationId!).map((m) => `${m.role}: ${m.text}`)).toEqual([
      'user: How many files?',
      'assistant: There are three.',
    ])
  })

  it('streams text and tool calls', async () => {
    const work = openWork({ turns: [[text('Well, '), text('yes.'), finish()]] })
    await work.run(work.enqueue('Hm?').id)
    expect(work.liveStreams.map((t) => (t.type === 'delta' ? `delta ${t.seq} ${t.text}` : t.type))).toEqual([
      'delta 1 Well, ',
      'delta 1 yes.',
      'step',
      'finished',
    ])
  })

  it('resets the stream if a reply starts again', async () => {
    const work = openWork({
      turns: [
        [text('Wrong sta'), fail({})],
        [text('Right.'), finish()],
      ],
    })
    const { id } = work.enqueue('Hm?')
    const { done } = work.attempt(id)
    work.rig.clock.advance(await work.rig.clock.untilSleeping((ms) => ms === 1_000))
    await done
    expect(work.liveStreams.filter((t) => t.type === 'delta' || t.type === 'reset')).toEqual([
      { type: 'delta', seq: 1, text: 'Wrong sta' },
      { type: 'reset', seq: 1 },
      { type: 'delta', seq: 1, text: 'Right.' },
    ])
  })

  it('waits before a tool that needs approval, with the question recorded and nothing run', async () => {
    let runs = 0
    const wipe = tool('wipe', { effect: 'once', run: () => ({ ok: true, output: `${++runs}` }) })
    const work = openWork({ turns: [ask(call('c', 'wipe'))], deps: { tools: () => [wipe] } })
    const job = await work.run(work.enqueue('Wipe it').id)
    expect(job.status).toBe('awaiting_approval')
    expect(runs).toBe(0)
    expect(work.rig.store.listSteps(work.rig.db, job.id).map(({ kind }) => kind)).toEqual(['reply'])
  })
})

describe('the prompt', () => {
  it('contains the conversation so far, without a message that still waits', async () => {
    const work = openWork({ turns: [say('Hello Bo.'), say('Bo.')], agent: { instructions: 'Be brief.' } })
    const first = work.enqueue('I am Bo.')
    const second = work.enqueue('Who am I?', first.conversationId!)
    work.enqueue('A third message', first.conversationId!)
    await work.run(first.id)
    await work.run(second.id)
    expect(spoken(work.requests[1]!.messages)).toEqual(['user: I am Bo.', 'assistant: Hello Bo.', 'user: Who am I?'])
    expect(work.requests[1]!.messages[0]).toMatchObject({ role: 'system', text: expect.stringContaining('Be brief.') })
    expect(work.requests[1]!.tools.map((t) => t.name)).toEqual(
      ALL_TOOLS.filter(({ channels }) => channels === undefined).map(({ name }) => name),
    )
  })

  it('keeps its beginning while the conversation is short', async () => {
    const work = openWork()
    let conversation: string | undefined
    for (let i = 0; i < 5; i++) {
      work.script(say(`Answer ${i}`))
      const job = work.enqueue(`Question ${i}`, conversation)
      conversation = job.conversationId!
      await work.run(job.id)
    }
    const [before, after] = work.requests.slice(-2)
    expect(after!.messages.slice(0, before!.messages.length)).toEqual(before!.messages)
  })

  it('stays bounded in a long conversation, and its beginning rarely moves', async () => {
    const work = openWork()
    let conversation: string | undefined
    let moved = 0
    for (let i = 0; i < 40; i++) {
      work.script(say(`${i} ${'long answer '.repeat(800)}`))
      const job = work.enqueue(`Question ${i}`, conversation)
      conversation = job.conversationId!
      await work.run(job.id)
      const [before, after] = work.requests.slice(-2)
      if (after !== undefined && JSON.stringify(after.messages.slice(1, 4)) !== JSON.stringify(before!.messages.slice(1, 4))) moved++
    }
    const last = work.requests.at(-1)!.messages
    expect(JSON.stringify(last).length).toBeLessThan(200_000)
    expect(spoken(last)[0]).toMatch(/^user: \[Earlier turns of this conversation are left out here\.\]\n\nQuestion \d+$/)
    expect(spoken(last).at(-2)).toMatch(/^assistant: 38 /)
    // The first four prompts differ because they are short. From then on the beginning moves with every fourth turn at most.
    expect(moved).toBeLessThanOrEqual(4 + 36 / 4)
  })

  it('keeps the question and answer of a turn whose steps are too long', async () => {
    const look = tool('look', { run: () => ({ ok: true, output: 'x'.repeat(5_000) }) })
    const work = openWork({ deps: { tools: () => [look] }, agent: { limits: { maxToolCalls: 100, maxTurns: 100 } } })
    for (let i = 0; i < 45; i++) work.script(ask(call(`c${i}`, 'look')))
    work.script(say('Found it.'), say('In the shed.'))
    const first = work.enqueue('Find the key')
    await work.run(first.id)
    await work.run(work.enqueue('Where was it?', first.conversationId!).id)
    expect(spoken(work.requests.at(-1)!.messages)).toEqual(['user: Find the key', 'assistant: Found it.', 'user: Where was it?'])
  })
})

describe('continuing after a crash', () => {
  it('continues the transcript, runs open calls and counts on', async () => {
    const look = tool('look')
    const work = openWork({ deps: { tools: () => [look] } })
    const { id } = work.enqueue('Look twice')
    work.script([text('First.'), ...ask(call('c1', 'look'), call('c2', 'look'))], hangAfter())
    const { attempt } = work.attempt(id)
    const { db, store } = work.rig
    await expect.poll(() => store.listSteps(db, id).length).toBe(3)
    work.rig.reboot()
    transact(work.rig.db, (tx) => work.rig.store.rescue(tx))
    work.script(say('Both looked at.'))
    const job = await work.run(id)
    expect(job).toMatchObject({ status: 'completed', result: 'Both looked at.', turns: 2, toolCalls: 2, attempt: attempt.job.attempt + 1 })
    expect(spoken(work.requests.at(-1)!.messages)).toEqual(['user: Look twice', 'assistant: First.', 'tool: look ran', 'tool: look ran'])
  })
})

describe('outcomes', () => {
  it('a stopped attempt keeps its text, and leaves settling to the worker', async () => {
    const work = openWork({ turns: [hangAfter(text('So far'))] })
    const { id } = work.enqueue('Talk')
    const { done, stop } = work.attempt(id)
    await expect.poll(() => work.liveStreams.length).toBe(1)
    stop.abort(new AttemptStopped('cancelled'))
    await done
    expect(work.rig.store.getJob(work.rig.db, id).status).toBe('running')
    expect(work.rig.store.listSteps(work.rig.db, id)).toMatchObject([{ kind: 'reply', text: 'So far', interrupted: true }])
  })

  it('an attempt without its claim ends silently and writes nothing', async () => {
    const gone = Promise.withResolvers<void>()
    const late: Turn = async function* () {
      await gone.promise
      yield* say('Too late.')
    }
    const work = openWork({ turns: [late] })
    const { id } = work.enqueue('Talk')
    const { done } = work.attempt(id)
    await expect.poll(() => work.requests.length).toBe(1)
    transact(work.rig.db, (tx) => work.rig.store.failStuck(tx, -1))
    gone.resolve()
    await done
    expect(work.rig.store.getJob(work.rig.db, id)).toMatchObject({ status: 'failed', error: 'stuck', result: null })
    expect(work.rig.store.listSteps(work.rig.db, id)).toEqual([])
  })

  it('a limit fails the job with its code and the text so far', async () => {
    const work = openWork({ agent: { limits: { maxTurns: 1 } }, turns: [[text('Looking.'), ...ask(call('c', 'nope'))]] })
    expect(await work.run(work.enqueue('Look').id)).toMatchObject({ status: 'failed', error: 'turn_limit', result: 'Looking.' })
  })

  it('a job without any model fails', async () => {
    const work = openWork({ agent: { model: null } })
    expect(await work.run(work.enqueue('x').id)).toMatchObject({
      status: 'failed',
      error: 'agent_has_no_model',
      errorMessage: expect.objectContaining({ code: 'job_no_model' }),
    })
  })

  it('the default model replaces a missing one', async () => {
    const work = openWork({ agent: { model: null }, turns: [say('ok')] })
    transact(work.rig.db, (tx) => changeSettings(tx, { clock: work.rig.clock }, { defaultModel: { providerId: 'demo', model: 'house' } }))
    expect(await work.run(work.enqueue('x').id)).toMatchObject({ status: 'completed', model: { model: 'house' } })
  })
})

describe('the order of models', () => {
  const m = (model: string) => ({ providerId: 'p', model })
  it.each([
    [{ model: m('own'), fallbacks: [m('a')] }, m('house'), ['own', 'a']],
    [{ model: null, fallbacks: [m('a')] }, m('house'), ['house', 'a']],
    [{ model: null, fallbacks: [m('a')] }, null, ['a']],
    [{ model: m('a'), fallbacks: [m('a'), m('b'), m('b')] }, null, ['a', 'b']],
    [{ model: null, fallbacks: [] }, null, []],
  ])('%j with default %j', (agent, house, names) => expect(modelsOf(agent, house).map((ref) => ref.model)).toEqual(names))
})
