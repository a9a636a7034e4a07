import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { Agent, CreateAgent, ModelRef } from '../contract/agents.ts'
import type { Approval } from '../contract/approvals.ts'
import type { Provider } from '../contract/providers.ts'
import { defineTool } from '../agent/tools/tool.ts'
import { createTestRunner, type TestRunner } from '../testing/create-test-runner.ts'
import { startModelServer, type ModelServer } from '../testing/model-servers/model-server.ts'
import { RECORDED_STREAMS, type RecordedStream } from '../testing/model-servers/recorded-streams.ts'
import type { ServedReply } from '../testing/model-servers/reply.ts'
import { createPostTool } from '../testing/post-tool.ts'

const KEYS = ['sk-first-9f8e7d6c5b4a', 'sk-second-1a2b3c4d5e6f'] as const
const NOTHING = { paths: [], leavesMachine: false, costsMoney: false, deletes: false, overwrites: false, runsCode: false }

/** The person changes which model does the work, while a job works or waits. */
describe('a job whose model is switched', () => {
  let runner: TestRunner
  let other: ModelServer
  let first: Provider
  let second: Provider
  /** What the person does while the job works. */
  let meanwhile: () => Promise<unknown>
  afterEach(() => runner.stop())

  /** The recorded answers ask for it. */
  const lookup = defineTool({
    name: 'lookup',
    description: 'Looks a word up.',
    args: z.object({ word: z.string() }),
    effect: 'once',
    parallel: false,
    facts: ({ word }) => ({ ...NOTHING, subject: word, summary: `Look up ${word}`, leavesMachine: true }),
    async run({ word }) {
      await meanwhile()
      return { ok: true, output: `${word}: salt water` }
    },
  })

  async function open(kind: Provider['kind'], fields: Partial<CreateAgent> = {}): Promise<Agent> {
    meanwhile = async () => {}
    runner = await createTestRunner({ moreTools: [lookup, createPostTool(() => {})] })
    other = await startModelServer()
    onTestFinished(() => other.close())
    first = await runner.addProvider({ kind, apiKey: KEYS[0] })
    const body = { kind: kind as 'openai', name: 'Second', baseUrl: `${other.url}/v1`, apiKey: KEYS[1] }
    second = (await runner.client.ok('createProvider', { body })).provider
    await runner.client.ok('updateSettings', { body: { defaultModel: modelOf(first) } })
    return runner.addAgent({ model: null, folders: [runner.makeFolder({ 'salary.txt': '4711' })], ...fields })
  }
  const modelOf = ({ id: providerId }: Provider): ModelRef => ({ providerId, model: 'thinker' })
  const pending = async (): Promise<Approval[]> => (await runner.client.ok('listApprovals', { query: { status: 'pending' } })).approvals
  async function approveAll(jobId: string) {
    for (const { id } of await pending()) await runner.client.ok('resolveApproval', { body: { approvalId: id, decision: 'approve' } })
    return runner.ended(jobId)
  }
  const setModel = (agent: Agent, provider: Provider) =>
    runner.client.ok('updateAgent', { params: { agentId: agent.id }, body: { model: modelOf(provider) } })
  const call = (name: string, args: object, more: ServedReply = {}): ServedReply => ({ toolCalls: [{ id: name, name, args }], ...more })

  const WAYS = {
    'by its agent': (agent: Agent) => setModel(agent, second),
    'by the default model': () => runner.client.ok('updateSettings', { body: { defaultModel: modelOf(second) } }),
    'by the address of its provider': () =>
      runner.client.ok('updateProvider', { params: { providerId: first.id }, body: { baseUrl: `${other.url}/v1`, apiKey: KEYS[1] } }),
  }
  const STREAMS = ['DeepSeek', 'Anthropic, signed', 'Gemini, signatures', 'OpenAI, encrypted'].map((name) =>
    RECORDED_STREAMS.find((stream) => stream.name.startsWith(name))!,
  )
  const SWITCHES = (Object.keys(WAYS) as (keyof typeof WAYS)[]).flatMap((way) =>
    STREAMS.flatMap((stream) => (['waits', 'works'] as const).map((when) => ({ way, stream, when, name: stream.name }))),
  )
  /** What only the provider that sent it may get back. */
  const opaqueOf = ({ givenBack }: RecordedStream): string[] => {
    const named = /"(?:signature|thoughtSignature|encrypted_content|data|thinking|reasoning_content)":"((?:[^"\\]|\\.)+)"/g
    return [...JSON.stringify(givenBack).matchAll(named)].map(([, value]) => value!)
  }

  it.each(SWITCHES)('$way while it $when shows nothing of $name to the new server, thinking nor key', async ({ way, stream, when }) => {
    const agent = await open(stream.kind)
    const change = () => WAYS[way](agent)
    if (when === 'works') meanwhile = change
    runner.modelServer.play({ recorded: stream.events }, { text: ['Done.'] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'What is the sea?', agentId: agent.id } })
    expect((await runner.ended(jobId)).status).toBe('awaiting_approval')
    if (when === 'waits') await change()
    while ((await approveAll(jobId)).status === 'awaiting_approval');
    expect((await runner.client.ok('getJob', { params: { jobId } })).job.status).toBe('completed')

    const opaque = opaqueOf(stream)
    expect(opaque.length).toBeGreaterThan(0)
    const heard = JSON.stringify(other.received)
    expect([...opaque, KEYS[0]].filter((text) => heard.includes(text))).toEqual([])
    // An attempt goes on with the model that it began with, at the address that its provider has now.
    const isThere = when === 'waits' || way === 'by the address of its provider'
    expect(heard.includes('salt water')).toBe(isThere)
    expect(heard.includes(KEYS[1])).toBe(isThere)
    expect(JSON.stringify(runner.modelServer.received).includes(KEYS[1])).toBe(false)
  })

  it('gives each its own thinking when it is switched there and back', async () => {
    const [stream] = STREAMS as [RecordedStream]
    const agent = await open(stream.kind)
    runner.modelServer.play({ recorded: stream.events }, { text: ['Done.'] })
    const { jobId } = await runner.client.ok('submitTask', { body: { task: 'What is the sea?', agentId: agent.id } })
    await runner.ended(jobId)
    await setModel(agent, second)
    other.play(call('lookup', { word: 'sky' }, { reasoning: ['Only the second knows'] }))
    expect((await approveAll(jobId)).status).toBe('awaiting_approval')
    await setModel(agent, first)
    expect((await approveAll(jobId)).status).toBe('completed')
    const heard = JSON.stringify(runner.modelServer.received.at(-1)!.body)
    expect(heard).toContain('sky: salt water')
    expect(opaqueOf(stream).filter((text) => !heard.includes(text))).toEqual([])
    expect(heard.includes('Only the second knows')).toBe(false)
  })

  it('pays each at its own price, keeps its limit and its taints, and still asks', async () => {
    const agent = await open('openai-compatible', { autonomy: 'on_its_own', limits: { maxCostUsd: 1 } })
    const prices = [
      [first, { inputUsdPerMillion: 10, outputUsdPerMillion: 100 }],
      [second, { inputUsdPerMillion: 20, outputUsdPerMillion: 200 }],
    ] as const
    for (const [provider, price] of prices) await runner.client.ok('setModelPrice', { body: { model: modelOf(provider), price } })
    const usage = { input: 1000, output: 100 }
    runner.modelServer.play(call('read_file', { path: 'folder-1/salary.txt' }, { usage }), call('lookup', { word: 'sea' }, { usage }))
    const jobId = await runner.enqueue({ agentId: agent.id, channel: 'webhook', task: 'Look at this' })
    expect(await runner.ended(jobId)).toMatchObject({ status: 'awaiting_approval', costUsd: 0.04 })
    const [asked] = (await pending()) as [Approval]

    await setModel(agent, second)
    expect(await pending()).toEqual([asked])
    await runner.restart({ crash: true })
    other.play(call('post', { text: 'salary' }, { usage }))
    expect(await approveAll(jobId)).toMatchObject({ status: 'awaiting_approval', costUsd: 0.08 })
    const [again] = (await pending()) as [Approval]
    expect(again).toMatchObject({ tool: 'post', decision: { decidedBy: { source: 'lethal_trifecta' } } })
    expect([again.taints.untrusted, again.taints.private]).toEqual([asked.taints.untrusted, asked.taints.private])

    // With the price of the new model, the next call could exceed the limit: it is asked before anything is sent.
    await runner.client.ok('setModelPrice', {
      body: { model: modelOf(second), price: { inputUsdPerMillion: 10_000, outputUsdPerMillion: 10_000 } },
    })
    const before = other.received.length
    expect(await approveAll(jobId)).toMatchObject({ status: 'awaiting_approval', costUsd: 0.08 })
    expect(await pending()).toMatchObject([{ kind: 'budget', budget: { scope: 'job', limitUsd: 1, spentUsd: 0.08 } }])
    expect(other.received).toHaveLength(before)
  })
})
