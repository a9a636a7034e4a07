import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JobTail } from '../../contract/events.ts'
import type { Step } from '../../contract/jobs.ts'
import { createJobTails } from './job-tails.ts'

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

function listen(tails: ReturnType<typeof createJobTails>): { heard: JobTail[]; stop: () => void } {
  const heard: JobTail[] = []
  return { heard, stop: tails.attach('job', (tail) => void heard.push(tail)) }
}

test('whenever somebody joins, text so far and text that follows make the whole reply', () => {
  const pieces = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(pieces, fc.nat(20), (said, join) => {
      const tails = createJobTails()
      tails.begin(attempt, 4)
      let late: JobTail[] = []
      said.forEach((piece, i) => {
        if (i === join % said.length) late = listen(tails).heard
        tails.delta(attempt, piece)
      })
      const text = late.map((tail) => (tail.type === 'delta' && tail.seq === 5 ? tail.text : '?')).join('')
      expect(text).toBe(said.join(''))
    }),
  )
})

test('text belongs to the step it will be part of, and is forgotten when that is recorded', () => {
  const tails = createJobTails()
  tails.begin(attempt, 0)
  tails.delta(attempt, 'one')
  expect(tails.textUnderWay('job')).toBe('one')
  tails.step('job', replyStep(1, 'one'))
  tails.step('job', toolStep(2))
  const { heard } = listen(tails)
  tails.delta(attempt, 'two')
  tails.step('job', replyStep(3, 'two'))
  expect(heard).toEqual([
    { type: 'delta', seq: 3, text: 'two' },
    { type: 'step', step: replyStep(3, 'two') },
  ])
  expect(tails.textUnderWay('job')).toBe('')
})

test('tools that run are told to whoever joins, those that ended are not', () => {
  const tails = createJobTails()
  tails.begin(attempt, 0)
  tails.tool(attempt, { callId: 'a', name: 'read', state: 'running' })
  tails.tool(attempt, { callId: 'b', name: 'write', state: 'running' })
  tails.tool(attempt, { callId: 'a', name: 'read', state: 'done' })
  expect(listen(tails).heard).toEqual([{ type: 'tool', callId: 'b', name: 'write', state: 'running' }])
})

describe('an attempt that is no longer the present one', () => {
  test.each(['released', 'finished', 'replaced'] as const)('%s: what it still says goes nowhere', (how) => {
    const tails = createJobTails()
    tails.begin(attempt, 0)
    if (how === 'released') tails.release('job')
    if (how === 'finished') tails.finished('job', 'cancelled')
    if (how === 'replaced') tails.begin({ jobId: 'job', claim: 2 }, 3)
    const { heard } = listen(tails)
    tails.delta(attempt, 'ghost')
    tails.tool(attempt, { callId: 'a', name: 'read', state: 'running' })
    expect(heard).toEqual([])
    expect(tails.textUnderWay('job')).toBe('')
  })
})

test('listeners come and go on their own, and one that throws disturbs nobody', () => {
  const tails = createJobTails()
  tails.begin(attempt, 0)
  const same: JobTail[] = []
  const listener = (tail: JobTail) => void same.push(tail)
  const stopFirst = tails.attach('job', listener)
  tails.attach('job', listener)
  tails.attach('job', () => {
    throw new Error('oops')
  })
  stopFirst()
  stopFirst()
  tails.waiting('job', 'awaiting_approval')
  expect(same).toEqual([{ type: 'waiting', status: 'awaiting_approval' }])
})

test('an endless reply is passed on, but only so much of it is kept', () => {
  const tails = createJobTails()
  tails.begin(attempt, 0)
  const { heard } = listen(tails)
  const piece = 'x'.repeat(1_500_000)
  for (let i = 0; i < 4; i++) tails.delta(attempt, piece)
  tails.delta(attempt, 'end')
  expect(heard).toHaveLength(5)
  expect(tails.textUnderWay('job')).toHaveLength(3_000_000)
  tails.step('job', replyStep(1, ''))
  tails.delta(attempt, 'next')
  expect(tails.textUnderWay('job')).toBe('next')
})

test('what a running tool says is heard by all, told again to who comes late, and over with the call', () => {
  const tails = createJobTails()
  tails.begin(attempt, 1)
  tails.toolOutput(attempt, 'c', 'too early')
  tails.tool(attempt, { callId: 'c', name: 'run', state: 'running' })
  const early = listen(tails).heard
  tails.toolOutput(attempt, 'c', 'one ')
  tails.toolOutput({ ...attempt, claim: 0 }, 'c', 'from an attempt that is over')
  tails.toolOutput(attempt, 'c', 'two')
  const late = listen(tails).heard
  const said = (heard: JobTail[]) => heard.flatMap((tail) => (tail.type === 'tool_output' ? [tail.text] : []))
  expect([said(early), said(late)]).toEqual([['one ', 'two'], ['one two']])
  tails.toolOutput(attempt, 'c', 'x'.repeat(50_000))
  expect(said(listen(tails).heard)).toEqual(['x'.repeat(20_000)])
  tails.tool(attempt, { callId: 'c', name: 'run', state: 'done' })
  tails.toolOutput(attempt, 'c', 'too late')
  expect([said(early).length, said(listen(tails).heard)]).toEqual([3, []])
})
