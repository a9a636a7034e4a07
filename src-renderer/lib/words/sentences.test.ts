import { describe, expect, it } from 'vitest'
import { de } from './de.ts'
import { en } from './en.ts'
import type { Words } from '../language.ts'

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
      if (name === 'sandbox') return 'without_network'
      if (name === 'service') return 'telegram'
      return name === 'times' || name === 'count' ? 3 : `«${String(name)}»`
    },
  },
)

describe('what the runner says of itself', () => {
  describe.each(CATALOGUES)('in %s', (language, words) => {
    const rest: [string, Record<string, unknown>][] = [
      ['a voice', words.policy.trace],
      ['a cause', words.policy.causes],
      ['what matters', words.policy.matters],
      ['what was found', words.doctor.findings],
      ['what is to be done', words.doctor.fixes],
      [
        'what troubles the database',
        Object.fromEntries(
          Object.entries(words.databaseTrouble).flatMap(([code, all]) =>
            Object.entries(all).map(([part, text]) => [`${code} ${part}`, text]),
          ),
        ),
      ],
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
})
