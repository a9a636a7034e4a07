import { quote } from '../../testing/things.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ChatStreamEvent, ReplyStep, Step, ToolResultStep, ToolStartedStep } from '../../../src-runner/contract/jobs.ts'
import { EMPTY_TURN, reduceTurn, type TurnInput, turnFigures, turnItems, type TurnState } from './turn.ts'

const JOB = '0197a5a0-0000-7000-8000-000000000001'
const CONVERSATION = '0197a5a0-0000-7000-8000-000000000002'

function reply(seq: number, text: string, calls: string[] = [], rest: Partial<ReplyStep> = {}): ReplyStep {
  return {
    kind: 'reply',
    seq,
    attempt: 1,
    createdAt: seq * 1000,
    durationMs: 100,
    text,
    toolCalls: calls.map((callId) => ({ callId, name: 'read_file', args: { path: `${callId}.md` } })),
    model: { providerId: 'p', model: 'm' },
    inputTokens: 100,
    outputTokens: 10,
    cachedTokens: 50,
    costUsd: 0.01,
    priced: true,
    estimated: false,
    interrupted: false,
    ...rest,
  }
}

function result(seq: number, callId: string, ok = true): ToolResultStep {
  return {
    kind: 'tool_result',
    seq,
    attempt: 1,
    createdAt: seq * 1000,
    durationMs: 5,
    callId,
    name: 'read_file',
    ok,
    output: `output of ${callId}`,
  }
}

function started(seq: number, callId: string): ToolStartedStep {
  return { kind: 'tool_started', seq, attempt: 1, createdAt: seq * 1000, durationMs: 0, callId, name: 'read_file' }
}

function delta(seq: number, text: string): ChatStreamEvent {
  return { type: 'delta', seq, text }
}

function tool(callId: string, state: 'running' | 'done' | 'failed' | 'denied'): ChatStreamEvent {
  return { type: 'tool', callId, name: 'read_file', state }
}

function done(status: 'completed' | 'failed' | 'cancelled' | 'awaiting_approval', text = ''): ChatStreamEvent {
  return { type: 'done', reply: text, jobId: JOB, conversationId: CONVERSATION, status, costUsd: 0.01 }
}

function after(...inputs: TurnInput[]): TurnState {
  return inputs.reduce(reduceTurn, EMPTY_TURN)
}

/** One line an item, as a person would say it. */
function shown(state: TurnState): string[] {
  return turnItems(state).map((item) =>
    item.kind === 'text' ? `${item.text}${item.live ? '…' : ''}${item.interrupted ? ' (cut off)' : ''}` : `${item.callId} ${item.state}`,
  )
}

describe('a turn as it is shown', () => {
  const steps = (...list: Step[]): TurnInput => ({ type: 'steps', steps: list })

  it.each<[string, TurnInput[], string[]]>([
    ['nothing yet', [{ type: 'start', jobId: JOB, conversationId: CONVERSATION }], []],
    ['text grows', [delta(1, 'Hel'), delta(1, 'lo')], ['Hello…']],
    ['a recorded reply is whole', [delta(1, 'Hel'), steps(reply(1, 'Hello'))], ['Hello']],
    ['a step from the stream', [delta(1, 'Hel'), { type: 'step', step: reply(1, 'Hello') }, delta(2, 'You')], ['Hello', 'You…']],
    ['text of a recorded step is ignored', [steps(reply(1, 'Hello')), delta(1, 'Hel'), delta(1, 'lo')], ['Hello']],
    [
      'after a reload the first text is all of it',
      [delta(1, 'Hel'), { type: 'attached' }, delta(1, 'Hello'), delta(1, ' you')],
      ['Hello you…'],
    ],
    ['until it comes, the text heard before stays', [delta(1, 'Hel'), { type: 'attached' }], ['Hel…']],
    ['a reply that starts over', [delta(1, 'Hel'), { type: 'reset', seq: 1 }, delta(1, 'Good'), delta(1, 'bye')], ['Goodbye…']],
    ['a reset of something else', [delta(1, 'Hel'), tool('c1', 'running'), { type: 'reset', seq: 3 }], ['Hel…', 'c1 running']],
    ['calls not recorded yet', [delta(1, 'I look.'), tool('c1', 'running')], ['I look.…', 'c1 running']],
    [
      'the answer after a call that is not recorded yet',
      [delta(1, 'I look.'), tool('c1', 'running'), tool('c1', 'done'), delta(3, 'It says')],
      ['I look.…', 'c1 done', 'It says…'],
    ],
    ['a recorded call that runs', [steps(reply(1, 'I look.', ['c1'])), tool('c1', 'running')], ['I look.', 'c1 running']],
    ['a denied call', [steps(reply(1, '', ['c1'])), tool('c1', 'denied')], ['', 'c1 denied']],
    ['a late "running" does not start a call again', [tool('c1', 'done'), tool('c1', 'running')], ['c1 done']],
    [
      'news of a call whose result is recorded',
      [steps(reply(1, '', ['c1']), result(2, 'c1')), tool('c1', 'running'), tool('c1', 'done')],
      ['', 'c1 done'],
    ],
    ['a call that was refused', [steps(reply(1, '', ['c1']), { ...result(2, 'c1', false), refused: true })], ['', 'c1 denied']],
    ['a failed call', [steps(reply(1, '', ['c1']), result(2, 'c1', false))], ['', 'c1 failed']],
    ['a call written down as started', [steps(reply(1, '', ['c1']), started(2, 'c1'))], ['', 'c1 running']],
    ['started, then the job ended', [steps(reply(1, '', ['c1']), started(2, 'c1')), done('failed')], ['', 'c1 lost']],
    [
      'a provider that numbers its calls again in each reply',
      [steps(reply(1, 'a', ['0']), result(2, '0', false), reply(3, 'b', ['0']), result(4, '0'))],
      ['a', '0 failed', 'b', '0 done'],
    ],
    ['steps that arrive backwards', [steps(result(2, 'c1')), steps(reply(1, 'a', ['c1']))], ['a', 'c1 done']],
    ['an outcome after text was heard', [delta(1, 'Hello'), done('completed', 'Hello')], ['Hello']],
    [
      'an outcome of several replies does not repeat them',
      [delta(1, 'One.'), tool('c1', 'done'), delta(3, 'Two.'), done('completed', 'One. Two.')],
      ['One.', 'c1 done', 'Two.'],
    ],
    [
      'a failed job ends with its error',
      [delta(1, 'I look.'), tool('c1', 'running'), { type: 'error', error: 'internal', message: 'It broke.', detail: quote('It broke.') }],
      ['I look.', 'c1 lost'],
    ],
    ['an outcome without any text heard', [done('completed', 'Hello')], ['Hello']],
    ['Stop keeps what was written', [delta(1, 'Half an ans'), done('cancelled', '')], ['Half an ans']],
    [
      'a reply cut off, as recorded',
      [delta(1, 'Half'), done('cancelled'), steps(reply(1, 'Half an', ['c1'], { interrupted: true }))],
      ['Half an (cut off)'],
    ],
    ['waiting is not an outcome', [steps(reply(1, 'May I?', ['c1'])), done('awaiting_approval')], ['May I?', 'c1 asked']],
  ])('%s', (_, inputs, expected) => {
    expect(shown(after(...inputs))).toEqual(expected)
  })

  it('keeps the error of the stream until it is attached again', () => {
    const failed = after({ type: 'error', error: 'internal', message: 'It broke.', detail: quote('It broke.') })
    expect(failed.error).toEqual({ code: 'internal', message: quote('It broke.') })
    expect(reduceTurn(failed, { type: 'attached' }).error).toBeNull()
  })

  it('returns the same object for old news', () => {
    const state = after(steps(reply(1, 'a')))
    expect(reduceTurn(state, steps(reply(1, 'a')))).toBe(state)
    expect(reduceTurn(state, delta(1, 'a'))).toBe(state)
  })
})

/** A whole job as the runner does it: what it records, and what it says on the way. */
type Moment = { say: ChatStreamEvent } | { record: Step }

const job = fc
  .array(
    fc.record({
      words: fc.array(fc.constantFrom('one ', 'two ', '**three** ', '\n'), { maxLength: 5 }),
      calls: fc.nat(2),
      breaks: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((turns) => {
    const moments: Moment[] = []
    let seq = 0
    turns.forEach(({ words, calls, breaks }, turn) => {
      const replySeq = ++seq
      const ids = turn === turns.length - 1 ? [] : Array.from({ length: calls + 1 }, (_, n) => `c${turn}.${n}`)
      if (breaks) moments.push({ say: delta(replySeq, words.slice(0, 2).join('')) }, { say: { type: 'reset', seq: replySeq } })
      for (const word of words) moments.push({ say: delta(replySeq, word) })
      moments.push({ record: reply(replySeq, words.join(''), ids) })
      for (const id of ids) {
        moments.push({ say: tool(id, 'running') })
        moments.push({ record: result(++seq, id) })
        moments.push({ say: tool(id, 'done') })
      }
    })
    return { moments, last: turns.at(-1)!.words.join('') }
  })

describe('any job, heard in any way', () => {
  it('ends as its record, and never repeats or invents a word', () => {
    fc.assert(
      fc.property(job, fc.infiniteStream(fc.nat(9)), ({ moments, last }, dice) => {
        const truth = moments.filter((moment) => 'record' in moment).map((moment) => moment.record)
        const textOf = new Map(truth.filter((step) => step.kind === 'reply').map((step) => [`text:${step.seq}`, step.text]))
        // An outcome that is heard before its step stands in for it.
        textOf.set('text:end', last)
        const recorded: Step[] = []
        let underWay = null as { seq: number; text: string } | null
        let state = EMPTY_TURN
        const hear = (input: TurnInput) => {
          state = reduceTurn(state, input)
          const items = turnItems(state)
          expect(new Set(items.map((item) => item.key)).size).toBe(items.length)
          for (const item of items) if (item.kind === 'text') expect(textOf.get(item.key)!.startsWith(item.text), item.text).toBe(true)
        }
        for (const moment of moments) {
          if ('record' in moment) {
            recorded.push(moment.record)
            underWay = null
          } else if (moment.say.type === 'delta') {
            underWay = { seq: moment.say.seq, text: (underWay?.text ?? '') + moment.say.text }
          } else if (moment.say.type === 'reset') {
            underWay = null
          }
          const die = dice.next().value!
          if (die === 0) {
            // The page was reloaded or the line broke: what was said in this moment is lost, the stream opens again.
            if (dice.next().value! < 5) state = EMPTY_TURN
            hear({ type: 'attached' })
            if (underWay !== null) hear(delta(underWay.seq, underWay.text))
          } else if ('say' in moment) {
            hear(moment.say)
            if (moment.say.type === 'tool' && die === 1) hear(moment.say)
          }
          if ('record' in moment && die > 2) hear({ type: 'step', step: moment.record })
          if (die > 6) hear({ type: 'steps', steps: recorded.slice(dice.next().value! % (recorded.length + 1)) })
        }
        if (dice.next().value! < 5) hear(done('completed', last))
        hear({ type: 'steps', steps: truth.toReversed() })
        expect(turnItems(state)).toEqual(turnItems(after({ type: 'steps', steps: truth })))
      }),
      { numRuns: 500 },
    )
  })
})

describe('figures', () => {
  it('adds up the model calls and reports unknown prices', () => {
    const steps = [
      reply(1, 'a', ['c1']),
      result(2, 'c1'),
      reply(3, 'b', [], { model: { providerId: 'q', model: 'n' }, costUsd: 0, priced: false, estimated: true }),
      reply(4, 'c'),
    ]
    expect(turnFigures(steps)).toEqual({
      models: [
        { providerId: 'p', model: 'm' },
        { providerId: 'q', model: 'n' },
      ],
      inputTokens: 300,
      outputTokens: 30,
      cachedTokens: 150,
      costUsd: 0.02,
      priced: false,
      estimated: true,
      calls: 3,
    })
  })
})

describe('what a program says while it runs', () => {
  const running: ChatStreamEvent = { type: 'tool', callId: 'c', name: 'run_command', state: 'running' }
  const says = (text: string): ChatStreamEvent => ({ type: 'tool_output', callId: 'c', text })
  const outputOf = (...inputs: TurnInput[]) => {
    const [item] = turnItems(inputs.reduce(reduceTurn, EMPTY_TURN))
    return item?.kind === 'tool' ? item.output : undefined
  }

  it('grows with the stream, and starts again with a new one', () => {
    expect(outputOf(running, says('one '), says('two'))).toBe('one two')
    expect(outputOf(running, says('one '), { type: 'attached' }, running, says('one two'))).toBe('one two')
  })

  it('keeps its end, and is dropped with the call', () => {
    expect(outputOf(running, says('x'.repeat(30_000)))!.length).toBe(20_000)
    expect(outputOf(running, says('one'), { type: 'tool', callId: 'c', name: 'run_command', state: 'done' })).toBe('')
    expect(outputOf(says('of nothing'))).toBeUndefined()
  })
})
