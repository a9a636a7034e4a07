import { describe, expect, it } from 'vitest'
import { compactText, fieldText, moneyText, priceText, readNumber } from './numbers.ts'
import { initialsOf, matchesWords, previewOf } from './text.ts'
import { durationText, relativeTime } from './time.ts'
import { createPlural } from './words/plural.ts'
import { de } from './words/de.ts'
import { en } from './words/en.ts'
import type { Words } from './words/words.ts'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

describe('time', () => {
  it.each([
    [0, 'now'],
    [-44 * S, 'now'],
    [-50 * S, '1 min. ago'],
    [-3 * M, '3 min. ago'],
    [-59 * M, '59 min. ago'],
    [-2 * H, '2 hr. ago'],
    [-1.2 * D, 'yesterday'],
    [-3 * D, '3 days ago'],
    [-20 * D, '2 wk. ago'],
    [+5 * M, 'in 5 min.'],
  ])('%s ms from now is "%s"', (distance, text) => {
    expect(relativeTime(1_700_000_000_000 + distance, 1_700_000_000_000, 'en')).toBe(text)
  })

  it.each([
    [-5, '0s'],
    [20, '<0.1s'],
    [420, '0.4s'],
    [990, '1s'],
    [59_999, '59s'],
    [3 * M + 5 * S, '3m 05s'],
    [2 * H + 7 * M, '2h 07m'],
    [4 * D + 3 * H, '4d 3h'],
    [Number.NaN, '0s'],
  ])('%s ms lasts "%s"', (ms, text) => {
    expect(durationText(ms, 'en')).toBe(text)
  })

  it('has the decimal point of the language', () => {
    expect(durationText(420, 'de')).toBe('0,4s')
    expect(fieldText(1234.5, 'de')).toBe('1234,5')
    expect(readNumber(fieldText(1234.5, 'de'))).toBe(1234.5)
    expect(fieldText(null, 'de')).toBe('')
  })
})

describe('numbers', () => {
  it('writes money in the language of the person', () => {
    expect(moneyText(1234.5, 'en')).toBe('$1,234.50')
    expect(moneyText(1234.5, 'de')).toBe('1.234,50\u00a0$')
    expect(priceText(0.075, 'en')).toBe('$0.075')
    expect(priceText(3, 'en')).toBe('$3.00')
    expect(compactText(999, 'en')).toBe('999')
    expect(compactText(12_430, 'en')).toBe('12.4K')
  })
})

describe('text', () => {
  it('matches words in any order, case and accent', () => {
    expect(matchesWords('Chat with Café guide', 'guide cafe')).toBe(true)
    expect(matchesWords('Chat with Café guide', 'guide tea')).toBe(false)
    expect(matchesWords('anything', '')).toBe(true)
  })

  it.each([
    ['Release Watcher', 'RW'],
    ['notes', 'N'],
    ['🚢 harbour', '🚢H'],
    ['  ', '?'],
  ])('stands for %j as %s', (name, initials) => {
    expect(initialsOf(name)).toBe(initials)
  })
})

describe('words', () => {
  it('chooses the form by the rules of the language', () => {
    const polish = createPlural('pl')
    const forms = { one: '# plik', few: '# pliki', many: '# plików', other: '# pliku' }
    expect([1, 3, 5, 22].map((count) => polish(count, forms))).toEqual(['1 plik', '3 pliki', '5 plików', '22 pliki'])
    expect(createPlural('en')(0, { zero: 'nothing', one: '#', other: '# things' })).toBe('nothing')
    expect(createPlural('de')(12_000, { one: '# Ding', other: '# Dinge' })).toBe('12.000 Dinge')
  })

  it('says everything in German too, and nothing empty', () => {
    const leaves = (value: unknown, path: string): [string, string][] => {
      if (typeof value === 'string') return [[path, value]]
      if (typeof value === 'function') return [[path, String((value as (...args: unknown[]) => unknown)(3, 3))]]
      return Object.entries(value as object).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`))
    }
    // Sentences that are made of facts have a test of their own.
    const plain = ({ said: _said, errors: _errors, policy: _policy, attention: _attention, doctor: _doctor, ...rest }: Words) => rest
    const english = new Map(leaves(plain(en), ''))
    const german = new Map(leaves(plain(de), ''))
    expect([...german.keys()].sort()).toEqual([...english.keys()].sort())
    for (const [path, text] of [...english, ...german]) {
      if (path.endsWith('kindNotes.demo')) continue
      expect([path, text.trim()]).not.toEqual([path, ''])
      expect([path, text]).toEqual([path, expect.not.stringContaining('undefined')])
    }
  })
})

describe('the preview of a text', () => {
  it.each([
    ['✅ **Ada** finished “Round”.\n\nTwo boards\nare loose.', '✅ Ada finished “Round”. Two boards are loose.'],
    ['# Plan\n\n- one\n- two\n\n1. three', 'Plan one two three'],
    ['> She said `yes` and ~~no~~, [here](https://example.com/a).', 'She said yes and no, here.'],
    // What only looks like a mark stays.
    ['2 ** 3 is 8, snake_case_name, a * b * c', '2 ** 3 is 8, snake_case_name, a * b * c'],
    ['', ''],
  ])('%j says %j', (markdown, preview) => {
    expect(previewOf(markdown)).toBe(preview)
  })
})
