import { describe, expect, it } from 'vitest'
import { compactText, fieldText, moneyText, priceText, readNumber } from '../../resources/locales/numbers.ts'
import { initialsOf, matchesWords, previewOf } from './text.ts'
import { durationText, relativeTime } from './time.ts'

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

  it('uses the decimal point of the language', () => {
    expect(durationText(420, 'de')).toBe('0,4s')
    expect(fieldText(1234.5, 'de')).toBe('1234,5')
    expect(readNumber(fieldText(1234.5, 'de'))).toBe(1234.5)
    expect(fieldText(null, 'de')).toBe('')
  })
})

describe('numbers', () => {
  it('formats money for the language of the person', () => {
    expect(moneyText(1234.5, 'en')).toBe('$1,234.50')
    expect(moneyText(1234.5, 'de')).toBe('1.234,50\u00a0$')
    expect(priceText(0.075, 'en')).toBe('$0.075')
    expect(priceText(3, 'en')).toBe('$3.00')
    expect(compactText(999, 'en')).toBe('999')
    expect(compactText(12_430, 'en')).toBe('12.4K')
    expect([compactText(1200, 'de'), compactText(50_000, 'de'), compactText(1_250_000, 'de')]).toEqual(['1.200', '50.000', '1,3\u00A0Mio.'])
  })
})

describe('text', () => {
  it('matches words in any order, with any case and accent', () => {
    expect(matchesWords('Chat with Café guide', 'guide cafe')).toBe(true)
    expect(matchesWords('Chat with Café guide', 'guide tea')).toBe(false)
    expect(matchesWords('anything', '')).toBe(true)
  })

  it.each([
    ['Release watcher', 'RW'],
    ['notes', 'N'],
    ['🚢 harbour', '🚢H'],
    ['  ', '?'],
  ])('stands for %j as %s', (name, initials) => {
    expect(initialsOf(name)).toBe(initials)
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
