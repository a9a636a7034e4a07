import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Agent, CreateAgent } from '../contract/agents.ts'
import type { ChatStreamEvent, Job } from '../contract/jobs.ts'
import { createMessage } from '../lib/messages.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { ALL_TOOLS } from '../agent/tools/all-tools.ts'
import { defineTool } from '../agent/tools/tool.ts'

const NOTHING = { paths: [], leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false }

const bring = (name: string, taint: 'private' | 'untrusted') =>
  defineTool({
    name,
    description: 'Taint something in.',
    args: z.object({}),
    effect: 'read',
    addsTaint: [taint],
    parallel: false,
    run: async () => ({ ok: true, output: name }),
  })
const send = defineTool({
  name: 'send',
  description: 'Sends.',
  args: z.object({}),
  effect: 'once',
  parallel: false,
  facts: () => ({ ...NOTHING, subject: 'https://x.example/', summary: 'Send', leavesMachine: true }),
  run: async () => ({ ok: true, output: 'sent' }),
})

describe('a delegated job', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  const open = async () => {
    runner = await createTestRunner({ tools: [...ALL_TOOLS, bring('diary', 'private'), bring('page', 'untrusted'), send] })
  }
  const give = (agent: string | undefined, task = 'Count', id = 'd1') => ({ id, name: 'delegate', args: { agent, task } })
  const call = (name: string) => ({ id: name, name, args: {} })
  const addAgents = async (names: string[], fields: Partial<CreateAgent> = {}): Promise<Agent[]> => {
    const agents: Agent[] = []
    for (const name of names) agents.push(await runner.addAgent({ name, ...fields }))
    return agents
  }
  const submit = async (agent: Agent, task = 'Lead') => (await runner.client.ok('submitTask', { body: { task, agentId: agent.id } })).jobId
  const jobOf = async (jobId: string): Promise<Job> => (await runner.client.ok('getJob', { params: { jobId } })).job
  const childrenOf = async (jobId: string) =>
    (await runner.client.ok('listJobs', { query: { channel: 'delegation' } })).jobs.filter((job) => job.parentJobId === jobId)
  const untilEnded = (jobId: string) => expect.poll(async () => (await jobOf(jobId)).finishedAt).not.toBeNull()

  it('is done by the other agent, which returns its result', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper'])
    runner.modelServer.play(
      { text: ['I ask Helper.'], toolCalls: [give('helper', 'Count the pages')] },
      { text: ['There are 12 pages.'], usage: { input: 100, output: 10 } },
      { text: ['Helper counted 12.'] },
    )
    const jobId = await submit(lead!)
    await untilEnded(jobId)
    expect(await jobOf(jobId)).toMatchObject({ status: 'completed', result: 'Helper counted 12.', channel: 'api' })
    const [child] = await childrenOf(jobId)
    expect(child).toMatchObject({ agentName: 'Helper', status: 'completed', channel: 'delegation', title: 'Count the pages' })
    expect(JSON.stringify(runner.modelServer.received.at(-1)!.body)).toContain('There are 12 pages.')
  })

  it('keeps the caller of a chat turn waiting for the reply', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper'])
    const play = () =>
      runner.modelServer.play(
        { text: ['I ask Helper.'], toolCalls: [give('Helper')] },
        { text: ['There are 12.'] },
        { text: ['Helper counted 12.'] },
      )
    const body = { agentId: lead!.id, message: 'How many pages?' }
    play()
    expect(await runner.client.ok('chat', { body })).toMatchObject({ reply: 'Helper counted 12.', status: 'completed' })
    play()
    const events = await runner.client.turn('chatStream', { body })
    expect(events.filter(({ type }) => type === 'done')).toMatchObject([{ reply: 'Helper counted 12.', status: 'completed' }])
    expect(events.at(-1)!.type).toBe('done')
  })

  it('ends a chat turn for its caller when it asks a person, two levels below too', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper', 'Sender'])
    const play = () =>
      runner.modelServer.play(
        { text: ['I ask Helper.'], toolCalls: [give('Helper')] },
        { toolCalls: [give('Sender', 'Send it', 'd2')] },
        { toolCalls: [call('send')] },
      )
    const said = { reply: 'I ask Helper.', status: 'awaiting_child' }
    const body = { agentId: lead!.id, message: 'Send it' }
    play()
    const events = await runner.client.turn('chatStream', { body })
    const { approvals } = await runner.client.ok('listApprovals', { query: { status: 'pending' } })
    expect(approvals).toMatchObject([{ agentName: 'Sender', tool: 'send' }])
    const end = [
      { type: 'approval', approvalId: approvals[0]!.id, tool: 'send' },
      { type: 'done', ...said },
    ]
    expect(events.slice(-2)).toMatchObject(end)
    const { jobId } = events[0] as Extract<ChatStreamEvent, { type: 'start' }>
    expect(await runner.client.turn('streamJob', { params: { jobId } })).toMatchObject([{ type: 'start', jobId }, ...end])
    play()
    expect(await runner.client.ok('chat', { body })).toMatchObject(said)
    expect((await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals).toHaveLength(2)
  })

  it('counts against the budget of the delegating agent', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper'])
    await runner.client.ok('setModelPrice', { body: { model: lead!.model!, price: { inputUsdPerMillion: 10, outputUsdPerMillion: 10 } } })
    const usage = { input: 1000, output: 0 }
    runner.modelServer.play({ toolCalls: [give('Helper')], usage }, { text: ['12'], usage }, { text: ['Done.'], usage })
    const jobId = await submit(lead!)
    await untilEnded(jobId)
    expect(await jobOf(jobId)).toMatchObject({ costUsd: 0.02, childrenCostUsd: 0.01 })
  })

  it('waits without a slot, so one slot is enough for a chain of jobs', async () => {
    await open()
    await runner.client.ok('updateSettings', { body: { concurrency: 1 } })
    const [one] = await addAgents(['One', 'Two', 'Three', 'Four'])
    runner.modelServer.play(
      { toolCalls: [give('Two')] },
      { toolCalls: [give('Three')] },
      { toolCalls: [give('Four')] },
      { toolCalls: [give('One')] },
      { text: ['Four could not go on.'] },
      { text: ['Three is done.'] },
      { text: ['Two is done.'] },
      { text: ['One is done.'] },
    )
    const jobId = await submit(one!)
    await untilEnded(jobId)
    expect(await jobOf(jobId)).toMatchObject({ status: 'completed', result: 'One is done.' })
    const { jobs } = await runner.client.ok('listJobs', { query: { channel: 'delegation' } })
    expect(jobs).toHaveLength(3)
    const refused = runner.modelServer.received.filter((request) =>
      JSON.stringify(request.body).includes('may be delegated at most 3 times'),
    )
    expect(refused).toHaveLength(1)
  })

  it('can go only to a listed agent', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper', 'Writer'])
    runner.modelServer.play(
      { toolCalls: [give(undefined, '', 'a'), give('Nobody', 'x', 'b'), give('Lead', 'x', 'c')] },
      { text: ['Alone then.'] },
    )
    const jobId = await submit(lead!)
    await untilEnded(jobId)
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    const outputs = steps.flatMap((step) => (step.kind === 'tool_result' ? [step.output] : []))
    expect(outputs).toEqual([
      'The other agents are: Helper, Writer.',
      "Not run: there is no agent 'Nobody'. The other agents are: Helper, Writer.",
      "Not run: there is no agent 'Lead'. The other agents are: Helper, Writer.",
    ])
    expect(await childrenOf(jobId)).toEqual([])
  })

  it('is stopped with the job that waits for it', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper'])
    runner.modelServer.play({ toolCalls: [give('Helper')] }, { text: ['Half'], fault: { kind: 'stall', afterFrames: 1 } })
    const jobId = await submit(lead!)
    await runner.modelServer.untilReceived(2)
    await expect.poll(async () => (await jobOf(jobId)).status).toBe('awaiting_child')
    await runner.client.ok('cancelJob', { params: { jobId } })
    const [child] = await childrenOf(jobId)
    await untilEnded(child!.id)
    expect([(await jobOf(jobId)).status, (await jobOf(child!.id)).status]).toEqual(['cancelled', 'cancelled'])
  })

  it('reports its failure to the waiting job', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper'])
    runner.modelServer.play(
      { toolCalls: [give('Helper')] },
      { fault: { kind: 'status', status: 401, error: { message: 'bad key' } } },
      { text: ['Helper has no key.'] },
    )
    const jobId = await submit(lead!)
    await untilEnded(jobId)
    expect((await jobOf(jobId)).status).toBe('completed')
    expect(JSON.stringify(runner.modelServer.received.at(-1)!.body)).toContain('Helper failed: ')
  })

  it('is made once, whenever the process crashes', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper'])
    runner.modelServer.play({ toolCalls: [give('Helper')] }, { text: ['Half'], fault: { kind: 'stall', afterFrames: 1 } })
    const jobId = await submit(lead!)
    await runner.modelServer.untilReceived(2)
    runner.modelServer.play({ text: ['12'] }, { text: ['It is 12.'] })
    await runner.restart({ crash: true })
    await untilEnded(jobId)
    expect(await jobOf(jobId)).toMatchObject({ status: 'completed', result: 'It is 12.' })
    expect(await childrenOf(jobId)).toHaveLength(1)
  })

  it('passes taints down and up', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper', 'Sender'], { autonomy: 'on_its_own' })
    runner.modelServer.play(
      { toolCalls: [call('diary')] },
      { toolCalls: [give('Helper', 'Read the page')] },
      // The helper has the private taint from above, reads the page, and may not send any more.
      { toolCalls: [call('page')] },
      { toolCalls: [call('send')] },
    )
    const jobId = await submit(lead!)
    const pending = async () => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
    await expect.poll(async () => (await pending()).length).toBe(1)
    const asked = (await pending())[0]!
    expect(asked).toMatchObject({
      agentName: 'Helper',
      decision: { decidedBy: { source: 'lethal_trifecta' } },
      taints: {
        private: { seq: 0, cause: createMessage('taint_result', { tool: 'diary' }) },
        untrusted: { cause: createMessage('taint_result', { tool: 'page' }) },
      },
    })
    // The lead gets the untrusted taint with the result of the helper.
    runner.modelServer.play({ text: ['Read.'] }, { toolCalls: [call('send')] })
    await runner.client.ok('resolveApproval', { body: { approvalId: asked.id, decision: 'reject' } })
    await expect.poll(async () => (await pending()).map((one) => one.jobId)).toEqual([jobId])
    expect((await pending())[0]).toMatchObject({
      agentName: 'Lead',
      taints: { untrusted: { cause: createMessage('taint_result', { tool: 'delegate' }) } },
    })
  })

  it('keeps the taints of the job above when it is retried', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper'], { autonomy: 'on_its_own' })
    runner.modelServer.play(
      { toolCalls: [call('diary'), call('page')] },
      { toolCalls: [give('Helper')] },
      { text: ['12'] },
      { text: ['Done.'] },
    )
    const jobId = await submit(lead!)
    expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval' })
    const delegation = (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals[0]!
    await runner.client.ok('resolveApproval', { body: { approvalId: delegation.id, decision: 'approve' } })
    await untilEnded(jobId)
    const [child] = await childrenOf(jobId)
    runner.modelServer.play({ toolCalls: [call('send')] })
    const { job } = await runner.client.ok('retryJob', { params: { jobId: child!.id } })
    expect(await runner.ended(job.id)).toMatchObject({ status: 'awaiting_approval' })
    const { approvals } = await runner.client.ok('listApprovals', { query: { status: 'pending' } })
    expect(approvals.map(({ decision }) => decision!.decidedBy.source)).toEqual(['lethal_trifecta'])
  })

  it('has the taints of the job above when it was made over HTTP', async () => {
    await open()
    const [lead] = await addAgents(['Lead'], { autonomy: 'on_its_own' })
    runner.modelServer.play({ toolCalls: [call('diary'), call('page')] }, { text: ['Read.'] }, { toolCalls: [call('send')] })
    const parentJobId = await submit(lead!)
    await untilEnded(parentJobId)
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Send it', agentId: lead!.id, parentJobId } })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval', channel: 'api' })
    const { approvals } = await runner.client.ok('listApprovals', { query: { status: 'pending' } })
    expect(approvals).toMatchObject([
      {
        jobId,
        decision: { decidedBy: { source: 'lethal_trifecta' } },
        taints: {
          private: { seq: 0, cause: createMessage('taint_result', { tool: 'diary' }) },
          untrusted: { seq: 0, cause: createMessage('taint_result', { tool: 'page' }) },
        },
      },
    ])
  })

  describe('does not raise the autonomy of the delegating agent', () => {
    const pending = async () => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
    const approve = (approvalId: string, remember: 'once' | 'job' = 'once') =>
      runner.client.ok('resolveApproval', { body: { approvalId, decision: 'approve', remember } })
    /** A webhook job of an agent that asks first, with a helper that never asks. Waits for its first approval. */
    const startFromWebhook = async () => {
      await open()
      const lead = await runner.addAgent({ name: 'Lead' })
      const helper = await runner.addAgent({ name: 'Helper', autonomy: 'on_its_own' })
      const jobId = await runner.enqueue({ agentId: lead.id, channel: 'webhook', task: 'Look at this' })
      return { lead, helper, jobId }
    }

    it('asks before it delegates once the job has seen untrusted text, at every level', async () => {
      await open()
      const lead = await runner.addAgent({ name: 'Lead', autonomy: 'on_its_own' })
      await runner.addAgent({ name: 'Helper' })
      runner.modelServer.play({ toolCalls: [give(undefined, '', 'list'), give('Helper', 'Send it')] })
      const jobId = await runner.enqueue({ agentId: lead.id, channel: 'webhook', task: 'Look at this' })
      expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval' })
      expect(await pending()).toMatchObject([
        { tool: 'delegate', decision: { decidedBy: { reason: { code: 'policy_untrusted_delegation' } } } },
      ])
      expect(await childrenOf(jobId)).toEqual([])
    })

    it('asks if the agent above asks', async () => {
      await startFromWebhook()
      runner.modelServer.play({ toolCalls: [give('Helper', 'Send it')] }, { toolCalls: [call('send')] })
      await expect.poll(async () => (await pending()).length).toBe(1)
      await approve((await pending())[0]!.id)
      await expect.poll(async () => (await pending()).map(({ tool }) => tool)).toEqual(['send'])
      expect((await pending())[0]).toMatchObject({
        agentName: 'Helper',
        mayRemember: ['once', 'job'],
        taints: { untrusted: { cause: createMessage('taint_started_by', { channel: 'webhook' }) } },
        decision: {
          verdict: 'ask',
          decidedBy: { source: 'level', reason: { params: { agent: 'Lead', reason: { code: 'policy_risks' } } } },
        },
      })
    })

    it('asks for what the agent above must ask, whatever a rule for the helper allows', async () => {
      const { helper } = await startFromWebhook()
      await runner.client.ok('createRule', { body: { effect: 'allow', tool: 'send', agentId: helper.id } })
      runner.modelServer.play({ toolCalls: [give('Helper', 'Send it')] }, { toolCalls: [call('send')] })
      await expect.poll(async () => (await pending()).length).toBe(1)
      await approve((await pending())[0]!.id)
      await expect.poll(async () => (await pending()).map(({ tool }) => tool)).toEqual(['send'])
    })

    it('denies what is denied to the agent above', async () => {
      await open()
      const [lead] = await addAgents(['Lead', 'Helper'], { autonomy: 'on_its_own' })
      await runner.client.ok('createRule', { body: { effect: 'deny', tool: 'send', agentId: lead!.id } })
      runner.modelServer.play(
        { toolCalls: [give('Helper', 'Send it')] },
        { toolCalls: [call('send')] },
        { text: ['I may not.'] },
        { text: ['It may not.'] },
      )
      const jobId = await submit(lead!)
      await untilEnded(jobId)
      const [child] = await childrenOf(jobId)
      const { decisions } = await runner.client.ok('listDecisions', { params: { jobId: child!.id } })
      expect(decisions).toMatchObject([
        { tool: 'send', decision: { verdict: 'deny', decidedBy: { source: 'rule', reason: { params: { agent: 'Lead' } } } } },
      ])
    })

    it('keeps the autonomy of a job above that has ended', async () => {
      await open()
      const lead = await runner.addAgent({ name: 'Lead' })
      await runner.addAgent({ name: 'Helper', autonomy: 'on_its_own' })
      runner.modelServer.play({ toolCalls: [give('Helper', 'Send it')] }, { text: ['Later.'] }, { text: ['Done.'] })
      const jobId = await submit(lead)
      await untilEnded(jobId)
      const [child] = await childrenOf(jobId)
      runner.modelServer.play({ toolCalls: [call('send')] })
      const { job } = await runner.client.ok('retryJob', { params: { jobId: child!.id } })
      expect(await runner.ended(job.id)).toMatchObject({ status: 'awaiting_approval' })
    })

    it('uses the strictest autonomy of a chain of agents', async () => {
      await open()
      const first = await runner.addAgent({ name: 'First', autonomy: 'ask_first' })
      await addAgents(['Second', 'Third'], { autonomy: 'on_its_own' })
      runner.modelServer.play(
        { toolCalls: [give('Second', 'Go on')] },
        { toolCalls: [give('Third', 'Go on', 'd2')] },
        { toolCalls: [{ id: 'r', name: 'return_result', args: { summary: 'x' } }, call('send')] },
      )
      await submit(first)
      for (const agentName of ['First', 'Second']) {
        await expect.poll(async () => (await pending()).map((one) => `${one.agentName} ${one.tool}`)).toEqual([`${agentName} delegate`])
        await approve((await pending())[0]!.id)
      }
      await expect.poll(async () => (await pending()).map((one) => `${one.agentName} ${one.tool}`)).toEqual(['Third send'])
    })

    it('applies what a person allows for the rest of the job', async () => {
      await open()
      const lead = await runner.addAgent({ name: 'Lead' })
      await runner.addAgent({ name: 'Helper', autonomy: 'on_its_own' })
      runner.modelServer.play(
        { toolCalls: [give('Helper', 'Send it')] },
        { toolCalls: [call('send')] },
        { toolCalls: [{ id: 'again', name: 'send', args: {} }] },
        { text: ['Sent twice.'] },
        { text: ['Done.'] },
      )
      const jobId = await submit(lead)
      await expect.poll(async () => (await pending()).length).toBe(1)
      await approve((await pending())[0]!.id, 'job')
      await untilEnded(jobId)
      expect(await jobOf(jobId)).toMatchObject({ status: 'completed', result: 'Done.' })
    })
  })
})
