import { describe, expect, it } from 'vitest'
import { compactText, countText, fieldText, moneyText, priceText, readNumber } from './numbers.ts'

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

  it('uses the decimal point of the language', () => {
    expect(fieldText(1234.5, 'de')).toBe('1234,5')
    expect(readNumber(fieldText(1234.5, 'de'), 'de')).toBe(1234.5)
    expect(fieldText(null, 'de')).toBe('')
  })

  it.each(['en', 'de', 'de-AT', 'de-CH', 'en-IN'])('reads what it writes in %s', (locale) => {
    for (const value of [0.125, 1234.5, 10_000]) {
      expect(readNumber(fieldText(value, locale), locale)).toBe(value)
      expect(readNumber(countText(value, locale), locale)).toBe(value)
    }
  })

  it.each([
    ['10.000', 'de', 10_000],
    ['10,000', 'en', 10_000],
    ['1.234.567,5', 'de', 1_234_567.5],
    ['1,234.5', 'en', 1234.5],
    ['1,5', 'en', 1.5],
    ['1,125', 'de', 1.125],
    ['0.125', 'de', 0.125],
    ['1.5', 'de', 1.5],
    ['10.00', 'de', 10],
    ['1.000.00', 'de', Number.NaN],
    ['10.000', 'de-AT', 10_000],
    ['10\u00a0000,5', 'de-AT', 10_000.5],
    ['1 234 567', 'de', 1_234_567],
    ['1\u202f234.5', 'en', 1234.5],
    ["10'000", 'de-CH', 10_000],
    ['1’234’567.5', 'de-CH', 1_234_567.5],
    ['10,000', 'de-CH', 10_000],
    ['1.5', 'de-CH', 1.5],
    ['1 5', 'de', Number.NaN],
    ['0 125', 'en', Number.NaN],
    ['1e5', 'en', Number.NaN],
    ['0x10', 'en', Number.NaN],
    ['-2,5', 'de', -2.5],
    ['.5', 'en', 0.5],
    ['', 'en', Number.NaN],
  ])('reads %s as a person writes it in %s', (text, locale, value) => {
    expect(readNumber(text, locale)).toBe(value)
  })
})
