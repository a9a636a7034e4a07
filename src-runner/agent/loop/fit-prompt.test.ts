import { quote } from '../../lib/messages.ts'
import { describe, expect, it } from 'vitest'
import { ask, assistant, call, fail, finish, result, runRig, say, text, tool, type RigOptions } from '../../testing/loop-rig.ts'
import type { ModelEvent, ModelRequest, PromptMessage } from '../providers/model.ts'
import { maxTokensOfRequest } from '../providers/prompt-size.ts'
import type { TooLong } from '../providers/prompt-too-long.ts'

/** What a job has behind it that read this many files. */
function filesRead(count: number, chars = 3000): PromptMessage[] {
  return Array.from({ length: count }, (_, n) => [
    assistant('', { callId: `f${n}`, name: 'read', args: { path: `file-${n}` } }),
    result(`f${n}`, 'read', `file ${n} `.repeat(chars / 8)),
  ]).flat()
}

const read = tool('read', { run: () => ({ ok: true, output: 'one more file '.repeat(200) }) })
const tooLong = (tooLong: TooLong = { windowTokens: null, promptTokens: null }): ModelEvent[] => [
  fail({ kind: 'context_too_long', retryable: false, status: 400, message: quote('Acme says it is too long.'), tooLong }),
]
const run = (options: RigOptions) => runRig({ tools: [read], transcript: filesRead(20), ...options })

function emptied(request: ModelRequest): string[] {
  return request.messages.flatMap((message) => (message.role === 'tool' && message.output.startsWith('[Left out') ? [message.callId] : []))
}

describe('a job that no longer fits its model', () => {
  it('loses its oldest results and keeps instructions, task and newest result', async () => {
    const rig = run({ turns: [say('done')], windows: { main: 16_000 } })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'done' })
    const [sent] = rig.requests
    expect(maxTokensOfRequest(sent!)).toBeLessThanOrEqual(12_000)
    expect(sent!.messages.slice(0, 2)).toEqual([
      { role: 'system', text: 'You are Ada.' },
      { role: 'user', text: 'Do the thing.' },
    ])
    expect(sent!.messages.at(-1)).toEqual(filesRead(20).at(-1))
    expect(emptied(sent!)).toContain('f0')
    expect(rig.log).toContainEqual(expect.stringMatching(/^activity model \d+ older messages left out to save space$/))
  })

  it('is sent whole if it fits, or if the context window is unknown', async () => {
    for (const windows of [undefined, { main: 200_000 }]) {
      const rig = run({ turns: [say('done')], windows })
      await rig.outcome
      expect(rig.requests[0]!.messages).toHaveLength(42)
      expect(emptied(rig.requests[0]!)).toEqual([])
    }
  })

  it('is truncated in one step, so that the next prompts begin the same', async () => {
    const rig = run({ turns: [ask(call('a', 'read')), ask(call('b', 'read')), say('done')], windows: { main: 16_000 } })
    await rig.outcome
    const [first, second, third] = rig.requests
    expect(second!.messages.slice(0, first!.messages.length)).toEqual(first!.messages)
    expect(third!.messages.slice(0, second!.messages.length)).toEqual(second!.messages)
  })

  it('keeps everything in its record', async () => {
    const rig = run({ turns: [ask(call('a', 'read')), say('done')], windows: { main: 8_000 } })
    await rig.outcome
    expect(rig.results).toMatchObject([{ callId: 'a', output: 'one more file '.repeat(200) }])
  })

  it('is measured by the count of the provider if that is higher than the estimate', async () => {
    // Twice as many tokens as estimated: what fitted once does not fit again.
    const dense: ModelEvent[] = [call('a', 'read'), finish('tool_calls', { input: 44_000, output: 5, cached: 0 })]
    const rig = run({ turns: [dense, say('done')], windows: { main: 60_000 } })
    await rig.outcome
    expect(emptied(rig.requests[0]!)).toEqual([])
    expect(emptied(rig.requests[1]!)).toContain('f0')
  })
})

describe('a model that refuses a prompt for its length', () => {
  it('gets a much shorter prompt at once', async () => {
    const rig = run({ turns: [tooLong(), ask(call('a', 'read')), say('done')] })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'done' })
    const sizes = rig.requests.map(maxTokensOfRequest)
    expect(sizes[1]).toBeLessThan(sizes[0]! * 0.61)
    // What was refused once is not tried again by the next call.
    expect(sizes[2]).toBeLessThan(sizes[0]! * 0.61)
    expect(rig.log.filter((line) => line.startsWith('activity retry_wait'))).toEqual([])
    expect(rig.replies).toHaveLength(1)
    expect(rig.replies[0]).toMatchObject({ usage: { input: 100, output: 10 }, costMicros: 450 })
  })

  it('teaches its context window by the numbers in the refusal', async () => {
    const rig = run({ turns: [tooLong({ windowTokens: 8_192, promptTokens: 21_000 }), say('done')] })
    await rig.outcome
    expect(maxTokensOfRequest(rig.requests[1]!)).toBeLessThanOrEqual(6_144)
  })

  it('gets two shorter prompts at most; then the job says what is too long', async () => {
    const rig = run({ turns: [tooLong(), tooLong(), tooLong(), say('never')] })
    const outcome = await rig.outcome
    expect(outcome).toMatchObject({ kind: 'failed', error: 'model_context_too_long' })
    expect(outcome).toMatchObject({ message: { code: 'job_too_long', params: { model: 'main', provider: 'Acme' } } })
    expect(rig.requests).toHaveLength(3)
    expect(rig.replies).toEqual([])
  })

  it('is not called again if nothing more can be left out', async () => {
    const rig = run({ transcript: [], turns: [tooLong(), say('never')] })
    expect(await rig.outcome).toMatchObject({ kind: 'failed', error: 'model_context_too_long' })
    expect(rig.requests).toHaveLength(1)
  })

  it('falls back to a model with a larger window, which gets the whole prompt', async () => {
    const rig = run({ models: { small: [tooLong(), tooLong(), tooLong()], large: [say('done')] }, windows: { large: 200_000 } })
    expect(await rig.outcome).toMatchObject({ kind: 'completed', text: 'done', reply: { model: { model: 'large' } } })
    expect(emptied(rig.requests.at(-1)!)).toEqual([])
  })

  it('is not called again if it refused in the middle of a reply', async () => {
    const rig = run({ turns: [[text('It is '), ...tooLong()], say('never')] })
    expect(await rig.outcome).toMatchObject({ kind: 'failed', error: 'model_context_too_long', text: 'It is ' })
    expect(rig.requests).toHaveLength(1)
  })
})
