import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChannelLimits } from './channel.ts'
import { inEnglish } from '../../lib/messages.ts'
import { firstPartOf, MAX_MESSAGES, partsOf, type TextFormat } from './message-parts.ts'

/** A service without formatting, which splits at the limit. */
const plain: TextFormat<string> = {
  t: inEnglish,
  split: (text, most) => (text.match(new RegExp(`[^]{1,${most}}`, 'gu')) ?? []).filter((piece) => piece.trim() !== ''),
  append: (piece, words) => `${piece}\n\n${words}`,
  plain: (words) => words,
}
const LIMITS: ChannelLimits = { messageChars: 200, fileBytes: 5000 }
const planned = (text: string, limits = LIMITS, more: { files?: string[]; buttons?: { label: string; action: string }[] } = {}) =>
  partsOf({ text, buttons: [], files: [], ...more }, limits, plain)
const wholeIn = (parts: ReturnType<typeof planned>) => {
  const whole = parts.find((part) => part.type === 'whole')
  return whole === undefined ? null : Buffer.from(whole.bytes).toString('utf8')
}

describe('the parts of a message', () => {
  test('are its text and its files', () => {
    expect(planned('Hello', LIMITS, { files: ['/a', '/b'] })).toEqual([
      { type: 'text', piece: 'Hello', buttons: [], isLastText: true },
      { type: 'file', path: '/a' },
      { type: 'file', path: '/b' },
    ])
  })

  test('are at most five messages, or a beginning and a file', () => {
    expect(planned('x'.repeat(200 * MAX_MESSAGES)).map(({ type }) => type)).toEqual(Array(MAX_MESSAGES).fill('text'))
    expect(planned('x'.repeat(200 * MAX_MESSAGES + 1)).map(({ type }) => type)).toEqual(['text', 'whole'])
  })

  test('are only files if there is no text, unless there are buttons', () => {
    expect(planned(' ', LIMITS, { files: ['/a'] })).toEqual([{ type: 'file', path: '/a' }])
    const buttons = [{ label: 'Yes', action: 'y' }]
    expect(planned(' ', LIMITS, { files: ['/a'], buttons })[0]).toMatchObject({ piece: '(no text)', buttons })
    expect(planned('')).toMatchObject([{ piece: '(no text)' }])
  })

  test('are only the beginning if the service takes no files', () => {
    const parts = planned('word '.repeat(1000), { messageChars: 200, fileBytes: null })
    expect(parts).toMatchObject([{ type: 'text', piece: expect.stringMatching(/^word .*full text in Deckhand\.$/s) as string }])
  })

  test('note in a truncated file how much is missing', () => {
    const text = '€'.repeat(5000)
    const whole = wholeIn(planned(text))!
    expect(Buffer.byteLength(whole)).toBeLessThanOrEqual(5000)
    const [, kept] = /^€+\n\n\[Cut off here: ([\d,]+) of 15,000 bytes\. Deckhand has the full text\.\]\n$/.exec(whole)!
    expect(whole.match(/€/g)).toHaveLength(Number(kept!.replace(',', '')) / 3)
  })

  test('fit, lose nothing and are the same each time, for any text', () => {
    const text = fc.array(fc.constantFrom('word ', '\n', 'x'.repeat(50), '😀', '\u200b', '   ', '```\n', 'é'), { maxLength: 200 })
    fc.assert(
      fc.property(text, (words) => {
        const all = words.join('')
        const parts = planned(all)
        expect(planned(all)).toEqual(parts)
        const texts = parts.flatMap((part) => (part.type === 'text' ? [part.piece] : []))
        expect(texts.length).toBeLessThanOrEqual(MAX_MESSAGES)
        for (const piece of texts) expect(piece.isWellFormed() && piece.length <= 400).toBe(true)
        if (wholeIn(parts) === null) expect(texts.join('').replace(/\s/g, '')).toBe(all.replace(/\s/g, '') || '(notext)')
        else if (Buffer.byteLength(all) <= 5000) expect(wholeIn(parts)).toBe(all)
      }),
    )
  })

  test('continue after the parts that were sent, with at least one', () => {
    const parts = planned('x'.repeat(5000))
    expect([0, 1, 2, 250].map((partsSent) => firstPartOf({ partsSent }, parts))).toEqual([0, 1, 1, 1])
  })
})
