import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cpuMsOf } from '../../testing/cpu-time.ts'
import { assistant, result } from '../../testing/loop-rig.ts'
import type { PromptMessage } from '../providers/model.ts'
import { maxTokensOfMessage } from '../providers/prompt-size.ts'
import { EARLIER_LEFT_OUT, truncatePrompt, STEPS_LEFT_OUT } from './truncate-prompt.ts'

const SYSTEM: PromptMessage = { role: 'system', text: 'You are Ada. Never send anything to anybody.' }
const TASK: PromptMessage = { role: 'user', text: 'Read all files and tell me the sum.' }

const sizeOf = (messages: readonly PromptMessage[]) => messages.reduce((sum, message) => sum + maxTokensOfMessage(message), 0)
const user = (text: string): PromptMessage => ({ role: 'user', text })

/** A round that reads one file of this many characters. */
function round(n: number, chars: number): PromptMessage[] {
  const callId = `call-${n}`
  return [
    assistant(`I read file ${n}.`, { callId, name: 'read_file', args: { path: `file-${n}` } }),
    result(callId, 'read_file', `file ${n}: ${'words and more '.repeat(chars / 15)}end of ${n}`),
  ]
}

function turn(n: number, chars: number): PromptMessage[] {
  return [user(`Question ${n}?`), ...round(1000 + n, chars), assistant(`Answer ${n}.`)]
}

const roundsOf = (count: number, chars: number) => Array.from({ length: count }, (_, n) => round(n, chars)).flat()

describe('a prompt that does not fit', () => {
  it('is unchanged while it fits', () => {
    const messages = [SYSTEM, TASK, ...roundsOf(3, 300)]
    expect(truncatePrompt(messages, 1, sizeOf(messages))).toEqual({ messages, tokens: sizeOf(messages), leftOut: 0 })
  })

  it('first loses tool results of earlier turns', () => {
    const earlier = [...turn(1, 3000), ...turn(2, 3000)]
    const messages = [SYSTEM, ...earlier, TASK, ...round(0, 300)]
    const { messages: kept, leftOut } = truncatePrompt(messages, 1 + earlier.length, sizeOf(messages) - 100)
    expect(kept.filter(({ role }) => role === 'user')).toEqual([user('Question 1?'), user('Question 2?'), TASK])
    expect(kept.filter((message) => message.role === 'tool' && message.output.includes('words and more'))).toEqual([round(0, 300)[1]])
    expect(leftOut).toBe(2)
  })

  it('then loses the oldest turns, with a mark', () => {
    const earlier = Array.from({ length: 8 }, (_, n) => [user(`Question ${n}? ${'why '.repeat(200)}`), assistant(`Answer ${n}.`)]).flat()
    const messages = [SYSTEM, ...earlier, TASK]
    const { messages: kept } = truncatePrompt(messages, messages.length - 1, Math.round(sizeOf(messages) * 0.9))
    const asked = kept.flatMap((message) => (message.role === 'user' ? [message.text] : []))
    expect(asked[0]).toMatch(/^\[Earlier turns of this conversation are left out here\.\]\n\nQuestion [3-6]\?/)
    expect(asked.at(-2)).toContain('Question 7?')
    expect(asked.at(-1)).toBe('Read all files and tell me the sum.')
  })

  it('then loses the oldest results of the job, but keeps the calls and the sizes', () => {
    const messages = [SYSTEM, TASK, ...roundsOf(10, 3000)]
    const { messages: kept } = truncatePrompt(messages, 1, Math.round(sizeOf(messages) * 0.9))
    expect(kept).toHaveLength(messages.length)
    const emptied = kept.flatMap((message) => (message.role === 'tool' && message.output.startsWith('[Left out') ? [message.callId] : []))
    expect(emptied).toEqual(['call-0', 'call-1', 'call-2', 'call-3', 'call-4'])
    expect(kept[3]).toMatchObject({ ok: true, output: expect.stringMatching(/3016 characters from read_file\. What it did stays done/) })
    expect(kept.slice(-2)).toEqual(messages.slice(-2))
  })

  it('then shortens old replies of the model', () => {
    const written = Array.from({ length: 10 }, (_, n) => [
      assistant('', { callId: `w${n}`, name: 'write_file', args: { path: `out-${n}`, content: 'lines '.repeat(500) } }),
      result(`w${n}`, 'write_file', 'Written.'),
    ]).flat()
    const messages = [SYSTEM, TASK, ...written]
    const { messages: kept } = truncatePrompt(messages, 1, Math.round(sizeOf(messages) * 0.9))
    expect(kept[2]).toMatchObject({
      toolCalls: [
        { callId: 'w0', args: { path: 'out-0', content: expect.stringMatching(/^lines .*3000 characters in all, left out here\]$/) } },
      ],
    })
    expect(kept.slice(-2)).toEqual(messages.slice(-2))
  })

  it('then loses its oldest steps, with a mark after the task', () => {
    const messages = [SYSTEM, TASK, ...roundsOf(100, 30)]
    const { messages: kept } = truncatePrompt(messages, 1, Math.round(sizeOf(messages) / 2))
    expect(kept[1]).toEqual(user(`Read all files and tell me the sum.\n\n${STEPS_LEFT_OUT}`))
    expect(kept[2]).toMatchObject({ role: 'assistant', text: expect.stringMatching(/^I read file [4-9]\d\.$/) })
    expect(kept.slice(-2)).toEqual(messages.slice(-2))
  })

  it('keeps the beginning and the end of a result that is too large by itself', () => {
    const messages = [SYSTEM, TASK, ...round(0, 60_000)]
    const { messages: kept, tokens } = truncatePrompt(messages, 1, 4000)
    expect(tokens).toBeLessThanOrEqual(4000)
    const { output } = kept.at(-1) as Extract<PromptMessage, { role: 'tool' }>
    expect(output).toMatch(/^file 0: words/)
    expect(output).toMatch(/The middle of these 60016 characters is left out here/)
    expect(output).toMatch(/end of 0$/)
  })

  it('never cuts a character', () => {
    const messages = [
      SYSTEM,
      TASK,
      assistant('', { callId: 'a', name: 'read_file', args: {} }),
      result('a', 'read_file', '👋🏽東é'.repeat(9000)),
    ]
    const { output } = truncatePrompt(messages, 1, 3001).messages.at(-1) as Extract<PromptMessage, { role: 'tool' }>
    expect(output.isWellFormed()).toBe(true)
    expect(output).not.toContain('\ufffd')
  })
})

const texts = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.nat(20_000).map((n) => 'some words é '.repeat(n / 12)),
)
const rounds = fc.array(fc.record({ text: texts, args: texts, results: fc.array(texts, { maxLength: 3 }) }), { maxLength: 25 })
const jobs = fc.record({
  earlier: fc.array(fc.record({ asked: texts, rounds }), { maxLength: 4 }),
  rounds,
  budget: fc.integer({ min: 1500, max: 60_000 }),
})

function messagesOf(from: string, list: { text: string; args: string; results: string[] }[]): PromptMessage[] {
  return list.flatMap(({ text, args, results }, n) => {
    const calls = results.map((_, k) => ({ callId: `${from}-${n}-${k}`, name: 'tool', args: { args } }))
    return [assistant(text, ...calls), ...results.map((output, k) => result(`${from}-${n}-${k}`, 'tool', output))]
  })
}

function promptOf(job: {
  earlier: { asked: string; rounds: { text: string; args: string; results: string[] }[] }[]
  rounds: { text: string; args: string; results: string[] }[]
}) {
  const earlier = job.earlier.flatMap(({ asked, rounds }, n) => [user(asked), ...messagesOf(`e${n}`, rounds), assistant('Answer.')])
  return { head: [SYSTEM, ...earlier, TASK], taskAt: earlier.length + 1, steps: messagesOf('j', job.rounds) }
}

function idsOf(messages: readonly PromptMessage[]): { calls: string[]; results: string[] } {
  return {
    calls: messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls.map(({ callId }) => callId) : [])),
    results: messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : [])),
  }
}

describe('any job', () => {
  it('fits in one pass, with paired calls and results, system text, task and newest results', () => {
    fc.assert(
      fc.property(jobs, (job) => {
        const { head, taskAt, steps } = promptOf(job)
        const messages = [...head, ...steps]
        const before = structuredClone(messages)
        const { messages: kept, tokens, leftOut } = truncatePrompt(messages, taskAt, job.budget)
        expect(messages).toEqual(before)
        expect(sizeOf(kept)).toBeLessThanOrEqual(tokens)
        const newest = steps.findLastIndex(({ role }) => role === 'assistant')
        // Three newest results and their call may need this much even at their shortest.
        if (job.budget >= 4000) expect(tokens).toBeLessThanOrEqual(job.budget)
        expect(leftOut === 0).toBe(kept.length === messages.length && kept.every((message, at) => message === messages[at]))

        const { calls, results } = idsOf(kept)
        expect(results).toEqual(calls)
        expect(calls).toEqual(idsOf(messages).calls.filter((id) => calls.includes(id)))
        expect(kept[0]).toBe(SYSTEM)
        const task = kept.findLast(({ role }) => role === 'user') as Extract<PromptMessage, { role: 'user' }>
        expect(task.text.replace(`${EARLIER_LEFT_OUT}\n\n`, '').replace(`\n\n${STEPS_LEFT_OUT}`, '')).toBe(
          'Read all files and tell me the sum.',
        )
        const last = kept.slice(newest - steps.length)
        if (newest !== -1) expect(idsOf(last).results).toEqual(idsOf(steps.slice(newest)).results)
        // Cut, if it has to be, but not left out.
        for (const message of last) if (message.role === 'tool') expect(message.output).not.toMatch(/^\[Left out/)

        const again = truncatePrompt(kept, kept.indexOf(task), job.budget)
        if (tokens <= job.budget) expect(again).toMatchObject({ messages: kept, leftOut: 0 })
      }),
    )
  })

  it('keeps the beginning of its prompt while there is room', () => {
    fc.assert(
      fc.property(jobs, (job) => {
        const { head, taskAt, steps } = promptOf(job)
        let previous: { messages: PromptMessage[]; tokens: number; end: number } | null = null
        for (let end = 0; end <= steps.length; end++) {
          if (end < steps.length && steps[end]!.role !== 'assistant') continue
          const { messages, tokens } = truncatePrompt([...head, ...steps.slice(0, end)], taskAt, job.budget)
          if (previous !== null && previous.tokens + sizeOf(steps.slice(previous.end, end)) <= job.budget)
            expect(messages.slice(0, previous.messages.length)).toEqual(previous.messages)
          previous = { messages, tokens, end }
        }
      }),
    )
  })

  it('changes the beginning once for each half window that it reads', () => {
    const steps = roundsOf(200, 1500)
    const budget = 20_000
    let changes = 0
    let previous: PromptMessage[] = []
    for (let end = 0; end <= steps.length; end += 2) {
      const { messages, tokens } = truncatePrompt([SYSTEM, TASK, ...steps.slice(0, end)], 1, budget)
      expect(tokens).toBeLessThanOrEqual(budget)
      if (JSON.stringify(messages.slice(0, previous.length)) !== JSON.stringify(previous)) changes++
      previous = messages
    }
    expect(changes).toBeGreaterThan(3)
    expect(changes).toBeLessThanOrEqual(Math.ceil(sizeOf(steps) / (budget / 2)))
  })

  it('keeps old replies of the model while it reads many large files', () => {
    const steps = roundsOf(20, 9000)
    const { messages } = truncatePrompt([SYSTEM, TASK, ...steps], 1, 7_000)
    expect(messages.filter(({ role }) => role === 'assistant')).toEqual(steps.filter(({ role }) => role === 'assistant'))
  })

  it.each([20_000, 4_000, 10])('truncates two thousand calls to %i tokens fast enough', (budget) => {
    const messages = [SYSTEM, TASK, ...roundsOf(2000, 600)]
    expect(cpuMsOf(() => truncatePrompt(messages, 1, budget))).toBeLessThan(2000)
  })
})

describe('thinking that goes back with replies', () => {
  const sent = { parts: [], thinking: 'Hm.', model: { providerId: 'p', model: 'm' } }
  const signed = (messages: PromptMessage[]) => messages.map((message) => (message.role === 'assistant' ? { ...message, sent } : message))
  const withoutSigns = (messages: PromptMessage[]) =>
    messages.map((message) => (message.role === 'assistant' ? assistant(message.text, ...message.toolCalls) : message))
  const changeOf = (message: PromptMessage) => (message.role === 'assistant' ? message.sent?.changed : undefined)

  it('is marked as changed if anything before it was left out', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 15, max: 6_000 }), { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 1_500, max: 9_000 }),
        (sizes, budget) => {
          const rounds = sizes.map((chars, n) => signed(round(n, chars)))
          const prompts = rounds.map((_, n) => truncatePrompt([SYSTEM, TASK, ...rounds.slice(0, n).flat()], 1, budget).messages)
          for (const [n, prompt] of prompts.entries()) {
            const written = prompt.flatMap((message, at) => (message.role === 'assistant' ? [{ at, message }] : []))
            for (const [place, { at, message }] of written.entries()) {
              if (changeOf(message) !== undefined) continue
              const writtenAs = n - written.length + place
              expect(withoutSigns(prompt.slice(0, at))).toEqual(withoutSigns(prompts[writtenAs]!))
            }
          }
        },
      ),
    )
  })

  it('goes back with the newest replies until the next truncation', () => {
    const rounds = Array.from({ length: 10 }, (_, n) => signed(round(n, 3_000))).flat()
    const { messages } = truncatePrompt([SYSTEM, TASK, ...rounds], 1, 7_000)
    const changes = messages.filter(({ role }) => role === 'assistant').map(changeOf)
    expect(changes).toContain('before')
    expect(changes.at(-1)).toBeUndefined()
  })

  it('is marked if the reply itself was shortened', () => {
    const [reply, answer] = round(0, 300)
    const long = { ...(reply as Extract<PromptMessage, { role: 'assistant' }>), text: 'long '.repeat(1_000), sent }
    const rounds = Array.from({ length: 8 }, (_, n) => signed(round(n + 1, 30))).flat()
    const { messages } = truncatePrompt([SYSTEM, TASK, long, answer!, ...rounds], 1, 700)
    expect(changeOf(messages[2]!)).toBe('itself')
  })
})
