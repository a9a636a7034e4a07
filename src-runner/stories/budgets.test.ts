import { afterEach, describe, expect, it } from 'vitest'
import type { Agent, CreateAgent, ModelRef } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import type { Job } from '../contract/jobs.ts'
import { createTestRunner, type TestRunner, type TestRunnerOptions } from '../testing/create-test-runner.ts'
import { createHandClock } from '../testing/hand-clock.ts'
import { delegate } from '../agent/tools/delegate/delegate.ts'
import { listFiles } from '../agent/tools/list-files/list-files.ts'

/** One call: 1,000 tokens in at $10 and 100 out at $100 a million are two cents. */
const PRICE = { inputUsdPerMillion: 10, outputUsdPerMillion: 100 }
const USAGE = { input: 1000, output: 100 }
const again = { text: ['Again.'], toolCalls: [{ id: 'call', name: 'list_files', args: {} }], usage: USAGE }

describe('a budget', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  async function open(fields: Partial<CreateAgent> = {}, options: TestRunnerOptions = {}): Promise<Agent> {
    // Few tools, because the reservation for a call grows with their descriptions.
    runner = await createTestRunner({
      tools: [listFiles, delegate],
      modelServer: { fallback: { text: ['Hello.'], usage: USAGE } },
      ...options,
    })
    const agent = await runner.addAgent(fields)
    await runner.client.ok('setModelPrice', { body: { model: agent.model!, price: PRICE } })
    return agent
  }
  const setPrice = (model: ModelRef, inputUsdPerMillion: number) =>
    runner.client.ok('setModelPrice', { body: { model, price: { inputUsdPerMillion, outputUsdPerMillion: inputUsdPerMillion * 10 } } })
  const submit = async (agent: Agent) => (await runner.client.ok('submitTask', { body: { task: 'Go', agentId: agent.id } })).jobId
  const run = async (agent: Agent): Promise<Job> => runner.ended(await submit(agent))
  const pending = async (): Promise<Approval[]> => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
  const answer = (approvalId: string, decision: 'approve' | 'reject') =>
    runner.client.ok('resolveApproval', { body: { approvalId, decision } })

  it('of a job asks when it is reached, is never exceeded, and can be doubled with one tap', async () => {
    const agent = await open({ limits: { maxCostUsd: 0.2 }, folders: [] }, { modelServer: { fallback: again } })
    const job = await run(agent)
    expect(job).toMatchObject({ status: 'awaiting_approval' })
    expect(job.costUsd).toBeGreaterThan(0.05)
    expect(job.costUsd).toBeLessThanOrEqual(0.2)
    const [asked] = await pending()
    expect(asked).toMatchObject({
      kind: 'budget',
      callId: null,
      tool: null,
      mayRemember: ['once'],
      budget: { scope: 'job', limitUsd: 0.2, spentUsd: job.costUsd, extensionUsd: 0.2 },
    })
    expect(runner.notifications.map(({ kind }) => kind)).toContain('budget_reached')
    await answer(asked!.id, 'approve')
    const more = await runner.ended(job.id)
    expect(more.status).toBe('awaiting_approval')
    expect(more.costUsd).toBeGreaterThan(0.2)
    expect(more.costUsd).toBeLessThanOrEqual(0.4)
    expect((await pending())[0]).toMatchObject({ budget: { limitUsd: 0.4, extensionUsd: 0.2 } })
  })

  it('ends the job with its text if nobody extends it', async () => {
    const agent = await open({ limits: { maxCostUsd: 0.2 } }, { modelServer: { fallback: again } })
    const job = await run(agent)
    await answer((await pending())[0]!.id, 'reject')
    const ended = await runner.ended(job.id)
    expect(ended).toMatchObject({
      status: 'failed',
      error: 'cost_limit',
      errorMessage: expect.objectContaining({ code: 'spent_job_refused' }),
    })
    expect(ended.result).toContain('Again.')
  })

  it('ends the job after a day without an answer', async () => {
    const clock = createHandClock()
    const agent = await open({ limits: { maxCostUsd: 0.05 } }, { clock })
    const job = await run(agent)
    expect(job).toMatchObject({ status: 'awaiting_approval', costUsd: 0 })
    clock.advance(25 * 3_600_000)
    expect(await runner.ended(job.id)).toMatchObject({ status: 'failed', error: 'cost_limit' })
  })

  it('does not end the job after a day without an answer, if its next call costs less by then', async () => {
    const clock = createHandClock()
    const agent = await open({ limits: { maxCostUsd: 0.2 }, instructions: 'Be brief. '.repeat(5000) }, { clock })
    const job = await run(agent)
    expect(job.status).toBe('awaiting_approval')
    await runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { instructions: '' } })
    expect((await runner.ended(job.id)).status).toBe('awaiting_approval')
    clock.advance(25 * 3_600_000)
    await expect.poll(async () => (await runner.ended(job.id)).status).toBe('completed')
  })

  it('lets a waiting job go on when its model costs less', async () => {
    const agent = await open({ limits: { maxCostUsd: 0.05 } })
    const job = await run(agent)
    expect(job.status).toBe('awaiting_approval')
    await setPrice(agent.model!, 0)
    await expect.poll(async () => (await runner.ended(job.id)).status).toBe('completed')
    expect(await pending()).toEqual([])
  })

  it('lets a waiting job go on when its agent gets a model that costs less', async () => {
    const agent = await open({ limits: { maxCostUsd: 0.05 } })
    const free = { ...agent.model!, model: 'free' }
    await setPrice(free, 0)
    const job = await run(agent)
    expect(job.status).toBe('awaiting_approval')
    await runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { model: free } })
    await expect.poll(async () => (await runner.ended(job.id)).status).toBe('completed')
    expect(await pending()).toEqual([])
  })

  it('is asked about again when a new price is still too high', async () => {
    const agent = await open({ limits: { maxCostUsd: 0.05 } })
    const job = await run(agent)
    const [asked] = await pending()
    await setPrice(agent.model!, 9)
    await expect.poll(async () => (await pending()).map(({ id }) => id)).toEqual([expect.not.stringMatching(asked!.id)])
    expect((await runner.ended(job.id)).status).toBe('awaiting_approval')
  })

  it('of an agent applies to all its jobs of the day', async () => {
    const clock = createHandClock()
    const agent = await open({ budgets: { dayUsd: 0.14 } }, { clock })
    expect((await run(agent)).status).toBe('completed')
    expect((await run(agent)).status).toBe('completed')
    const third = await run(agent)
    expect(third.status).toBe('awaiting_approval')
    const [asked] = await pending()
    expect(asked!.budget).toMatchObject({ scope: 'agent_day', limitUsd: 0.14, spentUsd: 0.04 })
    await answer(asked!.id, 'approve')
    expect((await runner.ended(third.id)).status).toBe('completed')
    expect((await run(agent)).status).toBe('completed')
    // The extension is for today. Tomorrow starts with the plain limit.
    clock.advance(24 * 3_600_000)
    expect((await run(agent)).status).toBe('completed')
    await runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { budgets: { dayUsd: null } } })
    expect((await runner.client.ok('getAgent', { params: { agentId: agent.id } })).agent.budgets).toEqual({ dayUsd: null, monthUsd: null })
  })

  it('of a day lets a waiting job go on when the next day begins', async () => {
    const clock = createHandClock()
    const agent = await open({ budgets: { dayUsd: 0.14 } }, { clock })
    for (let i = 0; i < 2; i++) expect((await run(agent)).status).toBe('completed')
    const third = await run(agent)
    expect(third.status).toBe('awaiting_approval')
    clock.advance(20 * 3_600_000)
    await expect.poll(async () => (await runner.ended(third.id)).status).toBe('completed')
    expect(await pending()).toEqual([])
  })

  it('is asked about once, whatever else is changed', async () => {
    const agent = await open({ limits: { maxCostUsd: 0.05 } })
    const job = await run(agent)
    const [asked] = await pending()
    const other = await runner.addAgent({ name: 'Other' })
    await runner.client.ok('updateAgent', { params: { agentId: other.id }, body: { name: 'Renamed' } })
    await runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { instructions: 'Be brief.' } })
    expect((await runner.ended(job.id)).status).toBe('awaiting_approval')
    expect((await pending()).map(({ id }) => id)).toEqual([asked!.id])
  })

  it('of all agents is shared, and extending it continues all waiting jobs', async () => {
    const agent = await open()
    const other = await runner.addAgent({ name: 'Other' })
    await runner.client.ok('updateSettings', { body: { dayBudgetUsd: 0.14 } })
    expect((await run(agent)).status).toBe('completed')
    expect((await run(agent)).status).toBe('completed')
    const jobs = [await run(agent), await run(other)]
    expect(jobs.map(({ status }) => status)).toEqual(['awaiting_approval', 'awaiting_approval'])
    const asked = await pending()
    expect(asked.map(({ budget }) => budget!.scope)).toEqual(['app_day', 'app_day'])
    await answer(asked[0]!.id, 'approve')
    for (const { id } of jobs) expect((await runner.ended(id)).status).toBe('completed')
    expect(await pending()).toEqual([])
  })

  it('continues waiting jobs when a person raises it', async () => {
    const agent = await open({ limits: { maxCostUsd: 0.05 }, budgets: { monthUsd: 0.06 } })
    const job = await run(agent)
    expect((await pending()).map(({ budget }) => budget!.scope)).toEqual(['job'])
    const change = (body: object) => runner.client.ok('updateAgent', { params: { agentId: agent.id }, body })
    await change({ limits: { maxCostUsd: 1 } })
    await expect.poll(async () => (await pending()).map(({ budget }) => budget!.scope)).toEqual(['agent_month'])
    await change({ budgets: { monthUsd: 1 } })
    await expect.poll(async () => (await runner.ended(job.id)).status).toBe('completed')
    expect(await pending()).toEqual([])
  })

  it('lets one of two jobs wait for the last dollar until the other has settled', async () => {
    const agent = await open({ budgets: { dayUsd: 0.15 } })
    const held = runner.modelServer.holdBefore(0)
    const jobs = [await submit(agent), await submit(agent)]
    await runner.modelServer.untilReceived(1)
    // The second has not called, because its estimate and the reservation of the first exceed the limit.
    await expect.poll(async () => (await runner.client.ok('countJobs')).running).toBe(2)
    expect(runner.modelServer.received.filter(({ method }) => method === 'POST')).toHaveLength(1)
    held.release()
    for (const id of jobs) expect((await runner.ended(id)).status).toBe('completed')
    expect(runner.modelServer.received.filter(({ method }) => method === 'POST')).toHaveLength(2)
  })

  it('lets a job take the last dollar while another one waits to try its call again', async () => {
    const clock = createHandClock()
    const agent = await open({ budgets: { dayUsd: 0.15 } }, { clock })
    runner.modelServer.play({ fault: { kind: 'status', status: 429, headers: { 'retry-after': '600' } } })
    const waiting = await submit(agent)
    await clock.untilSleeping((ms) => ms === 600_000)
    expect((await run(agent)).status).toBe('completed')
    clock.advance(600_000)
    expect((await runner.ended(waiting)).status).toBe('completed')
  })

  it('has no reservations after a crash', async () => {
    const agent = await open({ budgets: { dayUsd: 0.15 } })
    runner.modelServer.play({ text: ['Half'], fault: { kind: 'stall', afterFrames: 1 } })
    const jobId = await submit(agent)
    await runner.modelServer.untilReceived(1)
    await runner.restart({ crash: true })
    expect((await runner.ended(jobId)).status).toBe('completed')
    expect((await run(agent)).status).toBe('completed')
  })

  it('of a delegating job applies to delegated jobs', async () => {
    const agent = await open({ name: 'Lead', limits: { maxCostUsd: 0.2 } })
    await runner.addAgent({ name: 'Helper', limits: { maxCostUsd: 100 } })
    runner.modelServer.play({ toolCalls: [{ id: 'd', name: 'delegate', args: { agent: 'Helper', task: 'Loop' } }], usage: USAGE })
    for (let i = 0; i < 20; i++) runner.modelServer.play(again)
    const jobId = await submit(agent)
    await expect.poll(pending).toHaveLength(1)
    const [asked] = await pending()
    expect(asked).toMatchObject({ agentName: 'Helper', budget: { scope: 'job', limitUsd: 0.2 } })
    const { job } = await runner.client.ok('getJob', { params: { jobId } })
    expect(job.costUsd + job.childrenCostUsd).toBeLessThanOrEqual(0.2)
    expect(job.childrenCostUsd).toBeGreaterThan(0)
  })
})
