import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOutbound, type Outbound } from '../../platform/net/outbound.ts'
import { systemClock } from '../../lib/clock.ts'
import { type ModelServer, startModelServer } from '../../testing/model-servers/model-server.ts'
import { RECORDED_STREAMS, type RecordedStream } from '../../testing/model-servers/recorded-streams.ts'
import type { ModelAdapter, ModelEvent, ModelRequest, PromptMessage, ReplyParts, SentReply } from './model.ts'
import { createProviderAdapter } from './provider-adapter.ts'
import { PROVIDER_DRIVERS } from './provider-drivers.ts'

const LOOKUP = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
}
const PATHS = { openai: '/v1', anthropic: '/v1', google: '/v1beta', 'openai-compatible': '/v1', ollama: '' }
const ASKED: PromptMessage[] = [
  { role: 'system', text: 'Be brief.' },
  { role: 'user', text: 'What is the sea?' },
]

let server: ModelServer
let outbound: Outbound

beforeEach(async () => {
  server = await startModelServer()
  outbound = createOutbound()
})

afterEach(async () => {
  outbound.close()
  await server.close()
})

function adapterOf(kind: RecordedStream['kind']): ModelAdapter {
  const access = { id: kind, kind, name: 'Mine', baseUrl: server.url + PATHS[kind], apiKey: 'k' }
  return createProviderAdapter(PROVIDER_DRIVERS[kind], access, { fetch: outbound.fetch, clock: systemClock })
}

async function ask(adapter: ModelAdapter, model: string, messages: PromptMessage[]): Promise<ModelEvent[]> {
  const request: ModelRequest = { model, messages, tools: [LOOKUP], maxOutputTokens: 500 }
  const events: ModelEvent[] = []
  for await (const event of adapter.stream(request, new AbortController().signal)) events.push(event)
  return events
}

type Reply = Extract<PromptMessage, { role: 'assistant' }>

/** As it is recorded, and read again after a restart. */
function recorded(events: ModelEvent[], model: string): { reply: Reply; results: PromptMessage[] } {
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  const thinking = events.map((event) => (event.type === 'reasoning' ? event.text : '')).join('')
  const toolCalls = events.flatMap((event) =>
    event.type === 'tool_call' ? [{ callId: event.callId, name: event.name, args: event.args }] : [],
  )
  // The loop gives calls ids that every provider takes.
  for (const [at, call] of toolCalls.entries()) if (!/^[\w-]{1,64}$/.test(call.callId)) call.callId = `call-${at}`
  const end = events.at(-1)!
  if (end.type !== 'finish') throw new Error(JSON.stringify(end))
  const kept = end.sent === undefined ? undefined : (JSON.parse(JSON.stringify(end.sent)) as ReplyParts)
  const sent = kept === undefined ? {} : { sent: { ...kept, thinking, model: { providerId: 'p', model } } }
  return {
    reply: { role: 'assistant', text, toolCalls, ...sent },
    results: toolCalls.map(({ callId, name }) => ({ role: 'tool', callId, name, output: 'salt water', ok: true })),
  }
}

async function play({
  kind,
  model,
  events,
}: RecordedStream): Promise<{ adapter: ModelAdapter; events: ModelEvent[] } & ReturnType<typeof recorded>> {
  const adapter = adapterOf(kind)
  server.play({ recorded: events })
  const heard = await ask(adapter, model, ASKED)
  return { adapter, events: heard, ...recorded(heard, model) }
}

/** The assistant messages of the newest request, without cache marks. */
function assistantPartOf(kind: RecordedStream['kind']): unknown[] {
  const body = server.received.at(-1)!.body as { messages?: unknown[]; contents?: unknown[]; input?: unknown[] }
  const all = (body.messages ?? body.contents ?? body.input!) as { role?: string; type?: string }[]
  const isOurs = ({ role, type }: { role?: string; type?: string }) =>
    kind === 'openai' ? type === 'reasoning' || type === 'function_call' || role === 'assistant' : role === 'assistant' || role === 'model'
  return all.filter(isOurs)
}

function stream(name: string): RecordedStream {
  return RECORDED_STREAMS.find((one) => one.name.startsWith(name))!
}

const changed = (reply: Reply, how: NonNullable<SentReply['changed']>): Reply => ({ ...reply, sent: { ...reply.sent!, changed: how } })

describe.each(RECORDED_STREAMS)('a stream of $name', (recording) => {
  const { kind, model } = recording

  it('is parsed into thinking, text and calls', async () => {
    const { events } = await play(recording)
    expect(events.map((event) => (event.type === 'reasoning' ? event.text : '')).join('')).toBe(recording.thinking)
    expect(events.map((event) => (event.type === 'text' ? event.text : '')).join('')).toBe(recording.text)
    expect(events.flatMap((event) => (event.type === 'tool_call' ? [{ name: event.name, args: event.args }] : []))).toEqual(recording.calls)
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'tool_calls' })
  })

  it('goes back to its provider unchanged', async () => {
    const { adapter, reply, results } = await play(recording)
    await ask(adapter, model, [...ASKED, reply, ...results])
    expect(assistantPartOf(kind)).toEqual(recording.givenBack)
  })

  it('goes to another model without its opaque data', async () => {
    const { adapter, reply, results } = await play(recording)
    const { sent: _sent, ...plain } = reply
    await ask(adapter, model, [...ASKED, plain, ...results])
    const body = JSON.stringify(assistantPartOf(kind))
    expect(body).not.toMatch(/"(thinking|reasoning|reasoning_content|reasoning_details|signature|encrypted_content|redacted_thinking)"/)
    expect(body).not.toMatch(/==|gAAA|<think>/)
  })

  it('is parsed the same if every byte arrives by itself', async () => {
    const whole = await play(recording)
    const bytes = [...Buffer.from(recording.events.join(''))].map((byte) => String.fromCharCode(byte))
    server.play({ recorded: bytes, flushed: true })
    const torn = await ask(adapterOf(kind), model, ASKED)
    expect(recorded(torn, model)).toEqual({ reply: whole.reply, results: whole.results })
  })
})

describe('after truncation of the prompt', () => {
  const later: PromptMessage[] = [{ role: 'user', text: 'And now?' }]

  it('Anthropic gets no thinking back if anything before it has changed', async () => {
    const { adapter, reply, results } = await play(stream('Anthropic, signed'))
    await ask(adapter, 'claude-opus-4-6', [...ASKED, changed(reply, 'before'), ...results])
    const [{ content }] = assistantPartOf('anthropic') as [{ content: { type: string }[] }]
    expect(content.map(({ type }) => type)).toEqual(['text', 'tool_use', 'tool_use'])
  })

  it.each(['claude-fable-5-1', 'claude-opus-5-5', 'claude-sonnet-5-5-20261001', 'claude-opus-6'])(
    'and %s leaves out by itself what else has changed',
    async (model) => {
      const { adapter, reply, results } = await play({ ...stream('Anthropic, signed'), model })
      await ask(adapter, model, [...ASKED, reply, ...results])
      const { body, headers } = server.received.at(-1)!
      expect(body).toMatchObject({ thinking: { block_binding: { prefix_mismatch_behavior: 'drop_block' } } })
      expect(headers['anthropic-beta']).toContain('thinking-binding-controls-2026-08-01')
    },
  )

  it.each(['claude-opus-4-6', 'claude-sonnet-4-5-20250929', 'claude-haiku-5', 'claude-mythos-5-1', 'claude-3-7-sonnet-20250219'])(
    'the field to drop blocks is not sent to %s, which does not know it',
    async (model) => {
      const { adapter, reply, results } = await play({ ...stream('Anthropic, signed'), model })
      await ask(adapter, model, [...ASKED, reply, ...results])
      expect(server.received.at(-1)!.body).not.toHaveProperty('thinking')
    },
  )

  it('DeepSeek still gets all thinking of replies that called tools', async () => {
    const { adapter, reply, results } = await play(stream('DeepSeek'))
    await ask(adapter, 'deepseek-v4-flash', [...ASKED, changed(reply, 'before'), ...results])
    expect(assistantPartOf('openai-compatible')).toMatchObject([{ reasoning_content: 'The user asks about the sea.' }])
  })

  it('DeepSeek gets empty thinking for a reply that was shortened', async () => {
    const { adapter, reply, results } = await play(stream('DeepSeek'))
    await ask(adapter, 'deepseek-v4-flash', [...ASKED, changed(reply, 'itself'), ...results])
    expect(assistantPartOf('openai-compatible')).toMatchObject([{ reasoning_content: '' }])
  })

  it('Gemini keeps the signatures of calls whose texts were shortened', async () => {
    const { adapter, reply, results } = await play(stream('Gemini, signatures'))
    await ask(adapter, 'gemini-3-pro', [...ASKED, changed({ ...reply, text: 'I' }, 'itself'), ...results])
    const [{ parts }] = assistantPartOf('google') as [{ parts: unknown[] }]
    expect(parts).toEqual([
      { text: 'I' },
      { functionCall: { id: 'f1', name: 'lookup', args: { word: 'sea' } }, thoughtSignature: 'CallSig==' },
      { functionCall: { id: 'f2', name: 'lookup', args: { word: 'sky' } } },
    ])
  })

  it('a text that has changed goes back without its signatures', async () => {
    const { adapter, reply, results } = await play(stream('Anthropic, signed'))
    await ask(adapter, 'claude-opus-4-6', [...ASKED, { ...reply, text: 'I look.' }, ...results])
    expect(JSON.stringify(assistantPartOf('anthropic'))).not.toContain('signature')
  })

  it('thinking of earlier turns goes back only to providers that want it for the whole conversation', async () => {
    const deepSeek = await play(stream('DeepSeek'))
    await ask(deepSeek.adapter, 'deepseek-v4-flash', [...ASKED, deepSeek.reply, ...deepSeek.results, ...later])
    expect(assistantPartOf('openai-compatible')).toMatchObject([{ reasoning_content: 'The user asks about the sea.' }])

    const miniMax = await play(stream('MiniMax'))
    await ask(miniMax.adapter, 'MiniMax-M2', [...ASKED, miniMax.reply, ...miniMax.results, ...later])
    expect(JSON.stringify(assistantPartOf('openai-compatible'))).not.toContain('think')

    const anthropic = await play(stream('Anthropic, signed'))
    await ask(anthropic.adapter, 'claude-opus-4-6', [...ASKED, anthropic.reply, ...anthropic.results, ...later])
    expect(JSON.stringify(assistantPartOf('anthropic'))).not.toContain('thinking')
  })
})

describe('a provider that refuses returned thinking', () => {
  const refusal = (message: string) => ({ fault: { kind: 'status' as const, status: 400, error: { message } } })

  it('and requires the thinking of another model gets an empty one from then on', async () => {
    const adapter = adapterOf('openai-compatible')
    const reply: Reply = { role: 'assistant', text: '', toolCalls: [{ callId: 'a', name: 'lookup', args: { word: 'sea' } }] }
    const messages: PromptMessage[] = [...ASKED, reply, { role: 'tool', callId: 'a', name: 'lookup', output: 'salt water', ok: true }]
    server.play(refusal('The "reasoning_content" in the thinking mode must be passed back to the API.'), { text: ['Fine.'] })
    expect((await ask(adapter, 'deepseek-v4-flash', messages)).at(-1)).toMatchObject({ type: 'finish' })
    await ask(adapter, 'deepseek-v4-flash', messages)
    expect(server.received).toHaveLength(3)
    expect(assistantPartOf('openai-compatible')).toMatchObject([{ reasoning_content: '' }])
  })

  it('and requires a signature gets the placeholder', async () => {
    const adapter = adapterOf('openai-compatible')
    const toolCalls = ['a', 'b'].map((callId) => ({ callId, name: 'lookup', args: { word: 'sea' } }))
    server.play(refusal('Function call is missing a thought_signature in functionCall parts.'), { text: ['Fine.'] })
    const results = toolCalls.map(({ callId }): PromptMessage => ({ role: 'tool', callId, name: 'lookup', output: 'x', ok: true }))
    await ask(adapter, 'gemini-3-pro-preview', [...ASKED, { role: 'assistant', text: '', toolCalls }, ...results])
    const [{ tool_calls: calls }] = assistantPartOf('openai-compatible') as [{ tool_calls: { extra_content?: unknown }[] }]
    expect(calls.map((call) => call.extra_content)).toEqual([
      { google: { thought_signature: 'skip_thought_signature_validator' } },
      undefined,
    ])
  })

  it.each<RecordedStream['kind']>(['openai-compatible', 'anthropic'])('and requires short ids gets them from then on: %s', async (kind) => {
    const adapter = adapterOf(kind)
    const toolCalls = ['call_PTLP8xhu3uwZk4l3nlnrrJha', 'toolu_01'].map((callId) => ({ callId, name: 'lookup', args: { word: 'sea' } }))
    const results = toolCalls.map(({ callId }): PromptMessage => ({ role: 'tool', callId, name: 'lookup', output: 'x', ok: true }))
    const messages: PromptMessage[] = [...ASKED, { role: 'assistant', text: '', toolCalls }, ...results]
    const words = 'Tool call id was call_PTLP8xhu3uwZk4l3nlnrrJha but must be a-z, A-Z, 0-9, with a length of 9.'
    server.play(refusal(words), { text: ['Fine.'] })
    expect((await ask(adapter, 'mistral-large-latest', messages)).at(-1)).toMatchObject({ type: 'finish' })
    await ask(adapter, 'mistral-large-latest', messages)
    expect(server.received).toHaveLength(3)
    expect(server.received[2]!.body).toEqual(server.received[1]!.body)
    const sent = JSON.stringify(server.received[2]!.body)
    const idsIn = (field: string) => [...sent.matchAll(new RegExp(`"${field}":"([^"]*)"`, 'g'))].map(([, id]) => id)
    const ids = idsIn('id')
    expect(ids).toEqual([expect.stringMatching(/^[A-Za-z0-9]{9}$/), expect.stringMatching(/^[A-Za-z0-9]{9}$/)])
    expect(new Set(ids).size).toBe(2)
    expect(idsIn(kind === 'anthropic' ? 'tool_use_id' : 'tool_call_id')).toEqual(ids)
  })

  it.each([
    ['Anthropic, signed', 'messages.1.content.0: Invalid `signature` in `thinking` block'],
    ['OpenAI', 'The encrypted content gAAA could not be verified.'],
    ['DeepSeek', "property 'messages.1.reasoning_content' is unsupported"],
  ])('is called once more without: %s', async (name, message) => {
    const recording = stream(name)
    const { adapter, reply, results } = await play(recording)
    server.play(refusal(message), { text: ['Fine.'] })
    expect((await ask(adapter, recording.model, [...ASKED, reply, ...results])).at(-1)).toMatchObject({ type: 'finish' })
    expect(server.received).toHaveLength(3)
    expect(JSON.stringify(assistantPartOf(recording.kind))).not.toMatch(/thinking|reasoning|signature/)
  })

  it('is not called a third time', async () => {
    const { adapter, reply, results } = await play(stream('Anthropic, signed'))
    server.play(refusal('Invalid `signature` in `thinking` block'), refusal('Invalid `signature` in `thinking` block'))
    const events = await ask(adapter, 'claude-opus-4-6', [...ASKED, reply, ...results])
    expect(events.at(-1)).toMatchObject({ type: 'failed', failure: { kind: 'bad_request' } })
    expect(server.received).toHaveLength(3)
  })
})

it('drops the data of a reply if its signatures are too large', async () => {
  const huge = stream('Anthropic, thinking').events.map((event) => event.replace('Silent==', 'x'.repeat(1_100_000)))
  server.play({ recorded: huge })
  const events = await ask(adapterOf('anthropic'), 'claude-opus-5-5', ASKED)
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool_calls', usage: { input: 30, output: 80, cached: 0 } })
})
