import { expect, it } from 'vitest'
import { makeApproval } from '../../testing/things.ts'
import { withDecisions } from './placed-decisions.ts'
import type { ToolItem, TurnItem } from './turn.ts'

const text: TurnItem = { kind: 'text', key: 'text:1', text: 'I look.', reasoning: '', live: false, interrupted: false, step: null }

function call(key: string, callId: string, resultAt: number | null = null): ToolItem {
  const result: ToolItem['result'] =
    resultAt === null
      ? null
      : { kind: 'tool_result', seq: 2, attempt: 1, createdAt: resultAt, durationMs: 1, callId, name: 'send', ok: true, output: '' }
  return { kind: 'tool', key, callId, name: 'send', args: {}, state: 'asked', startedAt: null, result, output: '' }
}

const keys = (...given: Parameters<typeof withDecisions>) =>
  withDecisions(...given).map(({ kind, key }) => (kind === 'decision' ? kind : key))

it('puts an approval under its call, or at the end before the call is known', () => {
  const approval = makeApproval({ callId: 'c1' })
  expect(keys([text], [approval])).toEqual(['text:1', 'decision'])
  expect(keys([text, call('a', 'c1'), call('b', 'c2')], [approval])).toEqual(['text:1', 'a', 'decision', 'b'])
  expect(keys([text, call('a', 'c1')], [makeApproval({ kind: 'budget', callId: null })])).toEqual(['text:1', 'a', 'decision'])
})

it('shows an approval once although two calls have the same id', () => {
  const approval = makeApproval({ callId: '0', createdAt: 50 })
  expect(keys([call('first', '0', 10), call('second', '0')], [approval])).toEqual(['first', 'second', 'decision'])
  expect(keys([call('first', '0', 60), call('second', '0')], [approval])).toEqual(['first', 'decision', 'second'])
})
