import fc from 'fast-check'
import { lexer } from 'marked'
import { describe, expect, test } from 'vitest'
import { shownText } from '../../../testing/discord-server/shown-text.ts'
import { formatMarkdown } from '../formatted-text.ts'
import { splitText } from '../split-text.ts'
import { splitForDiscord, writeMarkup } from './discord-text.ts'

const format = (markdown: string) => formatMarkdown(markdown, (source) => lexer(source))

function shown(markdown: string): { text: string; styles: string[] } {
  const styles: string[] = []
  const text = shownText(writeMarkup(format(markdown)), styles)
  return { text, styles }
}

describe('text for Discord', () => {
  test.each<[markdown: string, written: string]>([
    ['**a** _b_ ~~c~~ `d`', '**a** *b* ~~c~~ `d`'],
    ['# Head\nBody', '**Head**\n\nBody'],
    ['snake_case and 2 * 3 * 4', 'snake\\_case and 2 \\* 3 \\* 4'],
    ['> one\n> two', '> one\n> two'],
    ['```ts\nconst a = `b`\n```', '```ts\nconst a = `b`\n```'],
    ['[here](https://example.com/?a=1)', '[here](<https://example.com/?a=1>)'],
    ['[https://good.example](https://bad.example)', '<https://good.example> (<https://bad.example>)'],
    ['https://example.com/a_b', '<https://example.com/a_b>'],
    ['<@1> <#2> @everyone ||x||', '\\<@1> \\<#2> @everyone \\|\\|x\\|\\|'],
    ['1. one\n2. two', '1\\. one\n2\\. two'],
    ['\\# no head\n\\- no list\n-# small', '\\# no head\n\\- no list\n\\-# small'],
    ['``a`b``', '`` a`b ``'],
  ])('%j', (markdown, written) => expect(writeMarkup(format(markdown))).toBe(written))

  test.each<[markdown: string, text: string, styles: string[]]>([
    ['**a _b_** ~~c~~', 'a b c', ['italic:b', 'bold:a b', 'strike:c']],
    ['**one\n\ntwo**', '**one\n\ntwo**', []],
    ['`x < y` \\*no\\*', 'x < y *no*', ['code:x < y']],
    ['> a **b**', 'a b', ['quote:a **b**', 'bold:b']],
  ])('%j is shown as %j', (markdown, text, styles) => expect(shown(markdown)).toEqual({ text, styles }))

  test('is shown as it was written, whatever is in it', () => {
    const pieces = fc.constantFrom(
      '**',
      '_',
      '__',
      '`',
      '~~',
      '||',
      '[',
      '](',
      ')',
      '<',
      '>',
      '\n',
      '> ',
      '- ',
      '1. ',
      '# ',
      '-# ',
      '\\',
      '@',
      '<@1>',
      '<:a:1>',
      'a',
      ' ',
      'word',
      'https://example.com/a_b*c',
      '¯\\_(ツ)_/¯',
      '😀',
      'ä',
      '*',
    )
    const text = fc.array(pieces, { maxLength: 40 }).map((parts) => `x${parts.join('').replace(/\s+$/gm, '')}x`)
    fc.assert(
      fc.property(text, (words) => {
        expect(shownText(writeMarkup({ text: words, entities: [] }))).toBe(words)
      }),
      { numRuns: 500 },
    )
  })

  test('fits, and loses nothing, for any Markdown', () => {
    const pieces = fc.constantFrom(
      '**bold** ',
      '_it_ ',
      '`code` ',
      '*'.repeat(30),
      '_'.repeat(50),
      '\n\n',
      '```\ncode\n```\n',
      '😀',
      'word '.repeat(20),
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const formatted = format(parts.join(''))
        const split = splitForDiscord(formatted, 400)
        for (const piece of split) expect(piece.length <= 400 && piece.isWellFormed()).toBe(true)
        const letters = (all: string) => all.replace(/[^\p{L}\p{Emoji_Presentation}]/gu, '')
        expect(letters(split.map((piece) => shownText(piece)).join(''))).toBe(letters(splitText(formatted, 100_000)[0]?.text ?? ''))
        expect(splitForDiscord(formatted, 400)).toEqual(split)
      }),
      { numRuns: 100 },
    )
  })
})
