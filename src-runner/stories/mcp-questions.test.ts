import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { addHostileServer, type HostileServer } from '../testing/mcp-server/hostile-server.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'

const { isMissing } = await findSandboxHere('bubblewrap')

describe.skipIf(isMissing)('a question of an MCP server during a call', () => {
  let runner: TestRunner
  let agent: Agent
  let hostile: HostileServer
  beforeAll(async () => {
    runner = await createTestRunner()
    agent = await runner.addAgent({ autonomy: 'on_its_own' })
    hostile = await addHostileServer(runner, { agentIds: [agent.id] })
    await hostile.accept({ ask: 'once', die: 'idempotent', look: 'read' })
  })
  afterAll(() => runner.stop())

  const form = (properties: Record<string, object>, more: object = {}) => ({
    params: { message: 'Before I book:', requestedSchema: { type: 'object', properties, ...more } },
  })
  const lastReply = () => runner.modelServer.play({ text: ['Done.'] })
  async function start(name: string, args: object, { isLast = true } = {}) {
    runner.modelServer.play({ toolCalls: [{ id: 'c0', name, args }] })
    if (isLast) lastReply()
    return (await runner.client.ok('submitTask', { body: { task: 'Do it', agentId: agent.id } })).jobId
  }
  const pending = async (jobId: string) => (await runner.client.ok('listApprovals', { query: { status: 'pending', jobId } })).approvals
  /** The question that the job waits with. */
  async function question(jobId: string): Promise<Approval> {
    expect((await runner.ended(jobId)).status).toBe('awaiting_approval')
    const [approval, ...others] = await pending(jobId)
    expect(others).toEqual([])
    return approval!
  }
  const answer = ({ id }: Approval, body: { answer: string } | 'decline') =>
    runner.client.ok('resolveApproval', {
      body: body === 'decline' ? { approvalId: id, decision: 'reject' } : { approvalId: id, decision: 'approve', ...body },
    })
  async function outputs(jobId: string): Promise<string[]> {
    expect((await runner.ended(jobId)).status).toBe('completed')
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    return steps.flatMap((step) => (step.kind === 'tool_result' ? [step.output] : []))
  }
  const asksIn = (log: string[]) => log.filter((line) => line.startsWith('ask')).length

  it('asks the person field by field in the words of the server, and answers the same call', async () => {
    const before = asksIn(hostile.calls())
    const fields = {
      city: { type: 'string', title: 'City', enum: ['b', 'h'], enumNames: ['Berlin', 'Hamburg'] },
      seats: { type: 'integer', description: 'How many?', minimum: 1, maximum: 5 },
      wifi: { type: 'boolean' },
      remark: { type: 'string' },
    }
    const jobId = await start('hostile__ask', form(fields, { required: ['city', 'seats', 'wifi'] }))
    const city = await question(jobId)
    expect(city).toMatchObject({ kind: 'question', tool: 'hostile__ask' })
    expect(city.question).toEqual({ text: 'Before I book:\n\nCity', choices: ['Berlin', 'Hamburg'], server: 'Hostile' })
    await answer(city, { answer: 'Hamburg' })
    const seats = await question(jobId)
    expect(seats.question).toMatchObject({ text: 'Before I book:\n\nseats: How many? [integer 1–5]', choices: [] })
    await answer(seats, { answer: 'nine' })
    const again = await question(jobId)
    expect([again.id === seats.id, again.question]).toEqual([false, seats.question])
    await answer(again, { answer: '2' })
    const wifi = await question(jobId)
    expect(wifi.question).toMatchObject({ form: 'yes_no' })
    await answer(wifi, { answer: 'no' })
    const [output] = await outputs(jobId)
    expect(output).toContain('answer: {"action":"accept","content":{"city":"h","seats":2,"wifi":false}}')
    expect(asksIn(hostile.calls()) - before).toBe(1)
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    expect(steps.filter(({ kind }) => kind === 'tool_started')).toHaveLength(1)
    const { decisions } = await runner.client.ok('listDecisions', { params: { jobId } })
    expect(decisions).toMatchObject([{ callId: 'c0', decision: { verdict: 'run' } }])
  })

  it('tells the server that the person does not want to answer, and the model as well', async () => {
    const jobId = await start('hostile__ask', {})
    await answer(await question(jobId), 'decline')
    const [output] = await outputs(jobId)
    expect(output).toContain('answer: {"action":"decline"}')
    expect(output).toContain('- Which city?: the person does not want to answer')
  })

  it('shows an address, and asks whether the person is done there', async () => {
    const url = 'https://pay.example/confirm?id=7'
    const jobId = await start('hostile__ask', { params: { mode: 'url', message: 'Please confirm.', url, elicitationId: 'e1' } })
    const asked = await question(jobId)
    expect(asked.question).toEqual({ text: 'Please confirm.', choices: [], server: 'Hostile', form: 'done', url })
    await answer(asked, { answer: 'done' })
    expect((await outputs(jobId))[0]).toContain('answer: {"action":"accept"}')
    const script = await start('hostile__ask', { params: { mode: 'url', message: 'x', url: 'javascript:alert(1)', elicitationId: 'e2' } })
    expect((await outputs(script))[0]).toContain('none that may be shown')
  })

  it.each([
    ['a field for a password', form({ login: { type: 'string', title: 'Your Password' } })],
    ['a message about a key', { params: { message: 'Enter your API key', requestedSchema: { type: 'object', properties: {} } } }],
  ])('never asks for a secret: %s', async (_, args) => {
    const jobId = await start('hostile__ask', args)
    expect((await outputs(jobId))[0]).toMatch(/"action":"decline"[^]*seems to want a secret/)
  })

  it('asks nobody while several calls of a server are under way, because nobody can tell which one asks', async () => {
    const waiting = await start('hostile__ask', {}, { isLast: false })
    const asked = await question(waiting)
    const beside = await start('hostile__ask', {})
    expect((await outputs(beside))[0]).toContain('nobody can tell which of them asks')
    lastReply()
    await answer(asked, { answer: 'Bonn' })
    expect((await outputs(waiting))[0]).toContain('"content":{"city":"Bonn"}')
  })

  it('withdraws the question of a server that died, and asks about the outcome of the call', async () => {
    const jobId = await start('hostile__ask', {}, { isLast: false })
    const asked = await question(jobId)
    await outputs(await start('hostile__die', {}))
    await expect.poll(async () => (await pending(jobId)).map(({ kind }) => kind)).toEqual(['unknown_outcome'])
    const late = await runner.client.ask('resolveApproval', { body: { approvalId: asked.id, decision: 'approve', answer: 'x' } })
    expect(late.status).toBe(409)
    lastReply()
    await answer((await pending(jobId))[0]!, { answer: 'happened' })
    expect((await outputs(jobId))[0]).toContain('did take effect')
  })

  it('ends the call with its job', async () => {
    const cancelled = join(hostile.folder, 'cancelled.log')
    const countOf = () => (existsSync(cancelled) ? readFileSync(cancelled).length : 0)
    const before = countOf()
    const jobId = await start('hostile__ask', {}, { isLast: false })
    await question(jobId)
    await runner.client.ok('cancelJob', { params: { jobId } })
    expect((await runner.ended(jobId)).status).toBe('cancelled')
    await expect.poll(countOf, { timeout: 2_000 }).toBe(before + 1)
  })

  it('follows the class of a call that a crash ended: asks about one, and repeats the other', async () => {
    const once = await start('hostile__ask', {}, { isLast: false })
    await question(once)
    const before = asksIn(hostile.calls())
    await runner.restart({ crash: true })
    await expect.poll(async () => (await pending(once)).map(({ kind }) => kind)).toEqual(['unknown_outcome'])
    expect(asksIn(hostile.calls())).toBe(before)
    await runner.client.ok('cancelJob', { params: { jobId: once } })

    await hostile.accept({ ask: 'read', die: 'idempotent' })
    const read = await start('hostile__ask', {})
    const first = await question(read)
    await runner.restart({ crash: true })
    await expect.poll(async () => (await pending(read)).filter(({ id }) => id !== first.id).length, { timeout: 20_000 }).toBe(1)
    await answer((await pending(read))[0]!, { answer: 'Kiel' })
    expect((await outputs(read))[0]).toContain('"content":{"city":"Kiel"}')
  })
})
