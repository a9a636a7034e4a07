import fc from 'fast-check'
import { lexer } from 'marked'
import { describe, expect, test } from 'vitest'
import { checkBlocks, mentionsIn, shownText } from '../../../testing/slack-server/blocks.ts'
import { formatMarkdown } from '../formatted-text.ts'
import { splitText } from '../split-text.ts'
import { blocksOf, escapeText } from './rich-text.ts'

const dress = (markdown: string) => formatMarkdown(markdown, (source) => lexer(source))
const elementsOf = (markdown: string) => (blocksOf(dress(markdown), [])[0] as { elements: unknown }).elements

describe('Markdown as blocks', () => {
  test.each<[string, unknown]>([
    ['**a** b', [section({ text: 'a', style: { bold: true } }, { text: ' b' })]],
    ['**a _b_**', [section({ text: 'a ', style: { bold: true } }, { text: 'b', style: { bold: true, italic: true } })]],
    ['`<!channel>` ~~x~~', [section({ text: '<!channel>', style: { code: true } }, { text: ' ' }, { text: 'x', style: { strike: true } })]],
    [
      '[a](https://a.example/?x=1)',
      [{ type: 'rich_text_section', elements: [{ type: 'link', url: 'https://a.example/?x=1', text: 'a' }] }],
    ],
    ['[a](tg://x)', [section({ text: 'a' })]],
    [
      'Before\n\n```ts\nlet *a*\n\nb\n```\n\nAfter',
      [
        section({ text: 'Before' }),
        { type: 'rich_text_preformatted', elements: [{ type: 'text', text: 'let *a*\n\nb' }] },
        section({ text: 'After' }),
      ],
    ],
    [
      '> q **b**\n\nx',
      [{ ...section({ text: 'q ' }, { text: 'b', style: { bold: true } }), type: 'rich_text_quote' }, section({ text: 'x' })],
    ],
  ])('%j', (markdown, elements) => expect(elementsOf(markdown)).toEqual(elements))

  test('are accepted, mention nobody and lose no word, whatever the text is', () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.constantFrom(
        '<!channel>',
        '<@U0A>',
        '@here',
        '**',
        '_',
        '`',
        '```\n',
        '> ',
        '- ',
        '\n',
        '\n\n',
        '[a](https://a.example)',
        '&amp;',
        'مرحبا',
        '日本語',
        '👨‍👩‍👧',
      ),
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), fc.integer({ min: 20, max: 300 }), (words, most) => {
        for (const piece of splitText(dress(words.join('')), most)) {
          const blocks = checkBlocks(JSON.stringify(blocksOf(piece, [])))
          expect(mentionsIn(escapeText(piece.text), blocks)).toEqual([])
          expect(shownText('', blocks).replace(/\s/g, '')).toBe(piece.text.replace(/\s/g, ''))
          expect(shownText(escapeText(piece.text), undefined)).toBe(piece.text)
        }
      }),
    )
  })

  test('have at most 25 buttons, with short labels', () => {
    const buttons = Array.from({ length: 30 }, (_, i) => ({ label: `${i} ${'😀'.repeat(60)}`, action: `choose:1:${i}` }))
    const [, actions] = checkBlocks(JSON.stringify(blocksOf({ text: 'x', entities: [] }, buttons)))
    expect(actions!.elements).toHaveLength(25)
  })
})

function section(...elements: { text: string; style?: unknown }[]) {
  return { type: 'rich_text_section', elements: elements.map((element) => ({ type: 'text', ...element })) }
}
