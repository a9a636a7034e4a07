import { afterEach, describe, expect, it } from 'vitest'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'

describe('a task', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  it('is done with the files of the folder, and records steps, tokens, cost and events', async () => {
    runner = await createTestRunner()
    const { client, modelServer } = runner
    const folder = runner.makeFolder({ 'notes.md': 'The meeting is on Thursday.\n' })
    const agent = await runner.addAgent({ folders: [folder] })
    await client.ok('setModelPrice', { body: { model: agent.model!, price: { inputUsdPerMillion: 10, outputUsdPerMillion: 50 } } })
    modelServer.play(
      {
        text: ['I will read it.'],
        toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: 'folder-1/notes.md' } }],
        usage: { input: 1000, output: 100 },
      },
      { text: ['The meeting ', 'is on Thursday.'], usage: { input: 2000, output: 200, cached: 500 } },
    )
    const { events } = await client.stream('streamEvents')

    const accepted = await client.ok('submitTask', { body: { task: 'When is the meeting?', agentId: agent.id } })
    expect(accepted.status).toBe('pending')
    const job = await runner.ended(accepted.jobId)

    expect(job).toMatchObject({
      status: 'completed',
      channel: 'api',
      isCodeTask: false,
      agentName: agent.name,
      result: 'The meeting is on Thursday.',
      error: null,
      model: agent.model,
      inputTokens: 3000,
      outputTokens: 300,
      cachedTokens: 500,
      costUsd: 0.045,
      priced: true,
      turns: 2,
      toolCalls: 1,
      attempt: 1,
    })
    expect(job.finishedAt).toBeGreaterThanOrEqual(job.startedAt!)
    const { steps } = await client.ok('listSteps', { params: { jobId: job.id } })
    expect(steps.map((step) => [step.seq, step.kind])).toEqual([
      [1, 'reply'],
      [2, 'tool_result'],
      [3, 'reply'],
    ])
    expect(steps[1]).toMatchObject({ name: 'read_file', ok: true, output: expect.stringContaining('The meeting is on Thursday.') })
    // The model has read the text of the file.
    expect(JSON.stringify(modelServer.received.at(-1)!.body)).toContain('The meeting is on Thursday.')
    const seen: string[] = []
    for await (const { event } of events) {
      if (event !== 'job.progress') seen.push(event)
      if (event === 'job.finished') break
    }
    expect(seen).toEqual(['job.created', 'job.started', 'job.step_recorded', 'job.step_recorded', 'job.step_recorded', 'job.finished'])
  })

  it('goes to the default agent, or to the agent of a slug', async () => {
    runner = await createTestRunner()
    const { client } = runner
    const none = await client.ask('submitTask', { body: { task: 'x' } })
    expect(none).toMatchObject({ status: 404, body: { error: 'agent_not_found' } })
    const first = await runner.addAgent({ name: 'First One' })
    const second = await runner.addAgent({ name: 'Second One' })
    const byDefault = await client.ok('submitTask', { body: { task: 'x' } })
    const bySlug = await client.ok('submitTask', { body: { task: 'x', agentSlug: second.slug } })
    expect([(await runner.ended(byDefault.jobId)).agentId, (await runner.ended(bySlug.jobId)).agentId]).toEqual([first.id, second.id])
  })

  it.each([
    ['agentId', { agentId: '018f4e9a-7b1c-7c3d-8e4f-0123456789ab' }, 'agent_not_found'],
    ['agentSlug', { agentSlug: 'nobody' }, 'agent_not_found'],
    ['entityId', { entityId: '018f4e9a-7b1c-7c3d-8e4f-0123456789ab' }, 'agent_not_found'],
    ['conversationId', { conversationId: '018f4e9a-7b1c-7c3d-8e4f-0123456789ab' }, 'conversation_not_found'],
    ['parentJobId', { parentJobId: '018f4e9a-7b1c-7c3d-8e4f-0123456789ab' }, 'job_not_found'],
  ])('is refused if it names something that does not exist: %s', async (_field, fields, code) => {
    runner = await createTestRunner()
    await runner.addAgent()
    expect(await runner.client.ask('submitTask', { body: { task: 'x', ...fields } })).toMatchObject({ status: 404, body: { error: code } })
    expect((await runner.client.ok('listJobs')).jobs).toEqual([])
  })

  it('runs on the demo model without an account', async () => {
    runner = await createTestRunner()
    const folder = runner.makeFolder({ 'shopping.txt': 'milk\n' })
    const agent = await runner.addAgent({ model: { providerId: 'demo', model: 'demo' }, folders: [folder] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'What is in my folder?', agentId: agent.id } })
    const job = await runner.ended(jobId)
    expect(job).toMatchObject({ status: 'completed', costUsd: 0, priced: true })
    expect(job.result).toContain('shopping.txt')
    expect(runner.modelServer.received).toEqual([])
  })

  it('is retried as a new job that is linked to the old one', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Say hello', agentId: agent.id } })
    await runner.ended(jobId)
    const { job } = await runner.client.ok('retryJob', { params: { jobId } })
    expect(job).toMatchObject({ task: 'Say hello', retryOfJobId: jobId })
    expect(await runner.ended(job.id)).toMatchObject({ status: 'completed' })
    expect((await runner.client.ok('getJob', { params: { jobId } })).job.retriedByJobId).toBe(job.id)
  })

  it('is run by the worker route, which ignores finished jobs', async () => {
    runner = await createTestRunner({ config: { authMode: 'local-auth' } })
    const agent = await runner.addAgent()
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Say hello', agentId: agent.id } })
    expect(await runner.client.ok('runWorker', { body: { jobId } })).toEqual({ ok: true, jobId, status: 'accepted' })
    const before = await runner.ended(jobId)
    await runner.client.ok('runWorker', { body: { jobId } })
    await runner.client.ok('runWorker', { body: { jobId: '018f4e9a-7b1c-7c3d-8e4f-0123456789ab' } })
    expect((await runner.client.ok('getJob', { params: { jobId } })).job).toEqual(before)
  })

  it('is found by its id in upper case, and the worker route accepts well-formed ids of any version', async () => {
    runner = await createTestRunner({ config: { authMode: 'local-auth' } })
    const agent = await runner.addAgent()
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Say hello', agentId: agent.id.toUpperCase() } })
    const upper = jobId.toUpperCase()
    expect(await runner.client.ok('runWorker', { body: { jobId: upper } })).toEqual({ ok: true, jobId, status: 'accepted' })
    expect((await runner.client.ok('getJob', { params: { jobId: upper } })).job.id).toBe(jobId)
    const other = 'ffffffff-ffff-ffff-0000-000000000000'
    expect(await runner.client.ok('runWorker', { body: { jobId: other } })).toMatchObject({ jobId: other, status: 'accepted' })
  })
})
