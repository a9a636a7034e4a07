import { afterEach, describe, expect, it } from 'vitest'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'

describe('stopping a job', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  it('takes effect in the middle of an answer that never ends, and keeps the text so far', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['The first half', ' and the second.'], fault: { kind: 'stall', afterFrames: 2 } })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Tell', agentId: agent.id } })
    const { events } = await runner.client.stream('streamJob', { params: { jobId } })
    for await (const { event } of events) if (event === 'delta') break
    const { job: asked } = await runner.client.ok('cancelJob', { params: { jobId } })
    expect(asked.cancelRequested || asked.status === 'cancelled').toBe(true)
    const job = await runner.ended(jobId)
    expect(job).toMatchObject({ status: 'cancelled', result: 'The first half' })
    // The call was cancelled, so the provider is not paid for the rest.
    await runner.modelServer.untilHungUp()
    expect(await runner.client.ask('cancelJob', { params: { jobId } })).toMatchObject({
      status: 409,
      body: { error: 'job_already_finished' },
    })
  })

  it('ends a job that has not begun, at once', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    await runner.client.ok('updateSettings', { body: { concurrency: 1 } })
    runner.modelServer.play({ text: ['busy'], fault: { kind: 'stall', afterFrames: 1 } })
    const busy = await runner.client.ok('submitTask', { body: { task: 'first', agentId: agent.id } })
    await runner.modelServer.untilReceived(1)
    const waiting = await runner.client.ok('submitTask', { body: { task: 'second', agentId: agent.id } })
    const { job } = await runner.client.ok('cancelJob', { params: { jobId: waiting.jobId } })
    expect(job.status).toBe('cancelled')
    expect(await runner.client.ok('countJobs')).toMatchObject({ pending: 0, running: 1 })
    await runner.client.ok('cancelJob', { params: { jobId: busy.jobId } })
    expect((await runner.ended(busy.jobId)).status).toBe('cancelled')
  })

  it('happens to all jobs of a deleted agent', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['busy'], fault: { kind: 'stall', afterFrames: 1 } })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'first', agentId: agent.id } })
    await runner.modelServer.untilReceived(1)
    await runner.client.ok('deleteAgent', { params: { agentId: agent.id } })
    expect((await runner.ended(jobId)).status).toBe('cancelled')
    expect((await runner.client.ok('listJobs')).jobs.map((job) => job.agentName)).toEqual([agent.name])
  })
})
