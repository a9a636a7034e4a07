import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Approval } from '../contract/approvals.ts'
import type { TestRunner } from '../testing/create-test-runner.ts'
import { startMcpRig, type McpRig } from '../testing/mcp-rig.ts'
import { addHostileServer, type HostileServer } from '../testing/mcp-server/hostile-server.ts'
import { findSandboxHere } from '../testing/sandbox-here.ts'

const { isMissing } = await findSandboxHere('bubblewrap')

describe.skipIf(isMissing)('a question of an MCP server during a call', () => {
  let rig: McpRig
  let runner: TestRunner
  let hostile: HostileServer
  beforeAll(async () => {
    rig = await startMcpRig()
    runner = rig.runner
    hostile = await addHostileServer(rig)
    await hostile.accept({ ask: 'once', die: 'idempotent', look: 'read' })
  })
  afterAll(() => runner.stop())

  const form = (properties: Record<string, object>, more: object = {}) => ({
    params: { message: 'Before I book:', requestedSchema: { type: 'object', properties, ...more } },
  })
  const lastReply = () => runner.modelServer.play({ text: ['Done.'] })
  const start = (name: string, args: object, { ends = true } = {}) => rig.start({ name, args }, { ends })
  const answer = ({ id }: Approval, body: { answer: string } | 'reject') => rig.answer(id, body)
  const asksIn = (log: string[]) => log.filter((line) => line.startsWith('ask')).length

  it('is not answered by a program over /mcp, which may be the server itself', async () => {
    await runner.client.ok('updateSettings', { body: { mcpApprovals: true } })
    const jobId = await start('hostile__ask', form({ city: { type: 'string' } }))
    const asked = await rig.approvalOf(jobId)
    expect(asked.taints.untrusted).toBeNull()
    const params = { name: 'answer_approval', arguments: { approvalId: asked.id, decision: 'approve', answer: 'Here' } }
    const response = await fetch(`${runner.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    })
    expect(await response.text()).toContain('approval_by_person')
    await answer(asked, 'reject')
    await rig.outputsOf(jobId)
  })

  it('asks the person field by field in the words of the server, and answers the same call', async () => {
    const before = asksIn(hostile.calls())
    const fields = {
      city: { type: 'string', title: 'City', enum: ['b', 'h'], enumNames: ['Berlin', 'Hamburg'] },
      seats: { type: 'integer', description: 'How many?', minimum: 1, maximum: 5 },
      wifi: { type: 'boolean' },
      remark: { type: 'string' },
    }
    const jobId = await start('hostile__ask', form(fields, { required: ['city', 'seats', 'wifi'] }))
    const city = await rig.approvalOf(jobId)
    expect(city).toMatchObject({ kind: 'question', tool: 'hostile__ask' })
    expect(city.question).toEqual({ text: 'Before I book:\n\nCity', choices: ['Berlin', 'Hamburg'], server: 'Hostile' })
    await answer(city, { answer: 'Hamburg' })
    const seats = await rig.approvalOf(jobId)
    expect(seats.question).toMatchObject({ text: 'Before I book:\n\nseats: How many? [integer 1–5]', choices: [] })
    await answer(seats, { answer: 'nine' })
    const again = await rig.approvalOf(jobId)
    expect([again.id === seats.id, again.question]).toEqual([false, seats.question])
    await answer(again, { answer: '2' })
    const wifi = await rig.approvalOf(jobId)
    expect(wifi.question).toMatchObject({ form: 'yes_no' })
    await answer(wifi, { answer: 'no' })
    const [output] = await rig.outputsOf(jobId)
    expect(output).toContain('answer: {"action":"accept","content":{"city":"h","seats":2,"wifi":false}}')
    expect(asksIn(hostile.calls()) - before).toBe(1)
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    expect(steps.filter(({ kind }) => kind === 'tool_started')).toHaveLength(1)
    const { decisions } = await runner.client.ok('listDecisions', { params: { jobId } })
    expect(decisions).toMatchObject([{ callId: 'c0', decision: { verdict: 'run' } }])
  })

  it('tells the server that the person does not want to answer, and the model as well', async () => {
    const jobId = await start('hostile__ask', {})
    await answer(await rig.approvalOf(jobId), 'reject')
    const [output] = await rig.outputsOf(jobId)
    expect(output).toContain('answer: {"action":"decline"}')
    expect(output).toContain('- Which city?: the person does not want to answer')
  })

  it('is told to the model a few times only, however often the server asks in vain', async () => {
    const params = { message: 'Your password?', requestedSchema: { type: 'object', properties: {} } }
    const output = await rig.run('hostile__ask', { params, times: 50 })
    expect(output).toContain('answer: {"action":"decline"}')
    expect(output.match(/Your password\?/g)).toHaveLength(10)
  })

  it('is refused if it is long, because it may wait for hours', async () => {
    const params = { message: 'x'.repeat(100_000), requestedSchema: { type: 'object', properties: {} } }
    expect(await rig.run('hostile__ask', { params })).toContain('The question is too long.')
  })

  it('shows an address, and asks whether the person is done there', async () => {
    const url = 'https://pay.example/confirm?id=7'
    const jobId = await start('hostile__ask', { params: { mode: 'url', message: 'Please confirm.', url, elicitationId: 'e1' } })
    const asked = await rig.approvalOf(jobId)
    expect(asked.question).toEqual({ text: 'Please confirm.', choices: [], server: 'Hostile', form: 'done', url })
    await answer(asked, { answer: 'done' })
    expect((await rig.outputsOf(jobId))[0]).toContain('answer: {"action":"accept"}')
    const script = await start('hostile__ask', { params: { mode: 'url', message: 'x', url: 'javascript:alert(1)', elicitationId: 'e2' } })
    expect((await rig.outputsOf(script))[0]).toContain('none that may be shown')
  })

  it.each([
    ['a field for a password', form({ login: { type: 'string', title: 'Your Password' } })],
    // What may be left out is not asked for.
    ['a required field', form({ pin: { type: 'string' }, name: { type: 'string' } }, { required: ['pin'] })],
    ['a message about a key', { params: { message: 'Enter your API key', requestedSchema: { type: 'object', properties: {} } } }],
  ])('never asks for a secret: %s', async (_, args) => {
    const jobId = await start('hostile__ask', args)
    expect((await rig.outputsOf(jobId))[0]).toMatch(/"action":"decline"[^]*seems to want a secret/)
  })

  it('asks nobody while several calls of a server are under way, because nobody can tell which one asks', async () => {
    const waiting = await start('hostile__ask', {}, { ends: false })
    const asked = await rig.approvalOf(waiting)
    const beside = await start('hostile__ask', {})
    expect((await rig.outputsOf(beside))[0]).toContain('nobody can tell which of them asks')
    lastReply()
    await answer(asked, { answer: 'Bonn' })
    expect((await rig.outputsOf(waiting))[0]).toContain('"content":{"city":"Bonn"}')
  })

  it('withdraws the question of a server that died, and asks about the outcome of the call', async () => {
    const jobId = await start('hostile__ask', {}, { ends: false })
    const asked = await rig.approvalOf(jobId)
    await rig.outputsOf(await start('hostile__die', {}))
    await expect.poll(async () => (await rig.pending(jobId)).map(({ kind }) => kind)).toEqual(['unknown_outcome'])
    const late = await runner.client.ask('resolveApproval', { body: { approvalId: asked.id, decision: 'approve', answer: 'x' } })
    expect(late.status).toBe(409)
    lastReply()
    await answer((await rig.pending(jobId))[0]!, { answer: 'happened' })
    expect((await rig.outputsOf(jobId))[0]).toContain('did take effect')
  })

  it('ends the call with its job', async () => {
    const cancelled = join(hostile.folder, 'cancelled.log')
    const countOf = () => (existsSync(cancelled) ? readFileSync(cancelled).length : 0)
    const before = countOf()
    const jobId = await start('hostile__ask', {}, { ends: false })
    await rig.approvalOf(jobId)
    await runner.client.ok('cancelJob', { params: { jobId } })
    expect((await runner.ended(jobId)).status).toBe('cancelled')
    await expect.poll(countOf).toBe(before + 1)
  })

  it('follows the class of a call that a crash ended: asks about one, and repeats the other', async () => {
    const once = await start('hostile__ask', {}, { ends: false })
    await rig.approvalOf(once)
    const before = asksIn(hostile.calls())
    await runner.restart({ crash: true })
    await expect.poll(async () => (await rig.pending(once)).map(({ kind }) => kind)).toEqual(['unknown_outcome'])
    expect(asksIn(hostile.calls())).toBe(before)
    await runner.client.ok('cancelJob', { params: { jobId: once } })

    await hostile.accept({ ask: 'read', die: 'idempotent' })
    const read = await start('hostile__ask', {})
    const first = await rig.approvalOf(read)
    await runner.restart({ crash: true })
    await expect.poll(async () => (await rig.pending(read)).filter(({ id }) => id !== first.id).length).toBe(1)
    await answer((await rig.pending(read))[0]!, { answer: 'Kiel' })
    expect((await rig.outputsOf(read))[0]).toContain('"content":{"city":"Kiel"}')
  })
})
