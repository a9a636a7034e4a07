import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Agent, CreateAgent } from '../contract/agents.ts'
import type { Job } from '../contract/jobs.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { ALL_TOOLS } from '../thinking/tools/all-tools.ts'
import { defineTool } from '../thinking/tools/tool.ts'

const NOTHING = { paths: [], leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false }

const bring = (name: string, brings: 'private' | 'untrusted') =>
  defineTool({
    name,
    description: 'Brings something in.',
    args: z.object({}),
    effect: 'read',
    brings,
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

describe('work that is handed on', { timeout: 30_000 }, () => {
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
  const untilEnded = (jobId: string) => expect.poll(async () => (await jobOf(jobId)).finishedAt, { timeout: 10_000 }).not.toBeNull()

  it('is done by the other agent, and its result comes back', async () => {
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

  it('costs the one who handed it on', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper'])
    await runner.client.ok('setModelPrice', { body: { model: lead!.model!, price: { inputUsdPerMillion: 10, outputUsdPerMillion: 10 } } })
    const usage = { input: 1000, output: 0 }
    runner.modelServer.play({ toolCalls: [give('Helper')], usage }, { text: ['12'], usage }, { text: ['Done.'], usage })
    const jobId = await submit(lead!)
    await untilEnded(jobId)
    expect(await jobOf(jobId)).toMatchObject({ costUsd: 0.02, childrenCostUsd: 0.01 })
  })

  it('waits without a slot: one place is enough for a whole row of jobs', async () => {
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
    const refused = runner.modelServer.received.filter((request) => JSON.stringify(request.body).includes('handed on at most 3 times'))
    expect(refused).toHaveLength(1)
  })

  it('tells who there is, and takes no agent that is not there', async () => {
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

  it('that fails is told to the one who waits', async () => {
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

  it('is made once, whenever the process dies', async () => {
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

  it('passes marks down and up', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper', 'Sender'], { autonomy: 'on_its_own' })
    runner.modelServer.play(
      { toolCalls: [call('diary')] },
      { toolCalls: [give('Helper', 'Read the page')] },
      // Helper: has the private mark from above, reads the page, and may not send any more.
      { toolCalls: [call('page')] },
      { toolCalls: [call('send')] },
    )
    const jobId = await submit(lead!)
    const pending = async () => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
    await expect.poll(async () => (await pending()).length).toBe(1)
    const asked = (await pending())[0]!
    expect(asked).toMatchObject({
      agentName: 'Helper',
      decision: { decidedBy: { source: 'two_of_three' } },
      marks: { private: { seq: 0, cause: 'the answer of diary' }, untrusted: { cause: 'the answer of page' } },
    })
    // Lead gets the untrusted mark with the answer of Helper.
    runner.modelServer.play({ text: ['Read.'] }, { toolCalls: [call('send')] })
    await runner.client.ok('resolveApproval', { body: { approvalId: asked.id, decision: 'reject' } })
    await expect.poll(async () => (await pending()).map((one) => one.jobId)).toEqual([jobId])
    expect((await pending())[0]).toMatchObject({ agentName: 'Lead', marks: { untrusted: { cause: 'the answer of delegate' } } })
  })

  it('keeps the marks of the job above when a person retries it', async () => {
    await open()
    const [lead] = await addAgents(['Lead', 'Helper'], { autonomy: 'on_its_own' })
    runner.modelServer.play(
      { toolCalls: [call('diary'), call('page')] },
      { toolCalls: [give('Helper')] },
      { text: ['12'] },
      { text: ['Done.'] },
    )
    const jobId = await submit(lead!)
    await untilEnded(jobId)
    const [child] = await childrenOf(jobId)
    runner.modelServer.play({ toolCalls: [call('send')] })
    const { job } = await runner.client.ok('retryJob', { params: { jobId: child!.id } })
    expect(await runner.ended(job.id)).toMatchObject({ status: 'awaiting_approval' })
    const { approvals } = await runner.client.ok('listApprovals', { query: { status: 'pending' } })
    expect(approvals.map(({ decision }) => decision!.decidedBy.source)).toEqual(['two_of_three'])
  })
})
