import { afterEach, describe, expect, it } from 'vitest'
import type { ChatStreamEvent } from '../contract/jobs.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'

function textOf(events: ChatStreamEvent[]): string {
  return events.map((event) => (event.type === 'delta' ? event.text : '')).join('')
}

describe('a chat', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  it('knows its earlier turns', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['Hello Ada.'] }, { text: ['You are Ada.'] })
    const first = await runner.client.ok('chat', { body: { agentId: agent.id, message: 'I am Ada.' } })
    expect(first).toMatchObject({ reply: 'Hello Ada.', status: 'completed' })
    const { conversationId } = first
    const second = await runner.client.ok('chat', { body: { agentId: agent.id, message: 'Who am I?', conversationId } })
    expect(second).toMatchObject({ reply: 'You are Ada.', conversationId })
    const prompt = JSON.stringify(runner.modelServer.received.at(-1)!.body)
    for (const said of ['I am Ada.', 'Hello Ada.', 'Who am I?']) expect(prompt).toContain(said)
    const { messages, jobs } = await runner.client.ok('getConversation', { params: { conversationId } })
    expect(messages.map((message) => [message.role, message.text])).toEqual([
      ['user', 'I am Ada.'],
      ['assistant', 'Hello Ada.'],
      ['user', 'Who am I?'],
      ['assistant', 'You are Ada.'],
    ])
    expect(jobs.map((job) => job.id)).toEqual([first.jobId, second.jobId])
  })

  it('streams words and tools as they come, and ends with the reply that counts', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent({ folders: [runner.makeFolder({ 'a.txt': 'alpha' })] })
    runner.modelServer.play(
      { text: ['Reading', ' now.'], toolCalls: [{ id: 'call_1', name: 'read_file', args: { path: 'folder-1/a.txt' } }] },
      { text: ['It says ', 'alpha.'] },
    )
    const events = await runner.client.turn('chatStream', { body: { agentId: agent.id, message: 'Read it' } })
    expect(events[0]).toMatchObject({ type: 'start' })
    expect(textOf(events)).toBe('Reading now.It says alpha.')
    expect(events.filter((event) => event.type === 'tool').map((event) => [event.name, event.state])).toEqual([
      ['read_file', 'running'],
      ['read_file', 'done'],
    ])
    expect(events.at(-1)).toMatchObject({ type: 'done', reply: 'It says alpha.', status: 'completed', costUsd: 0 })
    expect(events.filter((event) => event.type === 'done')).toHaveLength(1)
  })

  it('streams each recorded step once, as the list of steps has it, between its text and the next', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent({ folders: [runner.makeFolder({ 'a.txt': 'alpha' })] })
    await runner.client.ok('createRule', { body: { agentId: agent.id, effect: 'deny', tool: 'list_files' } })
    runner.modelServer.play(
      {
        text: ['Reading.'],
        toolCalls: [
          { id: 'call_1', name: 'read_file', args: { path: 'folder-1/a.txt' } },
          { id: 'call_2', name: 'list_files', args: { path: 'folder-1' } },
        ],
      },
      { text: ['It says alpha.'] },
    )
    const events = await runner.client.turn('chatStream', { body: { agentId: agent.id, message: 'Read it' } })
    const { jobId } = events[0] as Extract<ChatStreamEvent, { type: 'start' }>
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    expect(events.flatMap((event) => (event.type === 'step' ? [event.step] : []))).toEqual(steps)
    expect(steps.find((step) => step.kind === 'tool_result' && step.callId === 'call_2')).toMatchObject({ ok: false, refused: true })
    const order = events.flatMap((event) =>
      event.type === 'delta' ? [event.text] : event.type === 'step' ? [`${event.step.seq} ${event.step.kind}`] : [],
    )
    expect(order.filter((entry) => !entry.includes('tool'))).toEqual(['Reading.', '1 reply', 'It says alpha.', '4 reply'])
    const again = await runner.client.turn('streamJob', { params: { jobId } })
    expect(again.map((event) => event.type)).toEqual(['start', 'done'])
  })

  it('gives a page that comes back the text so far and the rest, nothing twice and nothing missing', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    const words = Array.from({ length: 40 }, (_, i) => `word${i} `)
    runner.modelServer.play({ text: words })
    const held = runner.modelServer.holdBefore(20)
    const first = await runner.client.stream('chatStream', { body: { agentId: agent.id, message: 'Talk' } })
    const start = (await first.events.next()).value as { data: { jobId: string } }
    await runner.modelServer.untilQuiet()
    const firstDelta = (await first.events.next()).value as { event: string }
    expect(firstDelta.event).toBe('delta')
    first.close()
    const second = runner.client.turn('streamJob', { params: { jobId: start.data.jobId } })
    held.release()
    const events = await second
    expect(textOf(events)).toBe(words.join(''))
    expect(events.at(-1)).toMatchObject({ type: 'done', reply: words.join(''), status: 'completed' })
  })

  it('continues when the caller disconnects', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['one ', 'two ', 'three'] })
    const held = runner.modelServer.holdBefore(2)
    const stream = await runner.client.stream('chatStream', { body: { agentId: agent.id, message: 'Count' } })
    const start = (await stream.events.next()).value as { data: { jobId: string } }
    await runner.modelServer.untilQuiet()
    stream.close()
    held.release()
    expect(await runner.ended(start.data.jobId)).toMatchObject({ status: 'completed', result: 'one two three' })
  })

  it('sends `retry` only on streams that can be requested again', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    const read = async (path: string, init: RequestInit) => (await fetch(`${runner.url}${path}`, init)).text()
    const body = JSON.stringify({ agentId: agent.id, message: 'Hello', clientId: 'turn-1' })
    const turn = await read('/api/chat/stream', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(turn).toContain('event: done')
    expect(turn).not.toContain('retry:')
    const { jobs } = await runner.client.ok('listJobs')
    expect(await read(`/api/jobs/${jobs[0]!.id}/stream`, {})).toContain('retry: 1000')
  })

  it('joins the turn that the same request with the same id began: while it runs, when it has ended, after a crash', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['one ', 'two ', 'three'] })
    const held = runner.modelServer.holdBefore(2)
    const body = { agentId: agent.id, message: 'Count', clientId: 'turn-1' }
    const first = await runner.client.stream('chatStream', { body })
    const start = (await first.events.next()).value as { data: { jobId: string } }
    const { jobId } = start.data
    first.close()
    const joined = Array.from({ length: 4 }, () => runner.client.turn('chatStream', { body }))
    await runner.modelServer.untilQuiet()
    held.release()
    for (const events of await Promise.all(joined)) {
      expect(events[0]).toMatchObject({ type: 'start', jobId })
      expect(events.at(-1)).toMatchObject({ type: 'done', reply: 'one two three', jobId })
    }
    expect(await runner.client.ok('chat', { body })).toMatchObject({ jobId, reply: 'one two three' })
    await runner.restart({ crash: true })
    expect(await runner.client.ok('chat', { body })).toMatchObject({ jobId, reply: 'one two three' })
    expect((await runner.client.ok('listJobs')).jobs).toHaveLength(1)
    for (const other of [
      { ...body, message: 'Count again' },
      { ...body, agentId: (await runner.addAgent({ name: 'Other' })).id },
    ]) {
      expect(await runner.client.ask('chat', { body: other })).toMatchObject({ status: 409, body: { error: 'client_id_reused' } })
    }
    runner.modelServer.play({ text: ['again'] })
    expect((await runner.client.ok('chat', { body: { ...body, clientId: 'turn-2' } })).jobId).not.toBe(jobId)
  })

  it('ends at once for a turn that has ended', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    const { jobId, reply } = await runner.client.ok('chat', { body: { agentId: agent.id, message: 'Hello' } })
    const events = await runner.client.turn('streamJob', { params: { jobId } })
    expect(events.map((event) => event.type)).toEqual(['start', 'done'])
    expect(events[1]).toMatchObject({ reply, status: 'completed' })
  })

  it('names its conversation to a caller who waited while it was deleted, and has none for one who comes later', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    runner.modelServer.play({ text: ['Half'], fault: { kind: 'stall', afterFrames: 1 } })
    const body = { agentId: agent.id, message: 'Hello', clientId: 'turn-1' }
    const turn = runner.client.ok('chat', { body })
    await runner.modelServer.untilReceived(1)
    const { conversationId } = (await runner.client.ok('listJobs')).jobs[0]!
    await runner.client.ok('deleteConversation', { params: { conversationId: conversationId! } })
    expect(await turn).toMatchObject({ conversationId, status: 'cancelled' })
    expect(await runner.client.ask('chat', { body })).toMatchObject({ status: 404, body: { error: 'conversation_not_found' } })
  })

  it('refuses a wrong request before the stream opens', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    const { agent: bare } = await runner.client.ok('createAgent', { body: { name: 'No model' } })
    const unknown = '018f4e9a-7b1c-7c3d-8e4f-0123456789ab'
    for (const route of ['chat', 'chatStream'] as const) {
      const ask = (body: unknown) => runner.client.ask(route, { body })
      expect(await ask({ agentId: unknown, message: 'x' })).toMatchObject({ status: 404, body: { error: 'agent_not_found' } })
      expect(await ask({ agentId: bare.id, message: 'x' })).toMatchObject({ status: 409, body: { error: 'agent_has_no_model' } })
      expect(await ask({ agentId: agent.id, message: 'x', conversationId: unknown })).toMatchObject({
        status: 404,
        body: { error: 'conversation_not_found' },
      })
      expect(await ask({ agentId: agent.id, message: '  ' })).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', issues: [{ path: 'message' }] },
      })
    }
    expect((await runner.client.ok('listJobs')).jobs).toEqual([])
  })

  it('keeps text with characters that files cannot hold', async () => {
    runner = await createTestRunner()
    const agent = await runner.addAgent()
    const message = 'Zwölf Boxkämpfer 🥊 "quoted" \\ \u202e rtl \u0000 nul \ud800 alone </script>'
    const { jobId } = await runner.client.ok('chat', { body: { agentId: agent.id, message } })
    const { job } = await runner.client.ok('getJob', { params: { jobId } })
    expect(job.task).toBe(message.toWellFormed())
  })
})
