import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { RECORDED_STREAMS } from '../testing/model-servers/recorded-streams.ts'
import { ALL_TOOLS } from '../agent/tools/all-tools.ts'
import { defineTool } from '../agent/tools/tool.ts'

const NOTHING = { paths: [], leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false }

/** The tool that the recorded answers ask for. It asks first, so that a person is waited for between the two calls. */
const lookup = defineTool({
  name: 'lookup',
  description: 'Looks a word up.',
  args: z.object({ word: z.string() }),
  effect: 'once',
  parallel: false,
  facts: ({ word }) => ({ ...NOTHING, subject: word, summary: `Look up ${word}`, leavesMachine: true }),
  run: async ({ word }) => ({ ok: true, output: `${word}: salt water` }),
})

describe('models that think', () => {
  let runner: TestRunner
  afterEach(() => runner.stop())

  const stream = (name: string) => RECORDED_STREAMS.find((one) => one.name.startsWith(name))!
  const messages = () => (runner.modelServer.received.at(-1)!.body as { messages: Record<string, unknown>[] }).messages
  const replies = () => messages().filter(({ role }) => role === 'assistant')

  async function startWaiting(name: string) {
    const { events, kind } = stream(name)
    runner = await createTestRunner({ tools: [...ALL_TOOLS, lookup] })
    const provider = await runner.addProvider({ kind, apiKey: 'a-key' })
    const agent = await runner.addAgent({ model: { providerId: provider.id, model: 'thinker' } })
    runner.modelServer.play({ recorded: events })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'What is the sea?', agentId: agent.id } })
    expect((await runner.ended(jobId)).status).toBe('awaiting_approval')
    return { jobId, agent, provider }
  }
  async function approveAll(jobId: string) {
    for (;;) {
      const { approvals } = await runner.client.ok('listApprovals', { query: { status: 'pending' } })
      if (approvals.length === 0) return runner.ended(jobId)
      for (const { id } of approvals) await runner.client.ok('resolveApproval', { body: { approvalId: id, decision: 'approve' } })
      await runner.ended(jobId)
    }
  }

  it.each(['DeepSeek', 'Kimi', 'OpenRouter', 'Gemini through', 'Anthropic, signed'])(
    'get back after a crash what they sent before it: %s',
    async (name) => {
      const { jobId } = await startWaiting(name)
      await runner.restart({ crash: true })
      expect((await approveAll(jobId)).status).toBe('completed')
      const [given] = replies()
      const strip = (text: string) => text.replaceAll(/,"cache_control":\{[^}]*\}/g, '')
      expect(JSON.parse(strip(JSON.stringify(given)))).toEqual(stream(name).givenBack[0])
    },
  )

  it('get it back in the next turn of the conversation too, where their provider wants that', async () => {
    runner = await createTestRunner()
    const provider = await runner.addProvider({ kind: 'openai-compatible' })
    const agent = await runner.addAgent({ model: { providerId: provider.id, model: 'thinker' } })
    runner.modelServer.play({ recorded: stream('DeepSeek').events }, { text: ['Water.'] })
    const chat = (message: string, more: object = {}) => runner.client.turn('chatStream', { body: { agentId: agent.id, message, ...more } })
    const [begun] = await chat('What is the sea?')
    await chat('And the sky?', { conversationId: (begun as { conversationId: string }).conversationId })
    expect(replies()).toMatchObject([{ reasoning_content: 'The user asks about the sea.' }, { content: 'Water.' }])
    expect(replies()[1]).not.toHaveProperty('reasoning_content')
  })

  it('and another model that stands in gets nothing of it', async () => {
    const { jobId, agent, provider } = await startWaiting('DeepSeek')
    const other = { providerId: provider.id, model: 'other' }
    await runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { model: other } })
    await approveAll(jobId)
    expect(JSON.stringify(messages())).not.toContain('asks about the sea')
  })

  it('show their thinking in the job, and nothing of what is only for their provider', async () => {
    const { jobId } = await startWaiting('Anthropic, signed')
    const { steps } = await runner.client.ok('listSteps', { params: { jobId } })
    expect(steps[0]).toMatchObject({ kind: 'reply', reasoning: 'First the sea.Then the sky.' })
    expect(JSON.stringify(steps)).not.toMatch(/==|signature/)
  })
})
