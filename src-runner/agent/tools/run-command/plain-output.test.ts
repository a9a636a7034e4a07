import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPlainStream, plainOutput } from './plain-output.ts'

describe('plain output', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m \u001b[1;38;5;208mbold\u001b[m', 'red bold'],
    ['cursor moves', 'a\u001b[2Kb\u001b[10;20Hc\u001b[?25l', 'abc'],
    ['window titles', '\u001b]0;title\u0007text\u001b]0;again\u001b\\ more', 'text more'],
    ['links', '\u001b]8;;https://x.example\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['character sets', '\u001b(Btext\u001b=', 'text'],
    ['one-byte sequences', '\u009b31mred', 'red'],
    ['other control characters', 'a\u0000b\u0008c\u0007\u007f', 'abc'],
    ['Windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
    ['a progress bar', '10%\r50%\r100%\ndone', '100%\ndone'],
    ['tabs and lines, which stay', 'a\tb\nc', 'a\tb\nc'],
    ['a string without end', 'a\u001b]0;never', 'a'],
  ])('is without %s', (_, text, plain) => expect(plainOutput(text)).toBe(plain))

  it('keeps no control character except tab and line feed', () => {
    const text = fc.string({
      unit: fc.constantFrom('\u001b', '[', ']', '0', 'm', ';', '\u0007', '\\', '\r', '\n', '\t', '\u009b', 'x', '\u0000'),
    })
    fc.assert(
      fc.property(text, (written) => {
        expect(plainOutput(written)).not.toMatch(/[^\P{Cc}\t\n]/u)
      }),
    )
  })

  it('is the same in pieces', () => {
    const written = 'a\u001b[31mred\u001b[0m b\u001b]0;title\u0007c\u001b]8;;u\u001b\\d\u001b(Be'
    for (let cut = 0; cut <= written.length; cut++) {
      const plain = createPlainStream()
      expect(plain(written.slice(0, cut)) + plain(written.slice(cut))).toBe('ared bcde')
    }
  })

  it('does not wait for an unfinished sequence', () => {
    const plain = createPlainStream()
    plain(`\u001b]0;${'x'.repeat(600)}`)
    expect(plain('text')).toBe('text')
  })
})
