import { afterEach, describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import type { Agent, CreateAgent } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { createHandClock, type HandClock } from '../testing/hand-clock.ts'
import { postWebhook } from '../testing/webhook-sender.ts'
import { defineTool } from '../agent/tools/tool.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY
const START = Date.parse('2026-11-20T09:30:00Z')

/** One call: 1,000 tokens in at $10 and 100 out at $100 a million are two cents. */
const PRICE = { inputUsdPerMillion: 10, outputUsdPerMillion: 100 }
const USAGE = { input: 1000, output: 100 }

const send = defineTool({
  name: 'send',
  description: 'Sends a message.',
  args: z.object({ to: z.string() }),
  effect: 'once',
  parallel: false,
  facts: ({ to }) => ({
    paths: [],
    leavesMachine: true,
    costsMoney: false,
    deletes: false,
    overwrites: false,
    runsCode: false,
    subject: `https://mail.example/${to}`,
    summary: `Send it to ${to}`,
  }),
  run: async ({ to }) => ({ ok: true, output: `sent to ${to}` }),
})

let runner: TestRunner
let clock: HandClock
afterEach(() => runner.stop())

async function open(fields: Partial<CreateAgent> = {}): Promise<Agent> {
  clock = createHandClock(START)
  runner = await createTestRunner({ clock, tools: [send], modelServer: { fallback: { text: ['Hello.'], usage: USAGE } } })
  const agent = await runner.addAgent({ limits: { maxCostUsd: 1 }, ...fields })
  await runner.client.ok('setModelPrice', { body: { model: agent.model!, price: PRICE } })
  return agent
}
const submit = async (agent: Agent) => (await runner.client.ok('submitTask', { body: { task: 'Go', agentId: agent.id } })).jobId
const run = async (agent: Agent) => runner.ended(await submit(agent))
const pending = async (): Promise<Approval[]> => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
/** Sets the clock and gives the runner half a minute to notice. */
function set(ms: number): void {
  clock.jump(ms)
  clock.advance(30_000)
}
/** Runs all periodic work, each timer once in ten minutes. */
function runFor(ms: number): void {
  for (let left = ms; left > 0; left -= 10 * MINUTE) clock.skip(Math.min(left, 10 * MINUTE))
}
/** Runs a job that has to wait for money, and returns its id. */
async function runShort(agent: Agent): Promise<string> {
  const { id, status } = await run(agent)
  expect(status).toBe('awaiting_approval')
  return id
}
/** With the money of a new day, the jobs that wait go on by themselves. */
async function expectNewDay(...waiting: string[]): Promise<void> {
  for (const id of waiting) expect((await runner.ended(id)).status).toBe('completed')
}
const left = ({ expiresAt }: Approval) => expiresAt - clock.now()

describe('with a wrong clock, an approval', () => {
  async function ask(): Promise<{ jobId: string; approval: Approval }> {
    const agent = await open()
    runner.modelServer.play({ text: [''], toolCalls: [{ id: 'call', name: 'send', args: { to: 'ada' } }], usage: USAGE })
    const job = await run(agent)
    expect(job.status).toBe('awaiting_approval')
    return { jobId: job.id, approval: (await pending())[0]! }
  }
  const approve = (approvalId: string) => runner.client.ask('resolveApproval', { body: { approvalId, decision: 'approve' } })

  test.each([
    ['two years ahead', 2 * YEAR],
    ['a year back', -YEAR],
  ])('keeps the rest of its day: %s', async (_how, ms) => {
    const { approval } = await ask()
    clock.advance(HOUR)
    set(ms)
    const [moved] = await pending()
    expect(left(moved!)).toBe(23 * HOUR - 30_000)
    runFor(HOUR)
    set(-ms)
    const [back] = await pending()
    expect(back!.expiresAt).toBe(approval.expiresAt)
    runFor(left(back!) + MINUTE)
    expect(await pending()).toEqual([])
  })

  it('can be answered at once, and its job continues', async () => {
    const { jobId, approval } = await ask()
    clock.jump(2 * YEAR)
    expect((await approve(approval.id)).status).toBe(200)
    expect(await runner.ended(jobId)).toMatchObject({ status: 'completed', result: 'Hello.' })
  })

  it('expires in time if the clock stays wrong', async () => {
    const { jobId, approval } = await ask()
    set(2 * YEAR)
    runFor(23 * HOUR)
    expect(await pending()).toHaveLength(1)
    runFor(HOUR + MINUTE)
    expect(await pending()).toEqual([])
    expect((await approve(approval.id)).status).toBe(410)
    expect((await runner.ended(jobId)).status).toBe('completed')
  })

  it('from before three weeks off can be answered after them', async () => {
    const { jobId, approval } = await ask()
    clock.jump(21 * DAY)
    await runner.restart({ crash: true })
    expect(left((await pending())[0]!)).toBe(24 * HOUR)
    expect((await approve(approval.id)).status).toBe(200)
    expect((await runner.ended(jobId)).status).toBe('completed')
  })

  it('counts a night in which the machine was off', async () => {
    await ask()
    clock.jump(15 * HOUR)
    await runner.restart({ crash: true })
    expect(left((await pending())[0]!)).toBe(9 * HOUR)
  })

  it('emits an event when its expiry moves', async () => {
    await ask()
    const { events } = await runner.client.stream('streamEvents', {})
    set(2 * YEAR)
    for await (const { event } of events) if (event === 'clock.set') break
  })
})

describe('with a wrong clock, stored data', () => {
  async function deliver(url: string): Promise<string> {
    const answer = await postWebhook(url.replace(/:\d+\//, `:${runner.port}/`), {
      headers: { 'content-type': 'application/json', 'webhook-id': 'evt_1' },
    })
    expect(answer.status).toBe(202)
    return answer.body.jobId!
  }
  async function addTrigger(): Promise<string> {
    const agent = await open()
    const body = { name: 'Builds', agentId: agent.id, taskTemplate: 'Look.', dedupe: true }
    return (await runner.client.ok('createTrigger', { body })).url
  }

  it.each([
    ['two years ahead', 2 * YEAR],
    ['a year back', -YEAR],
  ])('still detects a repeated delivery, within an hour and after it: %s', async (_how, ms) => {
    const url = await addTrigger()
    const first = await deliver(url)
    set(ms)
    runFor(2 * HOUR)
    expect(await deliver(url)).toBe(first)
    set(-ms)
    runFor(2 * HOUR)
    expect(await deliver(url)).toBe(first)
  })

  it('still detects a repeated message of a chat after the clock was set ahead', async () => {
    const agent = await open()
    const chat = async (clientId: string) =>
      (await runner.client.ok('chat', { body: { agentId: agent.id, message: 'Hello', clientId } })).jobId
    const first = await chat('turn-1')
    set(3 * DAY)
    await chat('turn-2')
    expect(await chat('turn-1')).toBe(first)
    set(-3 * DAY)
    runFor(23 * HOUR)
    await chat('turn-3')
    expect(await chat('turn-1')).toBe(first)
    runFor(2 * HOUR)
    await chat('turn-4')
    expect(await chat('turn-1')).not.toBe(first)
  })

  it('keeps all events and the run history', async () => {
    const agent = await open()
    const body = { name: 'News', agentId: agent.id, cron: '0 * * * *', timezone: 'UTC', task: 'Read the news.' }
    const { schedule } = await runner.client.ok('createSchedule', { body })
    const runHistory = async () =>
      (await runner.client.ok('listOccurrences', { params: { scheduleId: schedule.id }, query: {} })).occurrences
    const untilRuns = (count: number) =>
      expect.poll(async () => (await runHistory()).filter(({ jobStatus }) => jobStatus === 'completed').length).toBe(count)
    clock.advance(30 * MINUTE)
    await untilRuns(1)
    clock.advance(HOUR)
    await untilRuns(2)
    set(2 * YEAR)
    await untilRuns(3)
    runFor(2 * HOUR)
    set(-2 * YEAR - 2 * HOUR)
    const dueTimes = (await runHistory()).map(({ dueAt }) => dueAt)
    expect(dueTimes).toEqual(expect.arrayContaining([START + 30 * MINUTE, START + 90 * MINUTE]))
    const { events, close } = await runner.client.stream('streamEvents', { lastEventId: 1 })
    expect((await events.next()).value).toMatchObject({ id: 2 })
    close()
  })

  it('is pruned a day after six weeks off', async () => {
    const url = await addTrigger()
    const first = await deliver(url)
    clock.jump(42 * DAY)
    await runner.restart({ crash: true })
    runFor(20 * HOUR)
    expect(await deliver(url)).toBe(first)
    runFor(6 * HOUR)
    expect(await deliver(url)).not.toBe(first)
  })
})

describe('with a wrong clock, a budget', () => {
  // A call reserves ten cents, so there is no room for a third one.
  const budgets = { dayUsd: 0.14, monthUsd: null }
  const spentDays = async () =>
    (await runner.client.ok('getSpend', { query: { by: 'day', timezone: 'UTC' } })).rows.map(({ key, costUsd }) => [key, costUsd])

  it.each([
    ['two years ahead', 2 * YEAR],
    ['a day ahead', DAY],
    ['a year back', -YEAR],
  ])('is not available twice after setting the clock: %s', async (_how, ms) => {
    const agent = await open({ budgets })
    expect((await run(agent)).status).toBe('completed')
    set(ms)
    expect((await run(agent)).status).toBe('completed')
    const first = await runShort(agent)
    expect((await pending())[0]!.budget).toMatchObject({ scope: 'agent_day', spentUsd: 0.04 })
    set(-ms)
    const second = await runShort(agent)
    expect(await spentDays()).toEqual([['2026-11-20', 0.04]])
    runFor(DAY)
    await expectNewDay(first, second)
    expect(await spentDays()).toEqual([
      ['2026-11-20', 0.04],
      ['2026-11-21', 0.04],
    ])
  })

  it('of all agents stays one budget, whatever the clock shows', async () => {
    const agent = await open()
    await runner.client.ok('updateSettings', { body: { dayBudgetUsd: 0.14 } })
    expect((await run(agent)).status).toBe('completed')
    set(2 * YEAR)
    expect((await run(agent)).status).toBe('completed')
    expect((await run(agent)).status).toBe('awaiting_approval')
    expect((await pending())[0]!.budget).toMatchObject({ scope: 'app_day', spentUsd: 0.04 })
  })

  it('has a new day after the clock was wrong for a day, and is right after it is set', async () => {
    const agent = await open({ budgets: { dayUsd: 0.14, monthUsd: 1 } })
    set(2 * YEAR)
    expect((await run(agent)).status).toBe('completed')
    runFor(DAY + HOUR)
    for (let i = 0; i < 2; i++) expect((await run(agent)).status).toBe('completed')
    set(-2 * YEAR)
    // The clock was ahead for so long that it is trusted, so its day counts.
    expect((await run(agent)).status).toBe('awaiting_approval')
    runFor(DAY)
    expect((await run(agent)).status).toBe('completed')
    expect((await spentDays()).map(([day]) => day)).toEqual(['2026-11-20', '2026-11-22'])
  })

  it('has a new day after three weeks off', async () => {
    const agent = await open({ budgets })
    for (let i = 0; i < 2; i++) expect((await run(agent)).status).toBe('completed')
    clock.jump(21 * DAY)
    await runner.restart({ crash: true })
    expect((await run(agent)).status).toBe('completed')
    expect(await spentDays()).toEqual([
      ['2026-11-20', 0.04],
      ['2026-12-11', 0.02],
    ])
  })

  it('survives a start in 2010 with an empty battery', async () => {
    const agent = await open({ budgets })
    for (let i = 0; i < 2; i++) expect((await run(agent)).status).toBe('completed')
    const back = Date.parse('2010-01-01T00:00:00Z') - clock.now()
    clock.jump(back)
    await runner.restart({ crash: true })
    const first = await runShort(agent)
    set(-back + HOUR)
    const second = await runShort(agent)
    expect(await spentDays()).toEqual([['2026-11-20', 0.04]])
    runFor(DAY)
    await expectNewDay(first, second)
  })
})

/** Sets the clock, dates one event by it, and kills the process before the clock is read again. */
describe('a wrong clock and a crash of the app on a running machine', () => {
  test.each([
    ['a year ahead', YEAR],
    ['a day ahead', DAY],
    ['a year back', -YEAR],
  ])('neither expire an approval nor open a spent budget: %s', async (_how, ms) => {
    clock = createHandClock(START)
    const machine = { uptimeMs: () => HOUR + clock.monotonic(), bootId: () => 'this boot' }
    runner = await createTestRunner({ clock, machine, tools: [send], modelServer: { fallback: { text: ['Hello.'], usage: USAGE } } })
    const asking = await runner.addAgent({ name: 'Asks', limits: { maxCostUsd: 1 } })
    await runner.client.ok('setModelPrice', { body: { model: asking.model!, price: PRICE } })
    runner.modelServer.play({ text: [''], toolCalls: [{ id: 'call', name: 'send', args: { to: 'ada' } }], usage: USAGE })
    const asked = await run(asking)
    expect(asked.status).toBe('awaiting_approval')
    const spending = await runner.addAgent({
      name: 'Spends',
      model: asking.model,
      limits: { maxCostUsd: 1 },
      budgets: { dayUsd: 0.14, monthUsd: null },
    })
    for (let i = 0; i < 2; i++) expect((await run(spending)).status).toBe('completed')
    clock.advance(HOUR)

    clock.jump(ms)
    const interrupted = await submit(spending)
    clock.advance(3000)
    await runner.restart({ crash: true })

    // The interrupted job may have asked, too.
    const approval = (await pending()).find(({ jobId }) => jobId === asked.id)
    expect(left(approval!)).toBe(23 * HOUR - 3000)
    expect((await runner.ended(interrupted)).status).toBe('awaiting_approval')
    const second = await runShort(spending)
    clock.jump(-ms)
    clock.advance(30_000)
    expect(left((await pending()).find(({ id }) => id === approval!.id)!)).toBe(23 * HOUR - 33_000)
    runFor(DAY)
    await expectNewDay(interrupted, second)
  })
})

/** As on macOS and Windows, where a process cannot tell whether the machine was restarted. */
describe('a wrong clock and a start on a system without boot ids', () => {
  test.each([
    ['a year ahead', YEAR],
    ['a year back', -YEAR],
  ])('neither expire an approval nor open a spent budget: %s', async (_how, ms) => {
    clock = createHandClock(START)
    const machine = { uptimeMs: () => HOUR + clock.monotonic(), bootId: () => null }
    runner = await createTestRunner({ clock, machine, tools: [send], modelServer: { fallback: { text: ['Hello.'], usage: USAGE } } })
    const asking = await runner.addAgent({ name: 'Asks', limits: { maxCostUsd: 1 } })
    await runner.client.ok('setModelPrice', { body: { model: asking.model!, price: PRICE } })
    runner.modelServer.play({ text: [''], toolCalls: [{ id: 'call', name: 'send', args: { to: 'ada' } }], usage: USAGE })
    const asked = await run(asking)
    expect(asked.status).toBe('awaiting_approval')
    const budgets = { dayUsd: 0.14, monthUsd: 0.14 }
    const spending = await runner.addAgent({ name: 'Spends', model: asking.model, limits: { maxCostUsd: 1 }, budgets })
    for (let i = 0; i < 2; i++) expect((await run(spending)).status).toBe('completed')
    for (const set of [ms, -ms, ms]) {
      clock.jump(set)
      clock.advance(3000)
      await runner.restart({ crash: true })
      expect((await run(spending)).status).toBe('awaiting_approval')
      const approval = (await pending()).find(({ jobId }) => jobId === asked.id)
      expect(left(approval!)).toBeGreaterThan(23 * HOUR)
      expect(left(approval!)).toBeLessThanOrEqual(24 * HOUR)
    }
  })
})
