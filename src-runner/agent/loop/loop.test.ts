import { messageMatching } from '../../testing/message-matching.ts'
import { quote } from '../../lib/messages.ts'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ask, assistant, call, fail, finish, hangAfter, result, runRig, say, text, tool, USAGE, type Turn } from '../../testing/loop-rig.ts'
import { StaleClaimError } from '../../lib/errors.ts'
import { PathRefused } from '../files/folder-paths.ts'
import type { ModelEvent, ModelFailure } from '../providers/model.ts'
import type { ToolOutput } from '../tools/tool.ts'

const echo = tool('echo', {
  args: z.object({ words: z.string() }),
  run: (args) => ({ ok: true, output: (args as { words: string }).words }),
})
const reader = (name: string, release?: Promise<void>) =>
  tool(name, {
    parallel: true,
    run: async () => {
      await release
      return { ok: true, output: `${name} ran` }
    },
  })
const send = tool('send', { effect: 'once' })

describe('a job without problems', () => {
  it('streams the reply and returns the last one unrecorded', async () => {
    const rig = runRig({ turns: [[text('Good '), text('day.'), finish('stop', { input: 1000, output: 100, cached: 400 })]] })
    expect(await rig.outcome).toEqual({
      kind: 'completed',
      text: 'Good day.',
      reply: {
        text: 'Good day.',
        reasoning: '',
        toolCalls: [],
        model: { providerId: 'acme', model: 'main' },
        usage: { input: 1000, output: 100, cached: 400 },
        estimated: false,
        // 600 × $3 + 400 × $0.30 + 100 × $15, per million tokens
        costMicros: 1800 + 120 + 1500,
        priced: true,
        interrupted: false,
        durationMs: 0,
      },
    })
    expect(rig.replies).toEqual([])
    expect(rig.log).toEqual(['activity model', 'call main', "delta 'Good '", "delta 'day.'"])
  })

  it('runs a tool between two replies and sends the result to the model', async () => {
    const rig = runRig({
      tools: [echo],
      turns: [[text('Let me see.'), ...ask(call('c1', 'echo', { words: 'ping' }))], say('It said ping.')],
    })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'It said ping.' })
    expect(rig.requests[1]!.messages.slice(2)).toEqual([
      assistant('Let me see.', { callId: 'c1', name: 'echo', args: { words: 'ping' } }),
      { role: 'tool', callId: 'c1', name: 'echo', ok: true, output: 'ping' },
    ])
    expect(rig.log.slice(3)).toEqual([
      "reply 'Let me see.'",
      'policy c1',
      'activity tool echo',
      'tool c1 running',
      'result c1',
      'tool c1 done',
      'activity model',
      'call main',
      "delta 'It said ping.'",
    ])
  })

  it('describes the tools in the given order, with their arguments as a JSON schema', async () => {
    const rig = runRig({ tools: [echo, send], turns: [say('ok')] })
    await rig.outcome
    expect(rig.requests[0]!.tools).toEqual([
      {
        name: 'echo',
        description: 'The tool echo.',
        parameters: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
      },
      { name: 'send', description: 'The tool send.', parameters: { type: 'object', properties: {} } },
    ])
  })

  it('clears its timers', async () => {
    const rig = runRig({ turns: [say('ok')] })
    await rig.outcome
    expect(rig.clock.sleepers()).toBe(0)
  })
})

describe('signs of life', () => {
  const signs = (log: string[]) => log.filter((line) => line === 'alive').length

  it('come each minute of a tool that ends by itself, within its limit', async () => {
    const ended = Promise.withResolvers<ToolOutput>()
    const build = tool('build', { limitMs: 1_800_000, run: () => ended.promise })
    const rig = runRig({ limits: { maxWorkingMs: 7_200_000 }, tools: [build], turns: [ask(call('c', 'build')), say('built')] })
    await rig.untilLogged('running')
    rig.clock.advance(1_200_000)
    expect(signs(rig.log)).toBe(20)
    // It hangs all the same.
    rig.clock.advance(2_400_000)
    expect(signs(rig.log)).toBe(30)
    ended.resolve({ ok: true, output: 'built' })
    expect(await rig.outcome).toMatchObject({ kind: 'completed' })
    expect(rig.clock.sleepers()).toBe(0)
  })

  it('come each minute while other jobs hold the money for the next call', async () => {
    const free = Promise.withResolvers<{ reserved: true }>()
    const asked = Promise.withResolvers<void>()
    const reserve = () => (asked.resolve(), free.promise)
    const rig = runRig({ limits: { maxWorkingMs: 7_200_000 }, budget: { reserve, release() {} }, turns: [say('ok')] })
    await asked.promise
    rig.clock.advance(1_200_000)
    expect(signs(rig.log)).toBe(20)
    free.resolve({ reserved: true })
    expect(await rig.outcome).toMatchObject({ kind: 'completed' })
    expect(rig.clock.sleepers()).toBe(0)
  })

  it('do not come while a tool runs that nothing ends', async () => {
    const rig = runRig({
      limits: { maxWorkingMs: 7_200_000 },
      tools: [reader('slow', new Promise(() => {}))],
      turns: [ask(call('c', 'slow'))],
    })
    await rig.untilLogged('running')
    rig.clock.advance(1_200_000)
    expect(signs(rig.log)).toBe(0)
    rig.stop.abort()
  })
})

describe('order of tool calls', () => {
  it('runs parallel calls at the same time, with results in the order of the calls', async () => {
    const first = Promise.withResolvers<void>()
    const rig = runRig({
      tools: [reader('slow', first.promise), reader('fast')],
      turns: [ask(call('a', 'slow'), call('b', 'fast')), say('done')],
    })
    await rig.untilLogged('result b')
    expect(rig.log).not.toContain('result a')
    first.resolve()
    await rig.outcome
    expect(rig.results.map((r) => r.callId)).toEqual(['b', 'a'])
    expect(rig.requests[1]!.messages.slice(3)).toEqual([result('a', 'slow'), result('b', 'fast')])
  })

  it('runs calls in sequence if one of them is not parallel', async () => {
    const first = Promise.withResolvers<void>()
    const rig = runRig({
      tools: [reader('slow', first.promise), echo],
      turns: [ask(call('a', 'slow'), call('b', 'echo', { words: 'x' })), say('done')],
    })
    await rig.untilLogged('tool a running')
    expect(rig.log).not.toContain('policy b')
    first.resolve()
    await rig.outcome
    expect(rig.results.map((r) => r.callId)).toEqual(['a', 'b'])
  })

  it('runs at most eight at a time', async () => {
    let now = 0
    let most = 0
    const counted = tool('count', {
      parallel: true,
      run: async () => {
        most = Math.max(most, ++now)
        await new Promise((resolve) => setImmediate(resolve))
        now--
        return { ok: true, output: '' }
      },
    })
    const rig = runRig({ tools: [counted], turns: [ask(...Array.from({ length: 30 }, (_, i) => call(`c${i}`, 'count'))), say('done')] })
    await rig.outcome
    expect(most).toBe(8)
    expect(rig.results).toHaveLength(30)
  })
})

describe('the policy', () => {
  it('returns a denial with its reason to the model', async () => {
    const run = vi.fn()
    const rig = runRig({
      tools: [tool('send', { run })],
      policy: () => ({ verdict: 'deny', reason: 'the rule "no mail" says so' }),
      turns: [ask(call('c', 'send')), say('all right')],
    })
    expect(await rig.outcome).toMatchObject({ kind: 'completed' })
    expect(run).not.toHaveBeenCalled()
    expect(rig.results).toMatchObject([{ ok: false, output: 'Not run: the rule "no mail" says so' }])
    expect(rig.log).toContain('tool c denied')
  })

  it('ends the attempt at a call that has to wait, and leaves it and the later ones open', async () => {
    const rig = runRig({
      tools: [echo, send],
      policy: ({ tool: asked }) => (asked.name === 'send' ? { verdict: 'wait', status: 'awaiting_approval' } : { verdict: 'run' }),
      turns: [[text('I will send it.'), ...ask(call('a', 'echo', { words: '1' }), call('b', 'send'), call('c', 'echo', { words: '2' }))]],
    })
    expect(await rig.outcome).toEqual({ kind: 'waiting', status: 'awaiting_approval', text: 'I will send it.' })
    expect(rig.results.map((r) => r.callId)).toEqual(['a'])
    expect(rig.started).toEqual([])
  })

  it('finishes the other parallel calls if one has to wait', async () => {
    const rig = runRig({
      tools: [reader('r')],
      policy: ({ call: asked }) => (asked.callId === 'a' ? { verdict: 'wait', status: 'awaiting_child' } : { verdict: 'run' }),
      turns: [ask(call('a', 'r'), call('b', 'r'), call('c', 'r'))],
    })
    expect(await rig.outcome).toMatchObject({ kind: 'waiting', status: 'awaiting_child' })
    expect(rig.results.map((r) => r.callId)).toEqual(['b', 'c'])
  })

  it('records the start of a non-idempotent call before it runs', async () => {
    const rig = runRig({ tools: [send], turns: [ask(call('c', 'send')), say('sent')] })
    await rig.outcome
    expect(rig.log.filter((line) => / c\b/.test(line))).toEqual(['policy c', 'started c', 'tool c running', 'result c', 'tool c done'])
  })
})

describe('an invalid call gets an error, and the job continues:', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })
  const cases: [string, ModelEvent, RegExp][] = [
    ['an unknown tool', call('c', 'fly'), /^Not run: there is no tool 'fly'\. The tools are: echo, read_file\.$/],
    ['a NUL in the name', call('c', 'read\0file'), /there is no tool 'unknown_read_file'/],
    ['a name of an object property', call('c', '__proto__'), /there is no tool '__proto__'/],
    ['an empty name', call('c', ''), /there is no tool 'unknown_'/],
    ['a missing argument', call('c', 'echo', {}), /do not fit\.\n- words: Invalid input: expected string, received undefined$/],
    ['a wrong type', call('c', 'echo', { words: 7 }), /- words: Invalid input: expected string, received number/],
    ['a list', call('c', 'echo', ['x']), /must be a JSON object with: words\. Received: \["x"\]/],
    ['nothing', call('c', 'echo', null), /must be a JSON object with: words\. Received: null/],
    [
      'broken JSON',
      { type: 'tool_call', callId: 'c', name: 'echo', args: '{"words": "half', argsValid: false },
      /Received: \{"words": "half$/,
    ],
    ['prototype keys only', call('c', 'echo', JSON.parse('{"__proto__": {"words": "x"}}')), /- words: Invalid input/],
    ['50 MB of arguments', call('c', 'echo', { words: 'x'.repeat(50_000_000) }), /arguments left out: more than 1000000 characters/],
    [
      '10 million numbers',
      call('c', 'echo', { words: Array.from({ length: 10_000_000 }, () => 1) }),
      /arguments left out: more than 1000000 characters/,
    ],
    ['endless nesting', call('c', 'echo', { words: deep(5_000) }), /arguments left out: nested deeper than 64 levels/],
    [
      '50 MB of broken JSON',
      { type: 'tool_call', callId: 'c', name: 'echo', args: '{'.repeat(50_000_000), argsValid: false },
      /must be a JSON object/,
    ],
  ]
  it.each(cases)('%s', async (_, event, expected) => {
    const rig = runRig({ tools: [echo, tool('read_file')], turns: [ask(event), say('I see.')] })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'I see.' })
    expect(rig.results).toHaveLength(1)
    expect(rig.results[0]!.ok).toBe(false)
    expect(rig.results[0]!.output).toMatch(expected)
    expect(rig.log.some((line) => line.startsWith('policy'))).toBe(false)
    expect(JSON.stringify(rig.replies).length).toBeLessThan(10_000)
  })

  it('passes no prototype keys to the tool', async () => {
    const seen: unknown[] = []
    const spy = tool('spy', { args: z.object({ words: z.string() }), run: (args) => ({ ok: seen.push(args) > 0, output: '' }) })
    await runRig({ tools: [spy], turns: [ask(call('c', 'spy', JSON.parse('{"words":"x","__proto__":{"admin":true}}'))), say('ok')] })
      .outcome
    expect(Object.keys(seen[0] as object)).toEqual(['words'])
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  it('gives every call a unique id that all providers accept', async () => {
    const rig = runRig({
      tools: [echo],
      transcript: [assistant('', { callId: 'same', name: 'echo', args: { words: '0' } }), result('same', 'echo')],
      turns: [ask(...['same', 'same', '', 'a b', 'x'.repeat(300)].map((id) => call(id, 'echo', { words: id }))), say('ok')],
    })
    await rig.outcome
    const ids = rig.results.map((r) => r.callId)
    expect(new Set([...ids, 'same']).size).toBe(6)
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  })

  it('returns what a tool throws, and cuts long output', async () => {
    const angry = tool('angry', { run: () => Promise.reject(new Error('the disk is on fire')) })
    const chatty = tool('chatty', { run: () => ({ ok: true, output: 'x'.repeat(200_000) }) })
    const rig = runRig({ tools: [angry, chatty], turns: [ask(call('a', 'angry'), call('b', 'chatty')), say('ok')] })
    await rig.outcome
    expect(rig.results[0]).toMatchObject({ ok: false, output: 'the disk is on fire' })
    expect(rig.results[1]!.output).toHaveLength(60_000)
    expect(rig.results[1]!.output).toMatch(/\[cut: 200000 characters, the first 60000 are shown\]$/)
  })

  it('counts a refusal of a path as private', async () => {
    const refuse = (name: string, error: Error) => tool(name, { run: () => Promise.reject(error) })
    const tools = [refuse('a', new PathRefused('There is something already.')), refuse('b', new Error('No.'))]
    const rig = runRig({ tools, turns: [ask(call('a', 'a'), call('b', 'b')), say('ok')] })
    await rig.outcome
    expect(rig.results).toMatchObject([{ addsTaint: ['private'] }, { addsTaint: [] }])
  })

  it('refuses the calls over 32 of a reply, and drops those over 64', async () => {
    const rig = runRig({
      tools: [reader('r')],
      limits: { maxToolCalls: 1000 },
      turns: [ask(...Array.from({ length: 10_000 }, (_, i) => call(`c${i}`, 'r'))), say('ok')],
    })
    expect(await rig.outcome).toMatchObject({ kind: 'completed' })
    expect(rig.replies[0]!.toolCalls).toHaveLength(64)
    expect(rig.results.filter((r) => r.ok)).toHaveLength(32)
    expect(rig.results.filter((r) => !r.ok).every((r) => r.output.startsWith('Not run: only the first 32 calls'))).toBe(true)
    expect(rig.results.at(-1)!.output).toContain('9936 more calls of the same reply were dropped')
  })
})

describe('an endless reply', () => {
  /** An endless stream, and how many of its events were read. */
  const endless = (event: ModelEvent) => {
    const taken = { events: 0, hungUp: false }
    async function* stream(_request: unknown, signal: AbortSignal): AsyncIterable<ModelEvent> {
      try {
        for (;;) {
          taken.events++
          yield event
        }
      } finally {
        taken.hungUp = signal.aborted
      }
    }
    return { taken, stream }
  }

  it('is cut off after 256 tool calls', async () => {
    const { taken, stream } = endless({ type: 'call_piece', begins: true, chars: 10 })
    const rig = runRig({ turns: [stream] })
    expect(await rig.outcome).toMatchObject({
      kind: 'failed',
      error: 'model_bad_answer',
      message: expect.objectContaining({ code: 'model_too_many_calls' }),
    })
    expect(taken).toEqual({ events: 257, hungUp: true })
    expect(rig.requests).toHaveLength(1)
  })

  it.each([
    ['the arguments of a call', { type: 'call_piece', begins: false, chars: 10_000 }],
    ['its text', { type: 'text', text: 'x'.repeat(10_000) }],
    ['its thinking', { type: 'reasoning', text: 'x'.repeat(10_000) }],
  ] as [string, ModelEvent][])('is cut off after two million characters of %s', async (_what, event) => {
    const { taken, stream } = endless(event)
    const rig = runRig({ turns: [stream] })
    expect(await rig.outcome).toMatchObject({ kind: 'failed', error: 'model_bad_answer' })
    expect(taken).toEqual({ events: 201, hungUp: true })
  })
})

describe('limits', () => {
  const again = (): Turn[] => Array.from({ length: 20 }, (_, i) => [text(`Round ${i + 1}.`), ...ask(call(`c${i}`, 'echo', { words: 'x' }))])

  it('ends the job after the last allowed turn and keeps the text', async () => {
    const rig = runRig({ tools: [echo], limits: { maxTurns: 3 }, used: { turns: 1 }, turns: again() })
    expect(await rig.outcome).toEqual({
      kind: 'failed',
      error: 'turn_limit',
      message: expect.objectContaining({ code: 'job_turns' }),
      text: 'Round 1.\n\nRound 2.',
    })
    expect(rig.requests).toHaveLength(2)
  })

  it('makes no call after the one that reached the spending limit', async () => {
    // One call is 100 × $3 + 10 × $15 per million = 450 micro-dollars.
    const rig = runRig({ tools: [echo], limits: { maxCostUsd: 0.01 }, used: { costMicros: 9_200 }, turns: again() })
    expect(await rig.outcome).toMatchObject({
      kind: 'failed',
      error: 'cost_limit',
      message: { code: 'job_cost', params: { limitUsd: 0.01 } },
    })
    expect(rig.requests).toHaveLength(2)
  })

  it('counts the cost of failed tries', async () => {
    const rig = runRig({
      limits: { maxCostUsd: 0.01 },
      turns: [[text('half'), fail({}, { input: 4_000_000, output: 0, cached: 0 })], say('never asked')],
    })
    rig.clock.advance(await rig.clock.untilSleeping((ms) => ms < 10_000))
    expect(await rig.outcome).toMatchObject({ error: 'cost_limit' })
    expect(rig.requests).toHaveLength(1)
    expect(rig.replies).toMatchObject([{ interrupted: true, costMicros: 12_000_000 }])
  })

  it('ends at the time limit, in the middle of a stream, with the text so far', async () => {
    const rig = runRig({ limits: { maxWorkingMs: 60_000 }, used: { workingMs: 20_000 }, turns: [hangAfter(text('So far '))] })
    await rig.untilLogged('delta')
    rig.clock.advance(39_999)
    expect(rig.replies).toEqual([])
    rig.clock.advance(1)
    expect(await rig.outcome).toEqual({
      kind: 'failed',
      error: 'time_limit',
      message: expect.objectContaining({ code: 'job_seconds' }),
      text: 'So far ',
    })
    expect(rig.replies).toMatchObject([{ text: 'So far ', interrupted: true }])
  })

  it('does not count the time asleep, in which timers and clocks go on', async () => {
    const rig = runRig({ limits: { maxWorkingMs: 60_000 }, turns: [hangAfter(text('So far '))] })
    await rig.untilLogged('delta')
    rig.clock.advance(20_000)
    rig.clock.suspend(72 * 3_600_000)
    rig.clock.advance(39_999)
    expect(rig.replies).toEqual([])
    rig.clock.advance(1)
    expect(await rig.outcome).toMatchObject({ error: 'time_limit' })
  })

  it('makes no call if the working time is already used up', async () => {
    const rig = runRig({ limits: { maxWorkingMs: 60_000 }, used: { workingMs: 60_000 }, turns: [say('no')] })
    expect(await rig.outcome).toMatchObject({ error: 'time_limit' })
    expect(rig.requests).toEqual([])
  })

  it('runs the calls left under the limit, refuses the others and ends', async () => {
    const rig = runRig({
      tools: [reader('r')],
      limits: { maxToolCalls: 5 },
      used: { toolCalls: 3 },
      turns: [[text('Look.'), ...ask(call('a', 'r'), call('b', 'r'), call('c', 'r'))]],
    })
    expect(await rig.outcome).toEqual({
      kind: 'failed',
      error: 'tool_call_limit',
      message: expect.objectContaining({ code: 'job_tool_calls' }),
      text: 'Look.',
    })
    expect(rig.results.map((r) => r.ok)).toEqual([true, true, false])
  })

  it('still gets a last reply if the calls are exactly used up', async () => {
    const rig = runRig({ tools: [reader('r')], limits: { maxToolCalls: 1 }, turns: [ask(call('a', 'r')), say('done')] })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'done' })
  })

  it('sends no tools if the job may make no calls', async () => {
    const rig = runRig({ tools: [echo], limits: { maxToolCalls: 0 }, turns: [say('ok')] })
    await rig.outcome
    expect(rig.requests[0]!.tools).toEqual([])
  })
})

describe('model failures', () => {
  const codes: [ModelFailure['kind'], string][] = [
    ['auth', 'model_auth'],
    ['not_found', 'model_not_found'],
    ['refused', 'model_refused'],
    ['bad_answer', 'model_bad_answer'],
    ['bad_request', 'model_unavailable'],
  ]
  it.each(codes)('%s is not retried and ends the job as %s', async (kind, error) => {
    const rig = runRig({ turns: [[fail({ kind, retryable: false, message: quote('Acme says no.') })]] })
    expect(await rig.outcome).toEqual({ kind: 'failed', error, message: quote('Acme says no.'), text: '' })
    expect(rig.requests).toHaveLength(1)
    expect(rig.replies).toEqual([])
  })

  it.each(['rate_limited', 'overloaded', 'server', 'network'] as const)(
    '%s is tried five times, waiting longer each time',
    async (kind) => {
      const rig = runRig({ random: 1, turns: Array.from({ length: 5 }, () => [fail({ kind })]) })
      const waits: number[] = []
      for (let i = 0; i < 4; i++) {
        waits.push(await rig.clock.untilSleeping((ms) => ms < 100_000))
        rig.clock.advance(waits.at(-1)!)
      }
      expect(waits).toEqual([2_000, 4_000, 8_000, 16_000])
      expect(await rig.outcome).toEqual({
        kind: 'failed',
        error: 'model_unavailable',
        message: { code: 'job_after_tries', params: { problem: quote('Acme is overloaded.'), tries: 5 } },
        text: '',
      })
      expect(rig.log.filter((line) => line.startsWith('activity retry_wait'))[0]).toBe(
        'activity retry_wait Acme is overloaded. until +2000',
      )
    },
  )

  const silent = fail({ kind: 'timeout', message: quote('Acme says nothing.') })

  it('are retried once if the model is silent; then the job is postponed and a person notified', async () => {
    const rig = runRig({ random: 1, turns: [[silent], [silent]] })
    rig.clock.advance(await rig.clock.untilSleeping((ms) => ms < 100_000))
    expect(await rig.outcome).toEqual({
      kind: 'postponed',
      cause: 'silence',
      waitMs: 30_000,
      message: { code: 'job_after_tries', params: { problem: quote('Acme says nothing.'), tries: 2 } },
      notifiesOwner: true,
      text: '',
    })
  })

  it('fall back to the next model at once if the first is silent', async () => {
    const rig = runRig({ models: { main: [[silent], [silent]], spare: [say('I am here.')] } })
    rig.clock.advance(await rig.clock.untilSleeping((ms) => ms < 100_000))
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'I am here.' })
  })

  it.each([
    [1, 60_000],
    [2, 120_000],
  ])('get one try after postponement %i, and then a longer one', async (times, waitMs) => {
    const rig = runRig({ postponed: { cause: 'silence', times }, turns: [[silent]] })
    expect(await rig.outcome).toMatchObject({ kind: 'postponed', waitMs, notifiesOwner: false })
  })

  it('fail the job after the third postponement', async () => {
    const rig = runRig({ postponed: { cause: 'silence', times: 3 }, turns: [[silent]] })
    expect(await rig.outcome).toEqual({ kind: 'failed', error: 'model_unavailable', message: quote('Acme says nothing.'), text: '' })
  })

  it('postpone the job for up to a day while the key is out of reach', async () => {
    const failure: ModelFailure = {
      kind: 'key_out_of_reach',
      retryable: false,
      retryAfterMs: null,
      status: null,
      message: quote('The keychain did not answer.'),
    }
    const open = () => Promise.resolve({ failure })
    expect(await runRig({ open }).outcome).toMatchObject({ kind: 'postponed', waitMs: 60_000, notifiesOwner: true })
    const waited = (times: number) => runRig({ open, postponed: { cause: 'keychain', times } }).outcome
    expect(await waited(1_439)).toMatchObject({ kind: 'postponed', notifiesOwner: false })
    expect(await waited(1_440)).toMatchObject({ kind: 'failed', error: 'model_auth' })
  })

  it('postpone the job for up to a day, half a minute each time, while the machine is offline', async () => {
    const offline = fail({ kind: 'network', offline: true, message: quote('There is no network.') })
    const rig = runRig({ random: 1, turns: Array.from({ length: 5 }, () => [offline]) })
    for (let i = 0; i < 4; i++) rig.clock.advance(await rig.clock.untilSleeping((ms) => ms < 100_000))
    expect(await rig.outcome).toMatchObject({ kind: 'postponed', waitMs: 30_000, notifiesOwner: true })
    const waited = (times: number) => runRig({ postponed: { cause: 'keychain', times }, turns: [[offline]] }).outcome
    expect(await waited(2_879)).toMatchObject({ kind: 'postponed', waitMs: 30_000, notifiesOwner: false })
    expect(await waited(2_880)).toMatchObject({ kind: 'failed', error: 'model_unavailable' })
    const wrongKey = fail({ kind: 'auth', retryable: false })
    const mixed = runRig({ postponed: { cause: 'keychain', times: 1 }, models: { main: [[offline]], spare: [[wrongKey]] } })
    expect(await mixed.outcome).toMatchObject({ kind: 'failed' })
  })

  it('start their waits again after the job has waited for the keychain', async () => {
    const rig = runRig({ random: 1, postponed: { cause: 'keychain', times: 200 }, turns: [[silent], [silent]] })
    rig.clock.advance(await rig.clock.untilSleeping((ms) => ms < 100_000))
    expect(await rig.outcome).toMatchObject({ kind: 'postponed', cause: 'silence', waitMs: 30_000, notifiesOwner: true })
  })

  it('spread the retries', async () => {
    const rig = runRig({ random: 0, turns: [[fail({})], say('ok')] })
    expect(await rig.clock.untilSleeping((ms) => ms < 100_000)).toBe(1_000)
    rig.clock.advance(1_000)
    expect(await rig.outcome).toMatchObject({ kind: 'completed' })
  })

  it.each([
    ['half a minute', 30_000, 30_000],
    ['ten minutes', 600_000, 600_000],
    ['nothing', 0, 0],
    ['a time that has passed', -5, 0],
  ])('wait as long as the provider asks: %s', async (_, retryAfterMs, expected) => {
    const rig = runRig({ limits: { maxWorkingMs: 3_600_000 }, turns: [[fail({ kind: 'rate_limited', retryAfterMs })], say('ok')] })
    expect(await rig.clock.untilSleeping((ms) => ms < 3_000_000)).toBe(expected)
    rig.clock.advance(expected)
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'ok' })
  })

  it('hold no money while they wait, except for what the tries before have cost', async () => {
    const released: (number | undefined)[] = []
    const budget = { reserve: async () => ({ reserved: true }) as const, release: (micros?: number) => void released.push(micros) }
    const rig = runRig({ budget, turns: [[fail({})], [text('Half'), fail({ kind: 'network' }, USAGE)], say('ok')] })
    for (const kept of [0, 450]) {
      const wait = await rig.clock.untilSleeping((ms) => ms < 50_000)
      expect(released.at(-1)).toBe(kept)
      rig.clock.advance(wait)
    }
    expect(await rig.outcome).toMatchObject({ kind: 'completed' })
  })

  it('do not wait longer than ten minutes', async () => {
    const rig = runRig({ turns: [[fail({ kind: 'rate_limited', retryAfterMs: 600_001, message: quote('Acme: come back tomorrow.') })]] })
    expect(await rig.outcome).toMatchObject({ error: 'model_unavailable', message: quote('Acme: come back tomorrow.') })
  })

  it('restart a reply that broke off, and reset what was shown', async () => {
    const rig = runRig({ turns: [[text('Dear An'), fail({ kind: 'network', message: quote('gone') })], say('Dear Anna')] })
    rig.clock.advance(await rig.clock.untilSleeping((ms) => ms < 100_000))
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'Dear Anna' })
    expect(rig.replies).toEqual([])
    expect(rig.log.filter((line) => /delta|reset/.test(line))).toEqual(["delta 'Dear An'", 'reset', "delta 'Dear Anna'"])
  })

  it('add the cost of failed tries to the reply', async () => {
    const rig = runRig({ turns: [[text('x'), fail({}, USAGE)], say('y')] })
    rig.clock.advance(await rig.clock.untilSleeping((ms) => ms < 100_000))
    expect(await rig.outcome).toMatchObject({ reply: { usage: { input: 200, output: 20, cached: 0 }, costMicros: 900 } })
  })

  it('never run the calls of a reply that broke off', async () => {
    const run = vi.fn()
    const rig = runRig({ tools: [tool('send', { run })], turns: [[call('c', 'send'), fail({ kind: 'network' })], say('never mind')] })
    rig.clock.advance(await rig.clock.untilSleeping((ms) => ms < 100_000))
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'never mind' })
    expect(run).not.toHaveBeenCalled()
    expect(rig.results).toEqual([])
  })

  it('keep the text of the last try that broke off, without its calls', async () => {
    const rig = runRig({
      tools: [send],
      turns: [
        [text('As far as I got'), call('c', 'send'), fail({ kind: 'bad_answer', retryable: false, message: quote('Garbage from Acme.') })],
      ],
    })
    expect(await rig.outcome).toEqual({
      kind: 'failed',
      error: 'model_bad_answer',
      message: quote('Garbage from Acme.'),
      text: 'As far as I got',
    })
    expect(rig.replies).toMatchObject([{ text: 'As far as I got', interrupted: true, toolCalls: [], estimated: true }])
    expect(rig.started).toEqual([])
  })

  it.each<[string, Turn]>([
    ['ends without an end', [text('half')]],
    ['throws', () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('boom')) }) })],
  ])('survive a stream that %s', async (_, turn) => {
    const rig = runRig({ models: { main: Array.from({ length: 5 }, () => turn), spare: [say('from the spare')] } })
    const mover = setInterval(() => rig.clock.advance(1_000), 0)
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'from the spare' })
    clearInterval(mover)
  })

  it('cut off an endless stream', async () => {
    const flood: Turn = async function* () {
      for (;;) yield text('x'.repeat(100_000))
    }
    expect(await runRig({ turns: [flood] }).outcome).toMatchObject({
      error: 'model_bad_answer',
      message: expect.objectContaining({ code: 'model_endless' }),
    })
  })
})

describe('fallbacks', () => {
  it('use the next model after the tries of the first, and stay with it', async () => {
    const rig = runRig({
      tools: [echo],
      models: { main: [[fail({ kind: 'auth', retryable: false })]], spare: [ask(call('c', 'echo', { words: 'x' })), say('done')] },
    })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'done', reply: { model: { model: 'spare' } } })
    expect(rig.log.filter((line) => line.startsWith('call'))).toEqual(['call main', 'call spare', 'call spare'])
  })

  it('return to the first model if the fallback fails later', async () => {
    const rig = runRig({
      tools: [echo],
      models: {
        main: [[fail({ retryAfterMs: 90_000 })], say('back again')],
        spare: [ask(call('c', 'echo', { words: 'x' })), [fail({ kind: 'not_found', retryable: false })]],
      },
    })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'back again' })
  })

  it('skip a long wait while another model is untried', async () => {
    const rig = runRig({ models: { main: [[fail({ kind: 'rate_limited', retryAfterMs: 60_001 })]], spare: [say('quick')] } })
    expect(await rig.outcome).toMatchObject({ text: 'quick' })
  })

  it('record what the first model used as its own, without its words', async () => {
    const released: (number | undefined)[] = []
    const reserved: number[] = []
    const budget = {
      reserve: async (_: number | null, unrecorded: number) => (reserved.push(unrecorded), { reserved: true } as const),
      release: (micros?: number) => void released.push(micros),
    }
    const models = { main: [[text('Half'), fail({ retryable: false }, USAGE)]], spare: [say('Whole.', { ...USAGE, output: 0 })] }
    const rig = runRig({ budget, models })
    expect(await rig.outcome).toMatchObject({ text: 'Whole.', reply: { model: { model: 'spare' }, usage: { output: 0 }, costMicros: 300 } })
    expect(rig.replies).toMatchObject([{ text: '', model: { model: 'main' }, usage: USAGE, costMicros: 450, interrupted: true }])
    expect(rig.log.filter((line) => /delta|reset|reply/.test(line))).toEqual(["delta 'Half'", 'reset', "reply cut ''", "delta 'Whole.'"])
    expect(reserved).toEqual([0, 0])
    expect(released).toContain(undefined)
  })

  it('name every failure and report the code of the first', async () => {
    const rig = runRig({
      models: {
        main: [[fail({ kind: 'auth', retryable: false, message: quote('Acme: the key is wrong.') })]],
        spare: [[fail({ kind: 'not_found', retryable: false, message: quote('Acme: no such model.') })]],
      },
    })
    expect(await rig.outcome).toMatchObject({
      error: 'model_auth',
      message: messageMatching('Acme: the key is wrong. Acme: no such model.'),
    })
  })

  it('do not go around a refusal', async () => {
    const rig = runRig({ models: { main: [[fail({ kind: 'refused', retryable: false })]], spare: [say('sure')] } })
    expect(await rig.outcome).toMatchObject({ error: 'model_refused' })
    expect(rig.requests).toHaveLength(1)
  })

  it('treat a deleted provider like a failed call', async () => {
    const failure: ModelFailure = {
      kind: 'auth',
      retryable: false,
      retryAfterMs: null,
      status: null,
      message: quote('The key of Acme could not be read.'),
    }
    const rig = runRig({ open: async () => ({ failure }) })
    expect(await rig.outcome).toMatchObject({ error: 'model_auth', message: quote('The key of Acme could not be read.') })
  })
})

describe('empty replies', () => {
  it('are retried once, and both are charged', async () => {
    const rig = runRig({ turns: [[finish()], say('Here.')] })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'Here.', reply: { costMicros: 900 } })
    expect(rig.requests[1]).toEqual(rig.requests[0])
  })

  it('fail the job the second time, and keep the cost', async () => {
    const rig = runRig({ turns: [[finish()], [text(' \n'), finish()]] })
    expect(await rig.outcome).toMatchObject({
      kind: 'failed',
      error: 'model_bad_answer',
      message: expect.objectContaining({ code: 'job_nothing_said' }),
    })
    expect(rig.replies).toMatchObject([{ costMicros: 900, interrupted: true }])
  })

  it('complete the job with its earlier text', async () => {
    const rig = runRig({
      tools: [echo],
      turns: [[text('I will note it down.'), ...ask(call('c', 'echo', { words: 'x' }))], [finish()], [finish()]],
    })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'I will note it down.', reply: { text: '' } })
  })

  it('are marked if the length limit cut them', async () => {
    const rig = runRig({ turns: [[text('Once upon a'), finish('length')]] })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: expect.stringMatching(/^Once upon a\n\n\[The answer stops here/) })
  })

  it('fail the job if a content filter stopped the reply, and run none of its calls', async () => {
    const rig = runRig({ tools: [send], turns: [[text('Well'), call('c', 'send'), finish('content_filter')]] })
    expect(await rig.outcome).toMatchObject({ kind: 'failed', error: 'model_refused', text: 'Well' })
    expect(rig.results).toEqual([])
  })
})

describe('cost without usage from the provider', () => {
  it.each([
    ['no usage', null],
    ['a negative number', { input: -1, output: 5, cached: 0 }],
    ['half a token', { input: 1.5, output: 5, cached: 0 }],
    ['more cached than read', { input: 10, output: 5, cached: 11 }],
    ['not a number', { input: Number.NaN, output: 5, cached: 0 }],
  ])('is estimated at four characters a token: %s', async (_, usage) => {
    const rig = runRig({ turns: [say('12345678', usage)] })
    // 'You are Ada.' and 'Do the thing.' are 25 characters.
    expect(await rig.outcome).toMatchObject({
      reply: { estimated: true, usage: { input: 7, output: 2, cached: 0 }, costMicros: 7 * 3 + 2 * 15 },
    })
  })

  it('counts a tool call that the reply broke off in', async () => {
    const begun: ModelEvent[] = [
      { type: 'call_piece', begins: true, chars: 4 },
      { type: 'call_piece', begins: false, chars: 4_000 },
    ]
    const rig = runRig({ turns: [[...begun, fail({ retryable: false })]] })
    await rig.outcome
    expect(rig.replies).toMatchObject([{ estimated: true, usage: { input: 7, output: 1_001 }, costMicros: 7 * 3 + 1_001 * 15 }])
  })

  it('is unpriced, never free, if the model has no price', async () => {
    expect(await runRig({ price: null, turns: [say('ok')] }).outcome).toMatchObject({
      reply: { priced: false, costMicros: 0, estimated: false },
    })
  })
})

describe('Stop', () => {
  it('takes effect in a stream that ignores its signal', async () => {
    const rig = runRig({ turns: [hangAfter(text('Half a '), text('sentence'), call('c', 'send'))], tools: [send] })
    await rig.untilLogged('sentence')
    rig.stop.abort()
    expect(await rig.outcome).toEqual({ kind: 'aborted', text: 'Half a sentence' })
    expect(rig.replies).toMatchObject([{ text: 'Half a sentence', interrupted: true, toolCalls: [], estimated: true }])
    expect(rig.started).toEqual([])
  })

  it('records nothing if the reply is empty', async () => {
    const rig = runRig({ turns: [hangAfter()] })
    await rig.untilLogged('call main')
    rig.stop.abort()
    expect(await rig.outcome).toEqual({ kind: 'aborted', text: '' })
    expect(rig.replies).toEqual([])
  })

  it('makes no call if it came first', async () => {
    const rig = runRig({ turns: [say('no')] })
    rig.stop.abort()
    expect((await rig.outcome).kind).toBe('aborted')
  })

  it('takes effect while waiting for a key', async () => {
    const rig = runRig({ open: () => new Promise(() => {}) })
    rig.stop.abort()
    expect((await rig.outcome).kind).toBe('aborted')
  })

  it('takes effect during a retry wait, and keeps the text', async () => {
    const rig = runRig({ turns: [[text('Half'), fail({ retryAfterMs: 300_000 })]] })
    await rig.clock.untilSleeping((ms) => ms === 300_000)
    rig.stop.abort()
    expect(await rig.outcome).toEqual({ kind: 'aborted', text: 'Half' })
    expect(rig.replies).toMatchObject([{ text: 'Half', interrupted: true }])
  })

  it('abandons a tool that ignores its signal, within two seconds', async () => {
    const rig = runRig({ tools: [tool('deaf', { run: () => new Promise(() => {}) })], turns: [ask(call('c', 'deaf'))] })
    await rig.untilLogged('running')
    rig.stop.abort()
    const wait = await rig.clock.untilSleeping((ms) => ms < 100_000)
    expect(wait).toBeLessThan(2_000)
    rig.clock.advance(wait)
    expect((await rig.outcome).kind).toBe('aborted')
    expect(rig.results).toEqual([])
  })

  it('records the result of a tool that still finishes', async () => {
    const finishing = Promise.withResolvers<void>()
    const rig = runRig({
      tools: [tool('send', { effect: 'once', run: () => finishing.promise.then(() => ({ ok: true, output: 'sent' })) })],
      turns: [ask(call('c', 'send'))],
    })
    await rig.untilLogged('running')
    rig.stop.abort()
    finishing.resolve()
    expect((await rig.outcome).kind).toBe('aborted')
    expect(rig.results).toMatchObject([{ callId: 'c', ok: true, output: 'sent' }])
  })

  it('records no result of an aborted tool', async () => {
    const listening = tool('listening', {
      run: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    })
    const rig = runRig({ tools: [listening], turns: [ask(call('c', 'listening'), call('d', 'listening'))] })
    await rig.untilLogged('tool c running')
    rig.stop.abort()
    expect((await rig.outcome).kind).toBe('aborted')
    expect(rig.results).toEqual([])
    expect(rig.log).not.toContain('policy d')
  })
})

describe('continuing from recorded steps', () => {
  const asked = assistant(
    'Looking.',
    { callId: 'a', name: 'r', args: {} },
    { callId: 'b', name: 'r', args: {} },
    { callId: 'c', name: 'r', args: {} },
  )

  it.each([
    ['before the first result', [asked], ['a', 'b', 'c']],
    ['between two results', [asked, result('b', 'r')], ['a', 'c']],
    ['before the last result', [asked, result('a', 'r'), result('b', 'r')], ['c']],
    ['after all results', [asked, result('a', 'r'), result('b', 'r'), result('c', 'r')], []],
  ])('%s', async (_, transcript, run) => {
    const rig = runRig({ tools: [reader('r')], transcript, turns: [say('done')] })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'done' })
    expect(rig.results.map((r) => r.callId)).toEqual(run)
    const answered = rig.requests[0]!.messages.flatMap((m) => (m.role === 'tool' ? [m.callId] : []))
    expect(answered.sort()).toEqual(['a', 'b', 'c'])
  })

  it('completes after the last reply without another call or record', async () => {
    const rig = runRig({ transcript: [asked, result('a', 'r'), result('b', 'r'), result('c', 'r'), assistant('All done.')], turns: [] })
    expect(await rig.outcome).toEqual({ kind: 'completed', text: 'All done.', reply: null })
    expect(rig.requests).toEqual([])
  })

  it('asks the policy again about a call that had to wait', async () => {
    const rig = runRig({
      tools: [send],
      transcript: [assistant('', { callId: 'c', name: 'send', args: {} })],
      policy: () => ({ verdict: 'run' }),
      turns: [say('sent')],
    })
    expect(await rig.outcome).toMatchObject({ kind: 'completed' })
    expect(rig.started).toEqual(['c'])
    expect(rig.results).toMatchObject([{ callId: 'c', ok: true }])
  })

  it('runs a started read or idempotent call again', async () => {
    for (const effect of ['read', 'idempotent'] as const) {
      const rig = runRig({
        tools: [tool('t', { effect })],
        transcript: [assistant('', { callId: 'c', name: 't', args: {} })],
        startedCallIds: ['c'],
        turns: [say('ok')],
      })
      await rig.outcome
      expect(rig.results).toMatchObject([{ ok: true, output: 't ran' }])
    }
  })

  describe('a non-idempotent call that was started and has no result', () => {
    const transcript = [assistant('', { callId: 'c', name: 'send', args: {} })]
    const rigFor = (policy: Parameters<typeof runRig>[0]['policy'], run = vi.fn(() => ({ ok: true, output: 'sent' }))) => {
      const rig = runRig({
        tools: [tool('send', { effect: 'once', run })],
        transcript,
        startedCallIds: ['c'],
        policy,
        turns: [say('I see.')],
      })
      return { rig, run }
    }

    it('is not run again by a plain "run"', async () => {
      const { rig, run } = rigFor(() => ({ verdict: 'run' }))
      expect(await rig.outcome).toMatchObject({ kind: 'completed' })
      expect(run).not.toHaveBeenCalled()
      expect(rig.results).toMatchObject([{ ok: false, output: expect.stringMatching(/^The outcome is unknown: send had been started/) }])
    })

    it('is marked for the policy, which may wait for a person', async () => {
      const seen: boolean[] = []
      const { rig, run } = rigFor(({ startedBefore }) => {
        seen.push(startedBefore)
        return { verdict: 'wait', status: 'awaiting_approval' }
      })
      expect(await rig.outcome).toMatchObject({ kind: 'waiting', status: 'awaiting_approval' })
      expect(seen).toEqual([true])
      expect(run).not.toHaveBeenCalled()
    })

    it("accepts a person's answer that it happened", async () => {
      const { rig, run } = rigFor(() => ({ verdict: 'answer', ok: true, output: 'A person confirmed that it was sent.' }))
      await rig.outcome
      expect(run).not.toHaveBeenCalled()
      expect(rig.results).toMatchObject([{ ok: true, output: 'A person confirmed that it was sent.' }])
    })

    it('runs again if a person allows it, and the second start is recorded too', async () => {
      const { rig, run } = rigFor(() => ({ verdict: 'run', again: true }))
      await rig.outcome
      expect(run).toHaveBeenCalledTimes(1)
      expect(rig.started).toEqual(['c'])
    })

    it('has an unknown outcome even if the tool no longer exists', async () => {
      const rig = runRig({ transcript, startedCallIds: ['c'], turns: [say('ok')] })
      await rig.outcome
      expect(rig.results[0]!.output).toMatch(/^The outcome is unknown/)
    })
  })
})

describe('a lost claim ends the loop', () => {
  it.each(["reply ''", 'started c', 'result c'])('when it writes %s', async (write) => {
    const run = vi.fn(() => ({ ok: true, output: '' }))
    const rig = runRig({
      tools: [tool('send', { effect: 'once', run })],
      turns: [ask(call('c', 'send')), say('no')],
      loseClaimAt: (line) => line === write,
    })
    await expect(rig.outcome).rejects.toBeInstanceOf(StaleClaimError)
    expect(run).toHaveBeenCalledTimes(write === 'result c' ? 1 : 0)
    expect(rig.requests).toHaveLength(1)
    expect(rig.clock.sleepers()).toBe(0)
  })

  it('and stops the parallel tools without recording them', async () => {
    const aborted = Promise.withResolvers<void>()
    const other = tool('other', {
      parallel: true,
      run: (_, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            resolve({ ok: true, output: 'late' })
            aborted.resolve()
          }),
        ),
    })
    const rig = runRig({
      tools: [reader('r'), other],
      turns: [ask(call('b', 'other'), call('a', 'r'))],
      loseClaimAt: (line) => line === 'result a',
    })
    await expect(rig.outcome).rejects.toBeInstanceOf(StaleClaimError)
    await aborted.promise
    await new Promise((resolve) => setImmediate(resolve))
    expect(rig.results).toEqual([])
  })
})
