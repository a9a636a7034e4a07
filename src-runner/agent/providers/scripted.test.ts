import { quote } from '../../lib/messages.ts'
import { expect, it } from 'vitest'
import { createHandClock } from '../../testing/hand-clock.ts'
import { failure } from './failures.ts'
import type { ModelEvent, ModelRequest, PromptMessage } from './model.ts'
import { createScriptedModel, inOrder, type ScriptReply } from './scripted.ts'

const clock = createHandClock()
const asked: PromptMessage[] = [{ role: 'user', text: 'Go' }]

async function play(replies: ScriptReply[], messages = asked): Promise<ModelEvent[]> {
  const model = createScriptedModel(inOrder(replies), { clock })
  const request: ModelRequest = { model: 'scripted', messages, tools: [], maxOutputTokens: null }
  const events: ModelEvent[] = []
  for await (const event of model.stream(request, new AbortController().signal)) events.push(event)
  return events
}

it('plays text, reasoning and tool calls, and finishes accordingly', async () => {
  const reply: ScriptReply = {
    parts: [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Two calls.' },
      { type: 'tool_call', name: 'a', args: { x: 1 } },
      { type: 'tool_call', name: 'b', argsText: '{half' },
    ],
    usage: { input: 9, output: 3, cached: 0 },
  }
  expect(await play([reply])).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Two calls.' },
    { type: 'tool_call', callId: 'call_1', name: 'a', args: { x: 1 }, argsValid: true },
    { type: 'tool_call', callId: 'call_2', name: 'b', args: '{half', argsValid: false },
    { type: 'finish', reason: 'tool_calls', usage: { input: 9, output: 3, cached: 0 } },
  ])
})

it('continues from the transcript, numbers calls on, and repeats its last reply', async () => {
  const call: ScriptReply = { parts: [{ type: 'tool_call', name: 'a', args: {} }] }
  const after: PromptMessage[] = [
    { role: 'user', text: 'Earlier' },
    { role: 'assistant', text: 'Earlier answer', toolCalls: [] },
    ...asked,
    { role: 'assistant', text: '', toolCalls: [{ callId: 'call_1', name: 'a', args: {} }] },
    { role: 'tool', callId: 'call_1', name: 'a', output: 'ok', ok: true },
  ]
  const replies = [call, call, { parts: [{ type: 'text' as const, text: 'End' }] }]
  expect((await play(replies, after))[0]).toMatchObject({ callId: 'call_2' })
  const done: PromptMessage[] = [...after, ...after.slice(3), ...after.slice(3)]
  expect((await play(replies, done))[0]).toEqual({ type: 'text', text: 'End' })
})

it('fails as scripted, with nothing after', async () => {
  const trouble = failure('overloaded', quote('Too much.'))
  const events = await play([
    {
      parts: [
        { type: 'text', text: 'One' },
        { type: 'fail', failure: trouble },
        { type: 'text', text: 'Two' },
      ],
    },
  ])
  expect(events).toEqual([
    { type: 'text', text: 'One' },
    { type: 'failed', failure: trouble, usage: null },
  ])
})

it('loses no character word by word', async () => {
  const text = '  Two\n\nparagraphs,  and a list:\n- one\n- two \n'
  const hurried = createHandClock()
  const model = createScriptedModel(() => ({ parts: [{ type: 'text', text, wordMs: 10 }] }), { clock: hurried })
  let said = ''
  const listening = (async () => {
    const request: ModelRequest = { model: 'scripted', messages: asked, tools: [], maxOutputTokens: null }
    for await (const event of model.stream(request, new AbortController().signal)) if (event.type === 'text') said += event.text
  })()
  for (let word = 0; word < 9; word++) {
    await hurried.untilSleeping(() => true)
    hurried.advance(10)
  }
  await listening
  expect(said).toBe(text)
})
