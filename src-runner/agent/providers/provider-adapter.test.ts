import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageMatching } from '../../testing/message-matching.ts'
import { englishText } from '../../lib/messages.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createOutbound, type Outbound } from '../../platform/net/outbound.ts'
import { systemClock } from '../../lib/clock.ts'
import { findFreePort } from '../../testing/free-port.ts'
import { createHandClock } from '../../testing/hand-clock.ts'
import { type ModelServer, startModelServer } from '../../testing/model-servers/model-server.ts'
import type { ServedFault, ServedReply } from '../../testing/model-servers/reply.ts'
import type { ModelEvent, ModelFailure, ModelRequest, ProviderAccess } from './model.ts'
import { createProviderAdapter } from './provider-adapter.ts'
import { PROVIDER_DRIVERS } from './provider-drivers.ts'

const KEY = 'my0own+key=without/pattern~7'
const SECRET_PROMPT = 'my diary says that the safe is behind the painting'

const LOOKUP = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
}

const ASKED: ModelRequest = {
  model: 'small',
  messages: [
    { role: 'system', text: 'Be brief.' },
    { role: 'user', text: SECRET_PROMPT },
  ],
  tools: [LOOKUP],
  maxOutputTokens: 500,
}

const TEN_PIECES = Array.from({ length: 10 }, (_, n) => `${n} `)

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

type Kind = keyof typeof PROVIDER_DRIVERS
const PATHS: Record<Kind, string> = { openai: '/v1', anthropic: '/v1', google: '/v1beta', 'openai-compatible': '/v1', ollama: '' }

function accessOf(kind: Kind, more: Partial<ProviderAccess> = {}): ProviderAccess {
  return { id: kind, kind, name: `My ${kind}`, baseUrl: server.url + PATHS[kind], apiKey: KEY, ...more }
}

/** All but the pieces of calls, which only count. */
async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = []
  for await (const event of events) if (event.type !== 'call_piece') all.push(event)
  return all
}

function textOf(events: ModelEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('')
}

function failureOf(events: ModelEvent[]): ModelFailure {
  const last = events.at(-1)
  if (last?.type !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(events)}`)
  return last.failure
}

describe.each(Object.keys(PROVIDER_DRIVERS) as Kind[])('the %s adapter', (kind) => {
  const open = (more: Partial<ProviderAccess> = {}, clock = systemClock) =>
    createProviderAdapter(PROVIDER_DRIVERS[kind], accessOf(kind, more), { fetch: outbound.fetch, clock })

  const ask = (reply: ServedReply, request: ModelRequest = ASKED) => {
    server.play(reply)
    return collect(open().stream(request, new AbortController().signal))
  }

  const askWithFault = (fault: ServedFault, more: ServedReply = {}) =>
    ask({ text: ['One ', 'two ', 'three.'], usage: { input: 100, output: 7 }, ...more, fault })

  it('streams text piece by piece and ends with the usage', async () => {
    const events = await ask({ text: ['Good ', 'morning', '.'], usage: { input: 100, output: 7, cached: 40 } })
    expect(events).toEqual([
      { type: 'text', text: 'Good ' },
      { type: 'text', text: 'morning' },
      { type: 'text', text: '.' },
      { type: 'finish', reason: 'stop', usage: { input: 100, output: 7, cached: kind === 'ollama' ? 0 : 40 } },
    ])
  })

  it('yields the first words before the reply is complete', async () => {
    const held = server.holdBefore(kind === 'google' ? 1 : 4)
    server.play({ text: ['First ', 'last.'], usage: { input: 1, output: 1 } })
    const stream = open().stream(ASKED, new AbortController().signal)[Symbol.asyncIterator]()
    expect(await stream.next()).toEqual({ done: false, value: { type: 'text', text: 'First ' } })
    held.release()
    expect(textOf(await collect({ [Symbol.asyncIterator]: () => stream }))).toBe('last.')
  })

  it('separates reasoning from text', async () => {
    const events = await ask({ reasoning: ['Hm, ', 'well.'], text: ['Yes.'], usage: { input: 10, output: 7 } })
    expect(
      events
        .filter((event) => event.type === 'reasoning')
        .map((event) => event.text)
        .join(''),
    ).toBe('Hm, well.')
    expect(textOf(events)).toBe('Yes.')
  })

  it('yields complete tool calls after the text', async () => {
    const events = await ask({
      text: ['Looking.'],
      toolCalls: [
        { id: 'a1', name: 'lookup', args: { word: 'sea' } },
        { id: 'a2', name: 'lookup', args: { word: 'sky', deep: [1, { x: 'ü"\n' }] } },
      ],
      usage: { input: 10, output: 7 },
    })
    expect(events.slice(1)).toEqual([
      { type: 'tool_call', callId: 'a1', name: 'lookup', args: { word: 'sea' }, argsValid: true },
      { type: 'tool_call', callId: 'a2', name: 'lookup', args: { word: 'sky', deep: [1, { x: 'ü"\n' }] }, argsValid: true },
      { type: 'finish', reason: 'tool_calls', usage: { input: 10, output: 7, cached: 0 } },
    ])
  })

  it('sends conversation, tools and key, with the key only in its header', async () => {
    await ask(
      { text: ['Done.'] },
      {
        ...ASKED,
        messages: [
          ...ASKED.messages,
          { role: 'assistant', text: 'I look.', toolCalls: [{ callId: 'a1', name: 'lookup', args: { word: 'sea' } }] },
          { role: 'tool', callId: 'a1', name: 'lookup', output: 'The sea is deep.', ok: true },
        ],
      },
    )
    const [request] = server.received
    const body = JSON.stringify(request!.body)
    for (const part of ['Be brief.', SECRET_PROMPT, 'I look.', 'The sea is deep.', 'Looks something up.', 'word'])
      expect(body).toContain(part)
    expect(request!.path + body).not.toContain(KEY)
    const withKey = Object.entries(request!.headers)
      .filter(([, value]) => String(value).includes(KEY))
      .map(([name]) => name)
    expect(withKey).toEqual([{ google: 'x-goog-api-key', anthropic: 'x-api-key' }[kind as string] ?? 'authorization'])
  })

  it('repairs a conversation that the provider would refuse', async () => {
    await ask(
      { text: ['Done.'] },
      {
        ...ASKED,
        messages: [
          { role: 'user', text: 'broken \ud83d emoji' },
          { role: 'assistant', text: '', toolCalls: [{ callId: 'weird id/é:1', name: 'lookup', args: 'not an object' }] },
          { role: 'user', text: '' },
          { role: 'tool', callId: 'gone', name: 'lookup', output: 'a result without a call', ok: true },
          { role: 'assistant', text: 'half an ans', toolCalls: [] },
        ],
      },
    )
    const body = JSON.stringify(server.received[0]!.body)
    expect(body).not.toMatch(/\\ud83d|weird id|a result without a call/)
    expect(body).toMatch(/invalid_arguments/)
    expect(body).toMatch(/No result was recorded/)
    expect(body).toMatch(/Go on\./)
  })

  it('makes ids of tool calls unique', async () => {
    const calls = [
      { id: 'same', name: 'lookup', args: { word: 'a' } },
      { id: 'same', name: 'lookup', args: { word: 'b' } },
    ]
    const events = await ask({ toolCalls: calls, usage: { input: 10, output: 7 } })
    const found = events.filter((event) => event.type === 'tool_call')
    expect(found.map((call) => call.args)).toEqual([{ word: 'a' }, { word: 'b' }])
    expect(new Set(found.map((call) => call.callId)).size).toBe(2)
  })

  // Google and Ollama send arguments as what they are, not as text.
  it.skipIf(kind === 'google' || kind === 'ollama')('passes arguments that are not JSON as text', async () => {
    const events = await ask({ toolCalls: [{ id: 'a', name: 'lookup', rawArgs: '{word: sea' }], usage: { input: 10, output: 7 } })
    expect(events[0]).toEqual({ type: 'tool_call', callId: 'a', name: 'lookup', args: '{word: sea', argsValid: false })
  })

  it('reads missing arguments as an empty object', async () => {
    const events = await ask({ toolCalls: [{ id: 'a', name: 'lookup', rawArgs: '' }], usage: { input: 10, output: 7 } })
    expect(events[0]).toMatchObject({ type: 'tool_call', args: {}, argsValid: true })
  })

  it('drops a tool call cut by the token limit', async () => {
    const events = await ask({
      text: ['Looking.'],
      toolCalls: [
        { id: 'a', name: 'lookup', args: { word: 'whole' } },
        { id: 'b', name: 'lookup', args: { word: 'cut' } },
      ],
      stop: 'length',
      usage: { input: 10, output: 500 },
    })
    expect(events.filter((event) => event.type === 'tool_call').map((call) => call.callId)).toEqual(['a'])
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'length' })
  })

  // OpenAI says of each call when it is complete.
  it.skipIf(kind === 'google' || kind === 'ollama' || kind === 'openai')(
    'drops arguments that are no JSON when nobody knows how the answer ended',
    async () => {
      const events = await ask({
        toolCalls: [{ id: 'a', name: 'lookup', rawArgs: '{"word": "se' }],
        stop: { raw: 'moon_phase' },
        usage: { input: 10, output: 7 },
      })
      expect(events).toEqual([{ type: 'finish', reason: 'other', usage: { input: 10, output: 7, cached: 0 } }])
    },
  )

  it.skipIf(kind === 'ollama')('reports a filtered answer', async () => {
    expect((await ask({ text: ['I '], stop: 'filter', usage: { input: 10, output: 7 } })).at(-1)).toMatchObject({
      reason: 'content_filter',
    })
  })

  it('reads an unknown finish reason as "other"', async () => {
    const events = await ask({ text: ['Hm.'], stop: { raw: 'MOON_PHASE' }, usage: { input: 10, output: 7 } })
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'other' })
  })

  const usages: [string, ServedReply['usage']][] = [
    ['missing', null],
    ['negative', { input: -5, output: -1 }],
    ['absurd', { input: 9e15, output: 3 }],
    ['fractional', { input: 10.5, output: 3 }],
    ['more cached than read', { input: 10, output: 3, cached: 11 }],
  ]
  // Ollama does not say what it had cached.
  it.each(usages.filter(([, usage]) => kind !== 'ollama' || usage?.cached === undefined))(
    'does not trust usage that is %s',
    async (_what, usage) => {
      const events = await ask({ text: ['Hi.'], usage })
      expect(textOf(events)).toBe('Hi.')
      expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop', usage: null })
    },
  )

  const manners: [string, ServedFault][] = [
    ['broken by \\r\\n', { kind: 'crlf' }],
    ['torn into single bytes', { kind: 'torn_bytes' }],
    ['between comments', { kind: 'comments' }],
    ['without [DONE]', { kind: 'no_done' }],
    ['under a vague content type', { kind: 'content_type', contentType: 'text/plain' }],
    ['compressed unasked', { kind: 'gzip' }],
  ]
  // Comments are of event streams.
  it.each(manners.filter(([, fault]) => kind !== 'ollama' || fault.kind !== 'comments'))('reads a stream %s', async (_how, fault) => {
    const text = ['Grüße ', '👋🏽 aus ', '東京.']
    const events = await askWithFault(fault, { text, toolCalls: [{ id: 'a', name: 'lookup', args: { word: 'é👍' } }] })
    expect(textOf(events)).toBe('Grüße 👋🏽 aus 東京.')
    expect(events.slice(-2)).toMatchObject([
      { type: 'tool_call', args: { word: 'é👍' } },
      { type: 'finish', usage: { input: 100, output: 7 } },
    ])
  })

  it('continues after bytes that are not UTF-8', async () => {
    const events = await askWithFault({ kind: 'bad_utf8' })
    expect(textOf(events)).toContain('before \ufffd(\ufffd after')
    expect(events.at(-1)!.type).toBe('finish')
  })

  it('reads a line of a megabyte', async () => {
    const events = await askWithFault({ kind: 'huge_line', bytes: 1_048_576 })
    expect(textOf(events)).toHaveLength(14 + 1_048_576)
    expect(events.at(-1)!.type).toBe('finish')
  })

  const breaks: [string, ServedFault][] = [
    ['ends in the middle of an event', { kind: 'half_event' }],
    ['ends before it is finished', { kind: 'end_early', afterFrames: 2 }],
    ['ends before it began', { kind: 'end_early', afterFrames: 0 }],
    ['breaks off', { kind: 'reset', afterFrames: 3 }],
    ['breaks off before the first byte', { kind: 'reset', afterFrames: 0 }],
    ['has a line that is not JSON', { kind: 'bad_json' }],
  ]
  // Ollama was asked about the model before, and a connection that was used and is closed is tried once more by the network below.
  const isSeen = (fault: ServedFault) => kind !== 'ollama' || fault.kind !== 'reset' || fault.afterFrames > 0
  it.each(breaks.filter(([, fault]) => isSeen(fault)))('fails with a retryable error if the reply %s', async (_how, fault) => {
    const failed = failureOf(await askWithFault(fault))
    expect(failed).toMatchObject({ retryable: true, retryAfterMs: null })
    expect(['network', 'bad_answer']).toContain(failed.kind)
    expect(englishText(failed.message)).toContain(`My ${kind}`)
  })

  it('never yields half a tool call', async () => {
    const events = await askWithFault(
      { kind: 'cut_tool_call' },
      { toolCalls: [{ id: 'a', name: 'lookup', args: { word: 'a long word to cut' } }] },
    )
    expect(events.some((event) => event.type === 'tool_call')).toBe(false)
    expect(failureOf(events).retryable).toBe(true)
  })

  it('yields no tool calls if the reply did not end', async () => {
    const events = await askWithFault({ kind: 'half_event' }, { toolCalls: [{ id: 'a', name: 'lookup', args: { word: 'x' } }] })
    expect(events.some((event) => event.type === 'tool_call')).toBe(false)
  })

  it.each([
    [400, 'bad_request', false],
    [401, 'auth', false],
    [402, 'auth', false],
    [403, 'auth', false],
    [404, 'not_found', false],
    [408, 'timeout', true],
    [409, 'server', true],
    [413, 'context_too_long', false],
    [429, 'rate_limited', true],
    [500, 'server', true],
    [502, 'server', true],
    [503, 'overloaded', true],
    [504, 'timeout', true],
    [529, 'overloaded', true],
  ] as const)('reads status %i as %s', async (status, failureKind, retryable) => {
    const failed = failureOf(await askWithFault({ kind: 'status', status }))
    expect(failed).toMatchObject({ kind: failureKind, retryable, status })
    expect(englishText(failed.message)).toContain(`My ${kind}`)
  })

  it('explains a refused key, a missing model and a long conversation', async () => {
    const said = async (status: number, message: string) =>
      englishText(failureOf(await askWithFault({ kind: 'status', status, error: { message } })).message)
    expect(await said(401, 'invalid x-api-key')).toMatch(/does not accept the key\. Check it in Models & keys/)
    expect(await said(404, 'model not found')).toMatch(/has no model “small”/)
    expect(await said(400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.")).toMatch(
      /too long/,
    )
    expect(await said(400, 'prompt is too long: 210000 tokens > 200000 maximum')).toMatch(/too long/)
    expect(await said(400, 'API key not valid. Please pass a valid API key.')).toMatch(/does not accept the key/)
    expect(await said(429, 'You exceeded your current quota: insufficient_quota')).toMatch(/no credit left/)
    expect(await said(400, 'Your credit balance is too low to access the API.')).toMatch(/no credit left/)
  })

  it.each([
    ['retry-after', '7', 7000],
    ['retry-after', '0', 0],
    ['retry-after', '1.5', 1500],
    ['retry-after', '31536000', 31_536_000_000],
    ['retry-after', 'Fri, 20 Nov 2026 09:31:00 GMT', 60_000],
    ['retry-after', 'Fri, 20 Nov 2020 09:31:00 GMT', 0],
    ['retry-after', 'soon', null],
    ['retry-after', '-5', null],
    ['retry-after', '', null],
    ['retry-after-ms', '250', 250],
  ])('reads the retry delay: %s: %s', async (name, value, expected) => {
    server.play({ fault: { kind: 'status', status: 429, headers: { [name]: value } } })
    const clock = createHandClock(Date.UTC(2026, 10, 20, 9, 30))
    expect(failureOf(await collect(open({}, clock).stream(ASKED, new AbortController().signal))).retryAfterMs).toBe(expected)
  })

  const retryInfo = (retryDelay: string) => ({
    error: {
      code: 429,
      message: 'You exceeded your current quota.',
      status: 'RESOURCE_EXHAUSTED',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }],
    },
  })

  it.each<[string, unknown, Record<string, string>, number | null]>([
    ['in an object', retryInfo('45.837906927s'), {}, 45_838],
    ['in a list', [retryInfo('7s')], {}, 7_000],
    ['beside a header, which decides', retryInfo('7s'), { 'retry-after': '3' }, 3_000],
    ['that is not a number of seconds', retryInfo('soon'), {}, null],
    ['quoted in the text', { error: { message: 'Unexpected "retryDelay": "7s" in the input.' } }, {}, null],
  ])('reads the retry delay of Gemini %s', async (_where, body, headers, expected) => {
    server.play({ fault: { kind: 'status', status: 429, headers, body: JSON.stringify(body) } })
    expect(failureOf(await collect(open().stream(ASKED, new AbortController().signal))).retryAfterMs).toBe(expected)
  })

  it('reads an error inside the stream', async () => {
    const failed = failureOf(await askWithFault({ kind: 'error_in_stream', error: { message: 'Overloaded', type: 'overloaded_error' } }))
    expect(failed.retryable).toBe(true)
    expect(['overloaded', 'server']).toContain(failed.kind)
  })

  it.each([
    ['a web page', { kind: 'content_type', contentType: 'text/html' }, /web page.*base URL/, false],
    ['something else', { kind: 'content_type', contentType: 'image/png' }, /image\/png/, true],
    [
      'an error page',
      { kind: 'status', status: 502, body: '<html><h1>Bad gateway</h1></html>', contentType: 'text/html' },
      /server error \(502\)\.$/,
      true,
    ],
    ['a redirect to another address', { kind: 'redirect', status: 307, to: 'http://127.0.0.2:9/steal' }, /another address/, false],
  ] as [string, ServedFault, RegExp, boolean][])('refuses %s', async (_what, fault, message, retryable) => {
    const failed = failureOf(await askWithFault(fault))
    expect(englishText(failed.message)).toMatch(message)
    expect(englishText(failed.message)).not.toMatch(/<|h1/)
    expect(failed.retryable).toBe(retryable)
  })

  it('removes key and conversation from an error that repeats them', async () => {
    const message = `Wrong key ${KEY} and Bearer abc.def for "${SECRET_PROMPT}" (sk-other-98765432101234)`
    const failed = failureOf(await askWithFault({ kind: 'status', status: 400, error: { message } }))
    expect(englishText(failed.message)).toMatch(/Wrong/)
    expect(englishText(failed.message)).not.toMatch(/sk-|without.pattern|abc\.def|diary|painting/)
  })

  it.each([500, 502, 503, 504, 529])('quotes a server that responds with %d', async (status) => {
    const failed = failureOf(await askWithFault({ kind: 'status', status, error: { message: 'The tape is full.' } }))
    expect(englishText(failed.message)).toMatch(/\(\d+\)\. Its answer: “The tape is full”$/)
    expect(failed.retryable).toBe(true)
  })

  it('quotes a plain-text error without the key', async () => {
    const body = `The tape of ${KEY} is full.`
    const failed = failureOf(await askWithFault({ kind: 'status', status: 500, body, contentType: 'text/plain' }))
    expect(englishText(failed.message)).toMatch(/: “The tape of \[key\] is full”$/)
  })

  it('does not retry what the server does not support', async () => {
    const failed = failureOf(await askWithFault({ kind: 'status', status: 500, error: { message: 'Cannot use tools with stream' } }))
    expect(failed).toMatchObject({ kind: 'bad_request', retryable: false })
    expect(englishText(failed.message)).toBe(`My ${kind} does not support the request (500). Its answer: “Cannot use tools with stream”`)
  })

  it('disconnects before an event that would take seconds to parse', async () => {
    const answer = `${'{"a":[]},'.repeat(200_000)}{}`
    const parsed: number[] = []
    const parse = JSON.parse.bind(JSON)
    const counting = vi.spyOn(JSON, 'parse').mockImplementation((text: string, ...more) => {
      parsed.push(text.length)
      return parse(text, ...more) as unknown
    })
    try {
      server.play({ recorded: [kind === 'ollama' ? `{"list":[${answer}]}\n` : `data: {"list":[${answer}]}\n\n`] })
      const failed = failureOf(await collect(open().stream(ASKED, new AbortController().signal)))
      expect(failed).toMatchObject({
        kind: 'bad_answer',
        retryable: false,
        message: { code: 'model_endless', params: { provider: `My ${kind}` } },
      })
    } finally {
      counting.mockRestore()
    }
    expect(Math.max(0, ...parsed)).toBeLessThan(100_000)
  })

  it('does not count braces inside of texts', async () => {
    const text = '{"[{'.repeat(20_000)
    expect(textOf(await ask({ text: [text] }))).toBe(text)
  })

  it('cuts an error of a megabyte', async () => {
    const failed = failureOf(await askWithFault({ kind: 'status', status: 400, error: { message: 'no '.repeat(400_000) } }))
    expect(englishText(failed.message).length).toBeLessThan(600)
  })

  it('sends one request and leaves retries to the loop', async () => {
    await askWithFault({ kind: 'status', status: 500 })
    await askWithFault({ kind: 'status', status: 429, headers: { 'retry-after': '0' } })
    expect(server.received).toHaveLength(2)
  })

  it('reports that nothing listens there', async () => {
    const free = await findFreePort()
    const events = await collect(open({ baseUrl: `http://127.0.0.1:${free}${PATHS[kind]}` }).stream(ASKED, new AbortController().signal))
    expect(failureOf(events)).toMatchObject({
      kind: 'network',
      retryable: true,
      message: expect.objectContaining({ code: 'model_no_server' }),
    })
  })

  it('reports an unknown host name', async () => {
    const events = await collect(open({ baseUrl: `http://no-such-host.invalid${PATHS[kind]}` }).stream(ASKED, new AbortController().signal))
    expect(failureOf(events)).toMatchObject({
      kind: 'network',
      retryable: true,
      message: expect.objectContaining({ code: 'model_name_unknown' }),
    })
  })

  it('reports a server without TLS', async () => {
    const events = await collect(
      open({ baseUrl: `https://127.0.0.1:${server.port}${PATHS[kind]}` }).stream(ASKED, new AbortController().signal),
    )
    expect(failureOf(events)).toMatchObject({ kind: 'network', message: expect.objectContaining({ code: 'model_not_secure' }) })
  })

  it('gives up on a server that sends no first byte', async () => {
    const clock = createHandClock()
    server.play({ fault: { kind: 'stall', afterFrames: 0 } })
    const whole = collect(open({}, clock).stream(ASKED, new AbortController().signal))
    await server.untilQuiet()
    await clock.untilSleeping(() => true)
    clock.advance(119_999)
    expect(await clock.untilSleeping(() => true)).toBe(1)
    clock.advance(1)
    expect(failureOf(await whole)).toMatchObject({
      kind: 'timeout',
      retryable: true,
      message: messageMatching('did not start to answer within 120 seconds'),
    })
    await server.untilHungUp()
    expect(clock.sleepers()).toBe(0)
  })

  it('gives up on a server that falls silent, and keeps the text so far', async () => {
    const clock = createHandClock()
    server.play({ text: TEN_PIECES, fault: { kind: 'stall', afterFrames: 6 } })
    const stream = open({}, clock).stream(ASKED, new AbortController().signal)[Symbol.asyncIterator]()
    const first = await stream.next()
    await clock.untilSleeping(() => true)
    clock.advance(59_999)
    expect(await clock.untilSleeping(() => true)).toBe(1)
    clock.advance(1)
    const events = [first.value as ModelEvent, ...(await collect({ [Symbol.asyncIterator]: () => stream }))]
    expect(textOf(events)).toMatch(/^0 1 /)
    expect(failureOf(events)).toMatchObject({
      kind: 'timeout',
      retryable: true,
      message: expect.objectContaining({ code: 'model_silent' }),
    })
    await server.untilHungUp()
    expect(clock.sleepers()).toBe(0)
  })

  it.each([0, 6])('ends and disconnects at once when stopped after %i frames', async (afterFrames) => {
    server.play({ text: TEN_PIECES, fault: { kind: 'stall', afterFrames } })
    const stop = new AbortController()
    const whole = collect(open().stream(ASKED, stop.signal))
    await server.untilQuiet()
    const reason = new Error('stopped by a person')
    stop.abort(reason)
    await expect(whole).rejects.toBe(reason)
    await server.untilHungUp()
  })

  it('sends nothing when stopped before it began', async () => {
    const reason = new Error('stopped')
    await expect(collect(open().stream(ASKED, AbortSignal.abort(reason)))).rejects.toBe(reason)
    expect(server.received).toHaveLength(0)
  })

  it('disconnects when nobody reads any more', async () => {
    server.play({ text: TEN_PIECES, fault: { kind: 'stall', afterFrames: 6 } })
    for await (const _first of open().stream(ASKED, new AbortController().signal)) break
    await server.untilHungUp()
  })

  it('reuses one connection', async () => {
    const adapter = open()
    for (let n = 0; n < 5; n++) await collect(adapter.stream(ASKED, new AbortController().signal))
    expect(server.connections()).toBe(1)
  })

  it('lists the models', async () => {
    const models = await open().listModels(new AbortController().signal)
    expect(models.map((model) => model.model)).toEqual(['small', 'large'])
    expect(server.received[0]!.path).not.toContain(KEY)
  })

  it.each([
    [{ kind: 'status', status: 401 }, /does not accept the key/],
    [{ kind: 'status', status: 404 }, /base URL/],
    [{ kind: 'content_type', contentType: 'text/html' }, /web page/],
    [{ kind: 'content_type', contentType: 'application/json' }, /cannot be read/],
  ] as [ServedFault, RegExp][])('reports why there is no list of models: %o', async (fault, message) => {
    server.play({ fault })
    await expect(open().listModels(new AbortController().signal)).rejects.toMatchObject({
      code: 'provider_refused',
      message: expect.stringMatching(message),
    })
  })

  it.runIf(PROVIDER_DRIVERS[kind].needsKey)('requires the key before any request', async () => {
    const events = await collect(open({ apiKey: null }).stream(ASKED, new AbortController().signal))
    expect(failureOf(events)).toMatchObject({ kind: 'auth', retryable: false, message: expect.objectContaining({ code: 'model_no_key' }) })
    expect(server.received).toHaveLength(0)
  })
})

type SentBody = { system: unknown; tools: object[]; messages: { content: object[] }[]; max_tokens: number; store: boolean }

describe('provider specifics', () => {
  const request = async (kind: Kind, asked: Partial<ModelRequest> = {}) => {
    const adapter = createProviderAdapter(PROVIDER_DRIVERS[kind], accessOf(kind), { fetch: outbound.fetch, clock: systemClock })
    const events = await collect(adapter.stream({ ...ASKED, ...asked }, new AbortController().signal))
    return { events, body: server.received.at(-1)!.body as SentBody }
  }

  it('asks Anthropic to keep tools, system text and the last turns in its cache', async () => {
    const { body } = await request('anthropic', {
      messages: [
        { role: 'system', text: 'Be brief.' },
        { role: 'user', text: 'Look both up.' },
        { role: 'assistant', text: '', toolCalls: [{ callId: 'a', name: 'lookup', args: {} }] },
        { role: 'tool', callId: 'a', name: 'lookup', output: 'One.', ok: true },
        { role: 'assistant', text: '', toolCalls: [{ callId: 'b', name: 'lookup', args: {} }] },
        { role: 'tool', callId: 'b', name: 'lookup', output: 'Two.', ok: false },
      ],
      tools: [{ ...LOOKUP, name: 'first' }, LOOKUP],
    })
    const marked = JSON.stringify(body).match(/"cache_control":\{"type":"ephemeral"\}/g)
    expect(marked).toHaveLength(4)
    expect(body.system).toMatchObject([{ text: 'Be brief.', cache_control: { type: 'ephemeral' } }])
    expect(body.tools).toMatchObject([{ name: 'first' }, { name: 'lookup', cache_control: { type: 'ephemeral' } }])
    expect(body.tools[0]).not.toHaveProperty('cache_control')
    const [, , afterFirst, , afterSecond] = body.messages
    expect(afterFirst!.content[0]).toMatchObject({ tool_use_id: 'a', cache_control: {} })
    expect(afterSecond!.content[0]).toMatchObject({ tool_use_id: 'b', is_error: true, cache_control: {} })
  })

  it('counts cache reads and writes of Anthropic', async () => {
    server.play({ text: ['Hi.'], usage: { input: 1000, output: 5, cached: 600, cacheWrite: 300 } })
    const { events } = await request('anthropic')
    expect(events.at(-1)).toMatchObject({ usage: { input: 1000, output: 5, cached: 600, cacheWrite: 300 } })
  })

  it.each([
    ['beside the completion', { prompt_tokens: 12, completion_tokens: 1, total_tokens: 399 }, 386, 387],
    ['in the completion', { prompt_tokens: 12, completion_tokens: 387, total_tokens: 399 }, 386, 387],
    ['without a total', { prompt_tokens: 12, completion_tokens: 387 }, 386, 387],
    ['as none', { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }, 0, 7],
  ])('counts thinking that a compatible server reports %s', async (_where, usage, reasoning, output) => {
    const chunk = (more: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })}\n\n`
    server.play({
      recorded: [
        chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }] }),
        chunk({ choices: [], usage: { ...usage, completion_tokens_details: { reasoning_tokens: reasoning } } }),
        'data: [DONE]\n\n',
      ],
    })
    const { events } = await request('openai-compatible')
    expect(events.at(-1)).toMatchObject({ type: 'finish', usage: { input: 12, output, cached: 0 } })
  })

  it('gives new Anthropic models room to reply, within the limit of the request', async () => {
    expect((await request('anthropic', { model: 'claude-of-tomorrow', maxOutputTokens: null })).body.max_tokens).toBe(32_000)
    expect((await request('anthropic', { model: 'claude-of-tomorrow', maxOutputTokens: 77 })).body.max_tokens).toBe(77)
  })

  it.each(['anthropic', 'openai'] as const)('skips unknown events of %s', async (kind) => {
    server.play({ text: ['Hi ', 'there.'], usage: { input: 10, output: 5 }, fault: { kind: 'unknown_event' } })
    const { events } = await request(kind)
    expect(textOf(events)).toBe('Hi there.')
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop', usage: { input: 10 } })
  })

  it('asks OpenAI to store nothing', async () => {
    expect((await request('openai')).body.store).toBe(false)
  })

  it('asks compatible servers for the usage, and sends no key if there is none', async () => {
    const adapter = createProviderAdapter(
      PROVIDER_DRIVERS['openai-compatible'],
      accessOf('openai-compatible', { apiKey: null, baseUrl: `${server.url}/` }),
      {
        fetch: outbound.fetch,
        clock: systemClock,
      },
    )
    await collect(adapter.stream(ASKED, new AbortController().signal))
    expect(server.received[0]).toMatchObject({ path: '/v1/chat/completions', body: { stream_options: { include_usage: true } } })
    expect(server.received[0]!.headers).not.toHaveProperty('authorization')
  })

  it('asks Ollama for a window of its own and for no silent cuts', async () => {
    const { body } = await request('ollama')
    expect(server.received[0]!.path).toBe('/api/chat')
    expect(body).toMatchObject({ truncate: false, shift: false, stream: true, options: { num_ctx: 8192, num_predict: 500 } })
  })

  it('names the command that gets a model for Ollama', async () => {
    server.play({ fault: { kind: 'status', status: 404, error: { message: 'model "small" not found, try pulling it first' } } })
    expect(englishText(failureOf((await request('ollama')).events).message)).toMatch(/ollama pull small/)
  })

  it('sends Gemini 3 calls that were recorded without a signature', async () => {
    const { body } = await request('google', {
      model: 'gemini-3-pro',
      messages: [
        { role: 'user', text: 'Look.' },
        { role: 'assistant', text: '', toolCalls: [{ callId: 'a', name: 'lookup', args: {} }] },
        { role: 'tool', callId: 'a', name: 'lookup', output: 'One.', ok: true },
      ],
    })
    expect(JSON.stringify(body)).toContain('"thoughtSignature":"skip_thought_signature_validator"')
  })

  it('refuses a key with invalid characters, without showing it', async () => {
    const adapter = createProviderAdapter(PROVIDER_DRIVERS.openai, accessOf('openai', { apiKey: 'sk-line\nbreak' }), {
      fetch: outbound.fetch,
      clock: systemClock,
    })
    const failed = failureOf(await collect(adapter.stream(ASKED, new AbortController().signal)))
    expect(failed).toMatchObject({ kind: 'auth', message: expect.objectContaining({ code: 'model_odd_key' }) })
    expect(englishText(failed.message)).not.toContain('sk-line')
    expect(server.received).toHaveLength(0)
  })
})

it('skips unknown events of a compatible server', async () => {
  const chunk = (delta: unknown, finish: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }] })}\n\n`
  const other = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
  server.play({
    recorded: [
      other({ type: 'heartbeat' }),
      chunk({ content: 'One ', mood: { calm: true } }),
      other({ type: 'queue', place: 3 }),
      chunk({ tool_calls: [{ index: 0, type: 'custom', custom: { name: 'x', input: 'y' } }] }),
      chunk({ content: [{ type: 'aurora', colours: [] }] }),
      chunk({ content: 'two.' }),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ],
  })
  const adapter = createProviderAdapter(PROVIDER_DRIVERS['openai-compatible'], accessOf('openai-compatible'), {
    fetch: outbound.fetch,
    clock: systemClock,
  })
  const events = await collect(adapter.stream(ASKED, new AbortController().signal))
  expect(textOf(events)).toBe('One two.')
  expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' })
})

describe('a server that only says that it is still there', () => {
  const OPENAI_TEXT = 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"}}]}\n\n'
  const ANTHROPIC_START =
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"small",' +
    '"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'

  it.each([
    ['openai-compatible', '', ': OPENROUTER PROCESSING\n\n', 'did not start to answer within 600 seconds', ''],
    ['openai-compatible', OPENAI_TEXT, ': ping\n\n', 'nothing for 600 seconds', 'Hello'],
    ['anthropic', ANTHROPIC_START, 'event: ping\ndata: {"type":"ping"}\n\n', 'did not start to answer within 600 seconds', ''],
  ] as const)('is given up after ten minutes (%s, after %j)', async (kind, before, ping, problem, text) => {
    const clock = createHandClock()
    let write!: (text: string) => void
    let arrived = Promise.withResolvers<void>()
    const hanging = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      write = (piece) => void response.write(piece)
      write(before + ping)
    })
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/v1`
    const adapter = createProviderAdapter(PROVIDER_DRIVERS[kind], accessOf(kind, { baseUrl }), {
      clock,
      fetch: (input, init) =>
        outbound.fetch(input, {
          ...init,
          onBytes(count) {
            init?.onBytes?.(count)
            arrived.resolve()
          },
        }),
    })
    try {
      const begun = Promise.withResolvers<void>()
      const events: ModelEvent[] = []
      const whole = (async () => {
        for await (const event of adapter.stream(ASKED, new AbortController().signal)) {
          events.push(event)
          begun.resolve()
        }
        return 'given up'
      })()
      await arrived.promise
      if (text !== '') await begun.promise
      for (let waitedMs = 0; waitedMs < 600_000; waitedMs += 50_000) {
        arrived = Promise.withResolvers<void>()
        write(ping)
        await arrived.promise
        expect(events.filter(({ type }) => type === 'failed')).toEqual([])
        clock.advance(50_000)
        const state = Promise.race([whole, clock.untilSleeping(() => true).then(() => 'waiting')])
        expect(await state).toBe(waitedMs === 550_000 ? 'given up' : 'waiting')
      }
      expect(textOf(events)).toBe(text)
      expect(failureOf(events)).toMatchObject({ kind: 'timeout', retryable: true, message: messageMatching(problem) })
      expect(clock.sleepers()).toBe(0)
    } finally {
      hanging.close()
      hanging.closeAllConnections()
    }
  })
})
