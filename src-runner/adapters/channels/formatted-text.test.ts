import fc from 'fast-check'
import { lexer } from 'marked'
import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../testing/cpu-time.ts'
import { formatMarkdown, type FormattedText } from './formatted-text.ts'
import { sliceMarkdown } from './markdown-slices.ts'
import { splitText } from './split-text.ts'

const dress = (markdown: string) => formatMarkdown(markdown, (source) => lexer(source))
/** The formatted words: `bold:word`. */
const shownIn = ({ text, entities }: FormattedText) =>
  entities.map(({ type, offset, length, ...more }) => [type, text.slice(offset, offset + length), ...Object.values(more)].join(':'))

describe('formatted Markdown', () => {
  test.each<[string, string, string[]]>([
    ['Just words.', 'Just words.', []],
    ['**a** _b_ ~~c~~ `d`', 'a b c d', ['bold:a', 'italic:b', 'strikethrough:c', 'code:d']],
    ['**a _b_**', 'a b', ['bold:a b', 'italic:b']],
    ['# Head\nBody', 'Head\n\nBody', ['bold:Head']],
    ['one\ntwo\n\nthree', 'one\ntwo\n\nthree', []],
    ['- a\n- b\n  - c\n\nafter', '• a\n• b\n   • c\n\nafter', []],
    ['3. a\n4. b', '3. a\n4. b', []],
    ['- [x] a\n- [ ] b', '• ☑ a\n• ☐ b', []],
    ['> a\n> b\n\nc', 'a\nb\n\nc', ['blockquote:a\nb']],
    ['```ts\nlet a\n\n  b\n```\nc', 'let a\n\n  b\n\nc', ['pre:let a\n\n  b:ts']],
    ['```\n```', '```\n```', []],
    ['| a | b |\n|---|---|\n| long | x |', 'a    | b\n-----+--\nlong | x', ['pre:a    | b\n-----+--\nlong | x']],
    ['[site](https://a.example/?x=1&y=2)', 'site', ['text_link:site:https://a.example/?x=1&y=2']],
    ['![chart](https://a.example/c.png)', 'chart', ['text_link:chart:https://a.example/c.png']],
    ['[run](javascript:alert(1)) [file](file:///etc/passwd)', 'run file', []],
    ['1 < 2 & 3 > 2 &amp; &lt;b&gt; &#9731; &unknown;', '1 < 2 & 3 > 2 & <b> ☃ &unknown;', []],
    ['&constructor; &toString;', '&constructor; &toString;', []],
    ['a <b>bold</b> tag', 'a <b>bold</b> tag', []],
    ['<div>\nraw\n</div>', '<div>\nraw\n</div>', []],
    ['a\n\n---\n\nb', 'a\n\n———\n\nb', []],
    ['\\*not\\* it', '*not* it', []],
    ['  ', '', []],
  ])('%j', (markdown, text, shown) => {
    const dressed = dress(markdown)
    expect(dressed.text).toBe(text)
    expect(shownIn(dressed)).toEqual(shown)
  })

  test('does not widen every row of a table for one long cell', () => {
    const table = `| a | b |\n|---|---|\n| ${'x'.repeat(4000)} | y |\n${'| x | y |\n'.repeat(500)}`
    expect(dress(table).text.length).toBeLessThan(40_000)
  })

  test('does not fill up short rows to the width of a table that nobody reads', () => {
    const table = (columns: number, rows: string) => `|${'a|'.repeat(columns)}\n|${'-|'.repeat(columns)}\n${rows}`
    for (const prefix of ['', '> ', '- ']) {
      const indent = prefix === '- ' ? '  ' : prefix
      const hostile = table(600, 'a\n'.repeat(600)).replace(/\n(?=.)/g, `\n${indent}`)
      expect(dress(prefix + hostile).text.length).toBeLessThan(10_000)
    }
    expect(shownIn(dress(table(40, `|${'a|'.repeat(40)}\n`.repeat(20))))).toEqual([expect.stringMatching(/^pre:a \| a/)])
  })

  test.each([
    ['quotes in quotes', '>'.repeat(20_000)],
    ['lists in lists', '- '.repeat(10_000)],
    ['open brackets', '['.repeat(20_000)],
    ['underscores', '_a_b'.repeat(20_000)],
    ['stars', `${'*'.repeat(20_000)}a${'*'.repeat(20_000)}`],
    ['emphasis', '_a__'.repeat(20_000)],
    ['lines of quotes', `${'>'.repeat(1900)}\n`.repeat(40)],
    ['numbered lists in lists', '1. '.repeat(10_000)],
    ['empty lines of code', `\`\`\`\n${'\n'.repeat(7900)}x\n\`\`\`\n`.repeat(10)],
  ])('shows %s in less than two seconds', (_name, markdown) => {
    expect(cpuMsOf(() => dress(markdown))).toBeLessThan(2000)
  })

  test('keeps long rules and ordinary nesting', () => {
    const nested = Array.from({ length: 14 }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n')
    expect(dress(`a\n\n${'-'.repeat(60)}\n\n${'*'.repeat(60)}`).text).toBe('a\n\n———\n\n———')
    expect(dress(nested).text.split('\n')).toHaveLength(14)
    expect(dress(nested).text).not.toContain('- ')
    expect(shownIn(dress('> > > **a**'))).toContain('bold:a')
  })
})

describe('slices of a long text', () => {
  test('keep the lines in order and close code fences', () => {
    const code = Array.from({ length: 2000 }, (_, i) => `let a${i} = ${i}`)
    const source = ['Before.', '', '```ts', ...code, '```', '', 'After.', ''].join('\n')
    const slices = sliceMarkdown(source)
    expect(slices.length).toBeGreaterThan(3)
    for (const slice of slices) expect((slice.match(/^```/gm) ?? []).length % 2).toBe(0)
    expect(slices.join('').match(/let a\d+/g)).toEqual(code.map((line) => line.split(' = ')[0]))
    const { text, entities } = dress(source)
    expect(text).toMatch(/^Before\.[\s\S]+After\.$/)
    expect(entities.every((entity) => entity.type === 'pre')).toBe(true)
  })

  test('stay within their size', () => {
    for (const source of ['x'.repeat(100_000), 'word '.repeat(20_000), 'a line\n'.repeat(20_000), '😀'.repeat(30_000)]) {
      const slices = sliceMarkdown(source)
      expect(Math.max(...slices.map((slice) => slice.length))).toBeLessThanOrEqual(8200)
      expect(slices.join('').replace(/\s/g, '')).toBe(source.replace(/\s/g, ''))
      expect(slices.every((slice) => slice.isWellFormed())).toBe(true)
    }
  })
})

describe('splitting a text into messages', () => {
  const piece = (text: string) => ({ text, entities: [] })

  test.each([
    ['between paragraphs', 'aaa aaa aaa.\n\nbbb bbb', 18, ['aaa aaa aaa.', 'bbb bbb']],
    ['between lines', 'aaa aaa aaa\nbbb bbb bbb', 15, ['aaa aaa aaa', 'bbb bbb bbb']],
    ['between sentences', 'Aaa aaa. Bbb bbb bbb bbb', 14, ['Aaa aaa.', 'Bbb bbb bbb', 'bbb']],
    ['between words', 'aaaaa bbbbb ccccc', 12, ['aaaaa bbbbb', 'ccccc']],
    ['where there is no border', 'abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['not inside a character', '😀😀😀', 3, ['😀', '😀', '😀']],
    ['not inside a family', '👨‍👩‍👧👨‍👩‍👧', 10, ['👨‍👩‍👧', '👨‍👩‍👧']],
    ['keeping what sets a line in', 'aaaa\n    bbbb', 8, ['aaaa', '    bbbb']],
    ['nothing', ' \n ', 10, []],
  ])('%s', (_name, text, most, pieces) => {
    expect(splitText(piece(text), most).map((one) => one.text)).toEqual(pieces)
  })

  test('keeps code formatted in the next message', () => {
    const [first, second] = splitText({ text: 'let a\nlet b', entities: [{ type: 'pre', offset: 0, length: 11, language: 'ts' }] }, 7)
    expect(shownIn(first!)).toEqual(['pre:let a:ts'])
    expect(shownIn(second!)).toEqual(['pre:let b:ts'])
  })

  test('loses nothing, stays within the limit, keeps entities on their words, and splits the same way twice', () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.constantFrom('\n', '\n\n', ' ', '**b**', '`c`', '```\nd\n```\n', '. '),
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 80 }), fc.integer({ min: 20, max: 200 }), (words, most) => {
        const dressed = dress(words.join(''))
        const pieces = splitText(dressed, most)
        expect(
          pieces
            .map((one) => one.text)
            .join('')
            .replace(/\s/g, ''),
        ).toBe(dressed.text.replace(/\s/g, ''))
        for (const { text, entities } of pieces) {
          expect(text.length).toBeLessThanOrEqual(most)
          expect(text.trim()).not.toBe('')
          for (const { offset, length } of entities) {
            expect(offset >= 0 && length > 0 && offset + length <= text.length).toBe(true)
            expect(text.slice(offset, offset + length)).toMatch(/^\S(.*\S)?$/s)
          }
        }
        expect(splitText(dressed, most)).toEqual(pieces)
      }),
    )
  })
})
