import { describe, expect, test } from 'vitest'
import { SAID_CODES, SENTENCES, type SaidCode } from '../contract/said.ts'
import { readSaid, say, saidAs } from './said.ts'

/** Facts of every kind that a sentence of this code asks for. */
function sampleFacts(code: SaidCode, server = 'Telegram'): Record<string, string | number> {
  const slots = [...SENTENCES[code].matchAll(/\{(\w+)([#@]?)\}/g)]
  return Object.fromEntries(slots.map(([, name, kind], at) => [name, kind === '#' ? at + 2 : kind === '@' ? server : `the ${name}`]))
}

const sayAnything = say as (code: SaidCode, facts: Record<string, string | number>) => string

describe('a sentence and what it says', () => {
  test.each(SAID_CODES)('%s is read from its own sentence', (code) => {
    const facts = sampleFacts(code)
    expect(readSaid(sayAnything(code, facts))).toEqual({ code, facts })
  })

  test('every server sentence is read of a server of somebody’s own too', () => {
    const codes = SAID_CODES.filter((code) => SENTENCES[code].includes('@}'))
    expect(codes.length).toBeGreaterThan(10)
    for (const code of codes) {
      const facts = sampleFacts(code, 'bots.example:8081')
      const sentence = sayAnything(code, facts)
      expect(sentence).toMatch(/^The server at bots\.example:8081 /)
      expect(readSaid(sentence)).toEqual({ code, facts })
    }
  })

  test('money has two decimals and comes back as a number', () => {
    const sentence = say('due_over_budget', { spentUsd: 2.3, budgetUsd: 5 })
    expect(sentence).toBe("The agent's jobs cost $2.30 today, and this schedule's budget for a day is $5.00.")
    expect(readSaid(sentence)).toEqual({ code: 'due_over_budget', facts: { spentUsd: 2.3, budgetUsd: 5 } })
  })

  test('a sentence that followed another is read with it', () => {
    expect(readSaid(`${say('due_on_time')} ${say('brake_holds')}`)).toEqual({
      code: 'due_on_time',
      facts: {},
      more: [{ code: 'brake_holds', facts: {} }],
    })
  })

  test('a sentence that another one leads to is read with it', () => {
    expect(readSaid(`${say('sent_cannot')} ${say('chat_refused', { server: 'Telegram', words: 'no such chat.' })}`)).toEqual({
      code: 'sent_cannot',
      facts: {},
      more: [{ code: 'chat_refused', facts: { server: 'Telegram', words: 'no such chat.' } }],
    })
  })

  test('several that follow one another are read each', () => {
    const sentence = `${say('model_overloaded', { provider: 'Far', status: 503 })} (5 tries) ${say('model_server_away', { provider: 'Near' })}`
    expect(readSaid(sentence)).toEqual({
      code: 'model_overloaded',
      facts: { provider: 'Far', status: 503 },
      more: [
        { code: 'job_tries', facts: { tries: 5 } },
        { code: 'model_server_away', facts: { provider: 'Near' } },
      ],
    })
  })

  test('a sentence of ours beside one of somebody else is not taken for the whole', () => {
    expect(readSaid(`${say('due_on_time')} The moon is full.`)).toBeNull()
  })

  test('what others said is theirs', () => {
    expect(readSaid('Bad Gateway')).toBeNull()
    expect(readSaid('The earth cannot be reached. Is this machine online? Perhaps.')).toBeNull()
    expect(saidAs('problemSaid', 'Bad Gateway')).toEqual({})
    expect(saidAs('problemSaid', '')).toEqual({})
  })

  test.each<[whose: string, sentence: string, said: unknown]>([
    [
      'a program',
      say('tunnel_says', { program: 'cloudflared', words: say('model_asks_for_key', { provider: 'OpenAI' }) }),
      { code: 'tunnel_says', facts: { program: 'cloudflared', words: 'OpenAI asks for a key. Add it in Models & keys.' } },
    ],
    [
      'a chat server',
      say('chat_refused', { server: 'bots.example', words: say('chat_token_refused', { server: 'Telegram' }) }),
      { code: 'chat_refused', facts: { server: 'bots.example', words: say('chat_token_refused', { server: 'Telegram' }) } },
    ],
    [
      'a chat server that speaks of another one',
      say('chat_in_trouble', { server: 'Telegram', status: 502, words: say('chat_not_found', { server: 'The server at evil.example' }) }),
      {
        code: 'chat_in_trouble',
        facts: { server: 'Telegram', status: 502, words: say('chat_not_found', { server: 'The server at evil.example' }) },
      },
    ],
    [
      'two that are quoted one after another',
      `${say('model_stopped_says', { provider: 'Far', words: 'no' })} (2 tries) ${say('model_stopped_says', { provider: 'Near', words: 'nor I' })}`,
      {
        ...{ code: 'model_stopped_says', facts: { provider: 'Far', words: 'no' } },
        more: [
          { code: 'job_tries', facts: { tries: 2 } },
          { code: 'model_stopped_says', facts: { provider: 'Near', words: 'nor I' } },
        ],
      },
    ],
    ['a quotation that does not end where it seems to', 'Far stopped with an error: “a”. On time.”. (3 tries)', null],
  ])('what %s says is not taken for a sentence of ours', (_whose, sentence, said) => {
    expect(readSaid(sentence)).toEqual(said)
  })

  test('words of others within a sentence stay as they are, whatever they hold', () => {
    const words = 'chat not found: {server} (404)\nand $1 more'
    expect(readSaid(say('chat_refused', { server: 'Telegram', words }))).toEqual({
      code: 'chat_refused',
      facts: { server: 'Telegram', words },
    })
  })
})
