import { describe, expect, it } from 'vitest'
import { JobErrorCode } from '../../../src-runner/contract/errors.ts'
import { SAID_CODES, SENTENCES, type Said } from '../../../src-runner/contract/said.ts'
import { bytesText } from '../numbers.ts'
import { saidText } from '../said.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { createPlural } from './plural.ts'
import type { Words } from './words.ts'

const CATALOGUES: [string, Words][] = [
  ['English', en],
  ['German', de],
]
/** English words that a German sentence about the same thing would not hold. */
const ENGLISH = /\b(the|are|were|cannot|this|that|and|with|there)\b/i

/** Facts that any sentence can be made of, each a value that shows in what is said. */
const anyFacts = new Proxy<Record<string, unknown>>(
  {},
  {
    get: (_, name) => {
      if (typeof name === 'symbol') return () => '7'
      if (name === 'shared' || name === 'own' || name === 'forGood') return true
      if (name === 'box') return 'without_network'
      if (name === 'service') return 'telegram'
      return name === 'times' || name === 'count' ? 3 : `«${String(name)}»`
    },
  },
)

describe('what the runner says of itself', () => {
  describe.each(CATALOGUES)('in %s', (language, words) => {
    it.each(SAID_CODES)('%s tells its facts', (code) => {
      const slots = [...SENTENCES[code].matchAll(/\{(\w+)([#@]?)\}/g)].map(([, name, kind]) => ({ name: name!, kind }))
      const facts = Object.fromEntries(
        slots.map(({ name, kind }, at) => [
          name,
          kind === '#' ? at + 11 : kind === '@' ? 'bots.example' : name === 'field' ? 'month' : `«${name}»`,
        ]),
      )
      const text = saidText('a sentence that is not shown', { code, facts } as Said, words)
      expect(text).not.toMatch(/undefined|null|NaN|\{|a sentence that is not shown/)
      for (const [name, fact] of Object.entries(facts)) {
        // How large a lost file was helps nobody; the field is a word of the language.
        if (name === 'bytes' || name === 'field') continue
        expect(text).toContain(String(fact))
      }
      if (language === 'German') expect(text.replace(/«.*?»/g, '')).not.toMatch(ENGLISH)
    })

    const rest: [string, Record<string, unknown>][] = [
      ['an error', words.errors.codes],
      ['a field', words.errors.issues],
      ['a voice', words.policy.voices],
      ['a cause', words.policy.causes],
      ['an effect', words.policy.effects],
      ['what matters', words.policy.matters],
      ['what was found', words.doctor.findings],
      ['what is to be done', words.doctor.fixes],
      ['what needs the person', Object.fromEntries(Object.entries(words.attention).map(([kind, { title }]) => [kind, title]))],
      [
        'what troubles the database',
        Object.fromEntries(
          Object.entries(words.databaseTrouble).flatMap(([code, all]) =>
            Object.entries(all).map(([part, text]) => [`${code} ${part}`, text]),
          ),
        ),
      ],
      ['how a job failed', Object.fromEntries(JobErrorCode.options.map((code) => [code, words.common.jobError[code]]))],
    ]
    it.each(rest)('has a sentence for each %s', (_, sentences) => {
      expect(Object.keys(sentences).length).toBeGreaterThan(3)
      for (const [code, sentence] of Object.entries(sentences)) {
        const text = typeof sentence === 'function' ? String((sentence as (facts: unknown) => unknown)(anyFacts)) : String(sentence)
        expect([code, text]).toEqual([code, expect.stringMatching(/\S/)])
        expect([code, text]).toEqual([code, expect.not.stringMatching(/undefined|null|NaN|\[object/)])
        if (language === 'German') expect([code, text.replace(/«.*?»/g, '')]).toEqual([code, expect.not.stringMatching(ENGLISH)])
      }
    })
  })

  it('shows as it is what another version or somebody else said', () => {
    expect(saidText('The flux is low.', undefined, de)).toBe('The flux is low.')
    expect(saidText('The flux is low.', { code: 'flux_low', facts: {} } as unknown as Said, de)).toBe('The flux is low.')
  })

  it('says a sentence that follows another', () => {
    const said: Said = { code: 'due_on_time', facts: {}, more: [{ code: 'brake_holds', facts: {} }] }
    expect(saidText('', said, en)).toBe('On time. The emergency brake is on: it starts when that is released.')
    expect(saidText('', said, de)).toBe('Pünktlich. Die Notbremse ist gezogen: Er beginnt, sobald sie gelöst wird.')
  })

  it('puts numbers as the language does', () => {
    const said: Said = { code: 'due_over_budget', facts: { spentUsd: 5.25, budgetUsd: 5 } }
    expect(saidText('', said, en)).toBe("The agent's jobs cost $5.25 today, and this schedule's budget for a day is $5.00.")
    expect(saidText('', said, de).replaceAll('\u00a0', ' ')).toBe(
      'Die Aufträge des Agenten kosteten heute 5,25 $; das Tagesbudget dieses Zeitplans ist 5,00 $.',
    )
    expect(bytesText(1_234_567, 'de').replaceAll('\u00a0', ' ')).toBe('1,2 MB')
    expect(createPlural('de')(1, { one: '#', other: '# Dinge' })).toBe('1')
  })
})
