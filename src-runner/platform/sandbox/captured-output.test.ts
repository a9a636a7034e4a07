import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCapturedOutput } from './captured-output.ts'

function keep(keepBytes: number, ...chunks: (string | Buffer)[]): string {
  const kept = createCapturedOutput(keepBytes)
  for (const chunk of chunks) kept.add(Buffer.from(chunk as string))
  return kept.text()
}

describe('captured output', () => {
  it.each<[string, number, string[], string]>([
    ['all of a short one', 100, ['one\n', 'two\n'], 'one\ntwo\n'],
    ['no output', 100, [], ''],
    ['exactly as much as there is room for', 6, ['abc', 'def'], 'abcdef'],
    ['beginning and end of a long one', 6, ['abcdefghij'], 'abc\n[… 4 bytes left out here …]\nhij'],
    ['beginning and end of many pieces', 4, ['a', 'b', 'c', 'd', 'e', 'f'], 'ab\n[… 2 bytes left out here …]\nef'],
    ['no half characters at the cut', 6, ['ä€ööö€ä'], 'ä\n[… 10 bytes left out here …]\nä'],
  ])('is %s', (_, room, chunks, text) => expect(keep(room, ...chunks)).toBe(text))

  it('does not depend on the pieces in which the output arrived', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), fc.integer({ min: 2, max: 60 }), (pieces, room) => {
        const whole = Buffer.concat(pieces)
        expect(keep(room, ...pieces.map((piece) => Buffer.from(piece)))).toBe(keep(room, whole))
      }),
    )
  })

  it('needs little memory for a long output', () => {
    const kept = createCapturedOutput(1_000)
    const chunk = Buffer.alloc(65_536, 'x')
    for (let i = 0; i < 2_000; i++) kept.add(chunk)
    expect(kept.bytes()).toBe(2_000 * 65_536)
    expect(kept.text()).toHaveLength(1_000 + '\n[… 131071000 bytes left out here …]\n'.length)
  })
})
