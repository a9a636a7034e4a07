import { afterEach, describe, expect, it } from 'vitest'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'

describe('after a crash', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  it('continues a job after its last recorded step, and repeats none', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent({ folders: [runner.makeFolder({ 'a.txt': 'alpha' })] })
    runner.modelServer.play(
      {
        text: ['Reading.'],
        toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: 'folder-1/a.txt' } }],
        usage: { input: 10, output: 5 },
      },
      { text: ['This is lost'], fault: { kind: 'stall', afterFrames: 2 } },
      { text: ['It says alpha.'], usage: { input: 20, output: 5 } },
    )
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Read', agentId: agent.id } })
    await runner.modelServer.untilReceived(2)
    const before = await runner.client.ok('listSteps', { params: { jobId } })
    expect(before.steps.map((step) => step.kind)).toEqual(['reply', 'tool_result'])

    await runner.restart({ crash: true })

    expect(await runner.ended(jobId)).toMatchObject({
      status: 'completed',
      result: 'It says alpha.',
      attempt: 2,
      turns: 2,
      toolCalls: 1,
      inputTokens: 30,
      outputTokens: 10,
    })
    const after = await runner.client.ok('listSteps', { params: { jobId } })
    expect(after.steps.slice(0, 2)).toEqual(before.steps)
    expect(after.steps.map((step) => [step.seq, step.kind])).toEqual([
      [1, 'reply'],
      [2, 'tool_result'],
      [3, 'reply'],
    ])
  })

  it('leaves no job to the dead process once health is good', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    for (let i = 0; i < 3; i++) runner.modelServer.play({ text: ['never'], fault: { kind: 'stall', afterFrames: 0 } })
    for (let i = 0; i < 3; i++) await runner.client.ok('submitTask', { body: { task: `task ${i}`, agentId: agent.id } })
    await runner.modelServer.untilReceived(3)
    await runner.restart({ crash: true })
    expect((await runner.client.ok('listAttention')).recovery).toMatchObject({ jobs: 3 })
    const { jobs } = await runner.client.ok('listJobs')
    for (const job of jobs) expect(await runner.ended(job.id)).toMatchObject({ status: 'completed', attempt: 2 })
  })

  it('leaves earlier jobs alone in safe mode, and runs new ones', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['never'], fault: { kind: 'stall', afterFrames: 0 } })
    const old = await runner.client.ok('submitTask', { body: { task: 'old', agentId: agent.id } })
    await runner.modelServer.untilReceived(1)
    await runner.restart({ crash: true, config: { safeMode: true } })
    const fresh = await runner.client.ok('submitTask', { body: { task: 'new', agentId: agent.id } })
    expect(await runner.ended(fresh.jobId)).toMatchObject({ status: 'completed' })
    expect((await runner.client.ok('getJob', { params: { jobId: old.jobId } })).job).toMatchObject({ status: 'pending', attempt: 1 })
  })

  it('continues a new job in safe mode when the person has answered', async () => {
    runner = await createTestRunner()
    await runner.restart({ config: { safeMode: true } })
    const folder = runner.makeFolder({})
    const agent = await runner.addAgent({ folders: [folder], autonomy: 'ask_first' })
    const args = { path: `${folder.split('/').at(-1)}/notes.md`, content: 'two\n' }
    runner.modelServer.play({ toolCalls: [{ id: 'c1', name: 'write_file', args }] }, { text: ['Done.'] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Write', agentId: agent.id } })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval' })
    const [approval] = (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
    await runner.client.ok('resolveApproval', { body: { approvalId: approval!.id, decision: 'approve' } })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
  })

  it('hands unfinished jobs to the next start after a clean stop', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['never'], fault: { kind: 'stall', afterFrames: 0 } })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'long', agentId: agent.id } })
    await runner.modelServer.untilReceived(1)
    await runner.restart()
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed' })
  })

  it('lets an event reader continue where it was', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    const { events, close } = await runner.client.stream('streamEvents', { query: { after: 0 } })
    const seen: number[] = []
    for await (const { id, event } of events) {
      if (id !== null) seen.push(id)
      if (event === 'agent.created') break
    }
    close()
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'Hello', agentId: agent.id } })
    await runner.ended(jobId)
    await runner.restart({ crash: true })
    const again = await runner.client.stream('streamEvents', { lastEventId: seen.at(-1)! })
    for await (const { id, event } of again.events) {
      if (id !== null) seen.push(id)
      if (event === 'job.finished') break
    }
    again.close()
    expect(seen).toEqual(Array.from({ length: seen.at(-1)! }, (_, i) => i + 1))
  })
})
