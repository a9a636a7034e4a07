import { expect, it } from 'vitest'
import { replyStep, resultStep, startedStep } from '../testing/step-builders.ts'
import { transcriptOf } from './transcript.ts'

const a = { callId: 'a', name: 'read_file', args: { path: 'x' } }
const b = { callId: 'b', name: 'send', args: {} }

it('is empty before the first step', () => {
  expect(transcriptOf([])).toEqual({ messages: [], startedCallIds: new Set() })
})

it('puts results after their reply, in the order of the calls', () => {
  const steps = [
    replyStep('Looking.', [a, b]),
    startedStep('b', 'send'),
    resultStep('b', 'sent'),
    resultStep('a', 'text'),
    replyStep('Done.'),
  ]
  expect(transcriptOf(steps)).toEqual({
    messages: [
      { role: 'assistant', text: 'Looking.', toolCalls: [a, b] },
      { role: 'tool', callId: 'a', name: 'a', output: 'text', ok: true },
      { role: 'tool', callId: 'b', name: 'b', output: 'sent', ok: true },
      { role: 'assistant', text: 'Done.', toolCalls: [] },
    ],
    startedCallIds: new Set(),
  })
})

it('names calls that were started and have no result', () => {
  const steps = [replyStep('', [a, b]), resultStep('a', 'text'), startedStep('b', 'send')]
  expect(transcriptOf(steps).startedCallIds).toEqual(new Set(['b']))
})

it('leaves out interrupted replies', () => {
  expect(transcriptOf([replyStep('Half a sent', [], { interrupted: true }), replyStep('A whole one.')]).messages).toEqual([
    { role: 'assistant', text: 'A whole one.', toolCalls: [] },
  ])
})
