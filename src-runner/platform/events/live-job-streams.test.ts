import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LiveJobStream } from '../../contract/events.ts'
import type { Step } from '../../contract/jobs.ts'
import { createLiveJobStreams } from './live-job-streams.ts'

const attempt = { jobId: 'job', claim: 1 }
const toolStep = (seq: number): Step => ({ seq, kind: 'tool_started', attempt: 1, createdAt: 0, durationMs: 0, callId: 'c', name: 't' })
const replyStep = (seq: number, text: string): Step => ({
  seq,
  kind: 'reply',
  attempt: 1,
  createdAt: 0,
  durationMs: 0,
  text,
  toolCalls: [],
  model: { providerId: 'demo', model: 'demo' },
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  costUsd: 0,
  priced: true,
  estimated: false,
  interrupted: false,
})

function listen(liveStreams: ReturnType<typeof createLiveJobStreams>): { heard: LiveJobStream[]; stop: () => void } {
  const heard: LiveJobStream[] = []
  return { heard, stop: liveStreams.attach('job', (tail) => void heard.push(tail)) }
}

test('a listener gets the whole reply whenever it attaches', () => {
  const pieces = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(pieces, fc.nat(20), (texts, join) => {
      const liveStreams = createLiveJobStreams()
      liveStreams.begin(attempt, 4)
      let late: LiveJobStream[] = []
      texts.forEach((piece, i) => {
        if (i === join % texts.length) late = listen(liveStreams).heard
        liveStreams.delta(attempt, piece)
      })
      const text = late.map((tail) => (tail.type === 'delta' && tail.seq === 5 ? tail.text : '?')).join('')
      expect(text).toBe(texts.join(''))
    }),
  )
})

test('text has the number of its step, and is dropped when the step is recorded', () => {
  const liveStreams = createLiveJobStreams()
  liveStreams.begin(attempt, 0)
  liveStreams.delta(attempt, 'one')
  expect(liveStreams.textUnderWay('job')).toBe('one')
  liveStreams.step('job', replyStep(1, 'one'))
  liveStreams.step('job', toolStep(2))
  const { heard } = listen(liveStreams)
  liveStreams.delta(attempt, 'two')
  liveStreams.step('job', replyStep(3, 'two'))
  expect(heard).toEqual([
    { type: 'delta', seq: 3, text: 'two' },
    { type: 'step', step: replyStep(3, 'two') },
  ])
  expect(liveStreams.textUnderWay('job')).toBe('')
})

test('a late listener gets the tools that run, without those that have ended', () => {
  const liveStreams = createLiveJobStreams()
  liveStreams.begin(attempt, 0)
  liveStreams.tool(attempt, { callId: 'a', name: 'read', state: 'running' })
  liveStreams.tool(attempt, { callId: 'b', name: 'write', state: 'running' })
  liveStreams.tool(attempt, { callId: 'a', name: 'read', state: 'done' })
  expect(listen(liveStreams).heard).toEqual([{ type: 'tool', callId: 'b', name: 'write', state: 'running' }])
})

describe('an attempt that no longer owns the job', () => {
  test.each(['released', 'finished', 'replaced'] as const)('is ignored when it was %s', (how) => {
    const liveStreams = createLiveJobStreams()
    liveStreams.begin(attempt, 0)
    if (how === 'released') liveStreams.release('job')
    if (how === 'finished') liveStreams.finished('job', 'cancelled')
    if (how === 'replaced') liveStreams.begin({ jobId: 'job', claim: 2 }, 3)
    const { heard } = listen(liveStreams)
    liveStreams.delta(attempt, 'ghost')
    liveStreams.tool(attempt, { callId: 'a', name: 'read', state: 'running' })
    expect(heard).toEqual([])
    expect(liveStreams.textUnderWay('job')).toBe('')
  })
})

test('listeners are independent, even if one throws', () => {
  const liveStreams = createLiveJobStreams()
  liveStreams.begin(attempt, 0)
  const same: LiveJobStream[] = []
  const listener = (tail: LiveJobStream) => void same.push(tail)
  const stopFirst = liveStreams.attach('job', listener)
  liveStreams.attach('job', listener)
  liveStreams.attach('job', () => {
    throw new Error('oops')
  })
  stopFirst()
  stopFirst()
  liveStreams.waiting('job', 'awaiting_approval')
  expect(same).toEqual([{ type: 'waiting', status: 'awaiting_approval' }])
})

test('an endless reply is streamed, but only its beginning is kept', () => {
  const liveStreams = createLiveJobStreams()
  liveStreams.begin(attempt, 0)
  const { heard } = listen(liveStreams)
  const piece = 'x'.repeat(1_500_000)
  for (let i = 0; i < 4; i++) liveStreams.delta(attempt, piece)
  liveStreams.delta(attempt, 'end')
  expect(heard).toHaveLength(5)
  expect(liveStreams.textUnderWay('job')).toHaveLength(3_000_000)
  liveStreams.step('job', replyStep(1, ''))
  liveStreams.delta(attempt, 'next')
  expect(liveStreams.textUnderWay('job')).toBe('next')
})

test('the output of a running tool reaches all listeners, late ones too, until the call ends', () => {
  const liveStreams = createLiveJobStreams()
  liveStreams.begin(attempt, 1)
  liveStreams.toolOutput(attempt, 'c', 'too early')
  liveStreams.tool(attempt, { callId: 'c', name: 'run', state: 'running' })
  const early = listen(liveStreams).heard
  liveStreams.toolOutput(attempt, 'c', 'one ')
  liveStreams.toolOutput({ ...attempt, claim: 0 }, 'c', 'from an attempt that is over')
  liveStreams.toolOutput(attempt, 'c', 'two')
  const late = listen(liveStreams).heard
  const outputOf = (heard: LiveJobStream[]) => heard.flatMap((tail) => (tail.type === 'tool_output' ? [tail.text] : []))
  expect([outputOf(early), outputOf(late)]).toEqual([['one ', 'two'], ['one two']])
  liveStreams.toolOutput(attempt, 'c', 'x'.repeat(50_000))
  expect(outputOf(listen(liveStreams).heard)).toEqual(['x'.repeat(20_000)])
  liveStreams.tool(attempt, { callId: 'c', name: 'run', state: 'done' })
  liveStreams.toolOutput(attempt, 'c', 'too late')
  expect([outputOf(early).length, outputOf(listen(liveStreams).heard)]).toEqual([3, []])
})
