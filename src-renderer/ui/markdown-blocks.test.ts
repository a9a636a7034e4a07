import fc from 'fast-check'
import { Lexer } from 'marked'
import { describe, expect, it, vi } from 'vitest'
import { createMarkdownBlocks, type MarkdownBlock } from './markdown-blocks.ts'

function blocksOf(text: string): readonly MarkdownBlock[] {
  return createMarkdownBlocks().update(text, true)
}

function htmlOf(text: string): string {
  return blocksOf(text)
    .map((block) => (block.kind === 'html' ? block.html.trim() : `[${block.lang}]${block.text}`))
    .join('|')
}

describe('blocks of a finished text', () => {
  it.each([
    ['# Title', '<h3>Title</h3>'],
    ['#### Deep', '<h6>Deep</h6>'],
    ['```ts\nconst a = 1\n```', '[ts]const a = 1'],
    ['```ts title="x y"\na\n```', '[ts]a'],
    ['~~~\nplain', '[]plain'],
    ['a &copy; b & c', '<p>a &copy; b &amp; c</p>'],
    ['a \\< b', '<p>a &lt; b</p>'],
    ['line<br>two <kbd>Ctrl</kbd>', '<p>line<br>two <kbd>Ctrl</kbd></p>'],
    ['<b onclick=x>hi</b>', '<p>&lt;b onclick=x&gt;hi&lt;/b&gt;</p>'],
    ['<div>\nhi\n</div>', '<p>&lt;div&gt;<br>hi<br>&lt;/div&gt;</p>'],
    ['<!-- note -->', ''],
    ['<pre><i>raw</i></pre>', '<p>&lt;pre&gt;&lt;i&gt;raw&lt;/i&gt;&lt;/pre&gt;</p>'],
    ['[a](https://x.test/p?q=1&r=2)', '<p><a href="https://x.test/p?q=1&amp;r=2">a</a></p>'],
    ['[a](javascript:alert(1))', '<p>a</p>'],
    ['[a](//evil.test)', '<p>a</p>'],
    ['[a](file:///etc/passwd)', '<p>a</p>'],
    ['https://x.test.', '<p><a href="https://x.test/">https://x.test</a>.</p>'],
    ['![A cat](https://x.test/cat.png)', '<p><a class="md-image" href="https://x.test/cat.png">A cat</a></p>'],
    ['![](https://x.test/d/cat.png)', '<p><a class="md-image" href="https://x.test/d/cat.png">cat.png</a></p>'],
    ['![A cat](data:image/png;base64,AA)', '<p><span class="md-image">A cat</span></p>'],
    ['see [it][1]\n\n[1]: https://x.test', '<p>see <a href="https://x.test/">it</a></p>'],
  ])('%s', (markdown, expected) => {
    expect(htmlOf(markdown)).toBe(expected)
  })

  it('shows task list boxes as text', () => {
    expect(htmlOf('- [x] done\n- [ ] open')).toMatch(/☑ .*done[\s\S]*☐ .*open/)
    expect(htmlOf('- [x] done')).not.toContain('<input')
  })

  it('reads a list in a quotation that follows text of a list', () => {
    const html = htmlOf('- See the rule:\n  > 2. Users must agree\n  (from the docs)')
    expect(html).toMatch(/<li>See the rule:\s*<blockquote>\s*<ol start="2">\s*<li>Users must agree\s+\(from the docs\)<\/li>/)
  })

  it('takes no other number than 1 for a list in the middle of a paragraph of an item', () => {
    expect(htmlOf('- one\n  2. two')).toBe('<ul>\n<li>one\n2. two</li>\n</ul>')
  })

  it('shows a text that cannot be parsed as it is', () => {
    const lex = vi.spyOn(Lexer.prototype, 'lex').mockImplementation(() => {
      throw new TypeError('a bug of marked')
    })
    try {
      expect(htmlOf('**a**\n<i>b</i>')).toBe('<p>**a**<br>&lt;i&gt;b&lt;/i&gt;</p>')
    } finally {
      lex.mockRestore()
    }
  })

  it('parses lists and quotations in each other', () => {
    const lex = vi.spyOn(Lexer.prototype, 'lex')
    const lines = fc.constantFrom('- a\n', '> a\n', '2. a\n', '> - a\n', '  > 2. a\n', '  - > a\n', '  a\n', 'a\n', '\n', '---\n')
    try {
      fc.assert(
        fc.property(fc.array(lines, { maxLength: 10 }), (all) => void blocksOf(all.join(''))),
        { numRuns: 1000 },
      )
      expect(lex.mock.results.filter(({ type }) => type === 'throw')).toEqual([])
    } finally {
      lex.mockRestore()
    }
  })
})

const PIECES = fc.constantFrom(
  '# Head\n',
  'word ',
  '**bold** ',
  '\n',
  '\n\n',
  '- item\n',
  '  - inner\n',
  '1. one\n',
  '> quote\n',
  '```js\n',
  '```\n',
  '---\n',
  '===\n',
  '| a | b |\n',
  '|---|---|\n',
  '    code\n',
  '<div>\n',
  '</div>\n',
  '[x]: https://x.test\n',
  '[x] ',
  '\r\n',
  '`code` ',
  '- [ ] t\n',
  '   ',
  '*',
)

describe('blocks of a text that grows', () => {
  it('gives the same blocks as parsing the whole text, however it was cut', () => {
    fc.assert(
      fc.property(fc.array(PIECES, { maxLength: 40 }), fc.array(fc.nat(7), { minLength: 1, maxLength: 10 }), (pieces, cuts) => {
        const text = pieces.join('')
        const blocks = createMarkdownBlocks()
        for (let at = 0, i = 0; at < text.length; at += 1 + cuts[i++ % cuts.length]!) blocks.update(text.slice(0, at), false)
        expect(blocks.update(text, true)).toEqual(blocksOf(text))
      }),
    )
  })

  it('shows the text so far', () => {
    const text =
      '# Report\n\nSome **words** here.\n\n- one\n- two\n\n```sh\nls -l\necho 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nThe end.'
    const blocks = createMarkdownBlocks()
    for (let at = 1; at <= text.length; at++) {
      expect(blocks.update(text.slice(0, at), false), `after ${at} characters`).toEqual(blocksOf(text.slice(0, at)))
    }
  })

  it('keeps finished blocks as they are', () => {
    const blocks = createMarkdownBlocks()
    const before = blocks.update('one\n\n```js\na', false)
    const after = blocks.update('one\n\n```js\na\nb', false)
    expect(after[0]).toBe(before[0])
    expect(after[1]).toEqual({ kind: 'code', lang: 'js', text: 'a\nb' })
    expect(blocks.update('one\n\n```js\na\nb\n```', true)[0]).toBe(before[0])
  })

  it('starts over with another text', () => {
    const blocks = createMarkdownBlocks()
    blocks.update('one\n\ntwo\n\nthree', false)
    expect(blocks.update('four', false)).toEqual([{ kind: 'html', html: '<p>four</p>\n' }])
  })

  it.each(['_a__', '_a', '**a*', '_a__ '])('takes time in proportion to the length of %j again and again', (marks) => {
    const read = (length: number, times: number) =>
      fastestOf(() => repeat(times, () => createMarkdownBlocks().update(marks.repeat(length), true)))
    // In proportion it is the same, and 16 times as much for the square.
    expect(read(16_000, 1)).toBeLessThan(6 * read(1000, 16))
  })

  it('takes time in proportion to the lines that follow an item of a list', () => {
    const read = (lines: number, times: number) =>
      fastestOf(() => repeat(times, () => createMarkdownBlocks().update(`- a\n${'b\n'.repeat(lines)}`, true)))
    // In proportion it is the same, and 16 times as much for the square.
    expect(read(16_000, 1)).toBeLessThan(6 * read(1000, 16))
  })

  it('makes no link of an address that is too long to be one', () => {
    const html = (text: string) => blocksOf(text).map((block) => (block.kind === 'html' ? block.html : ''))
    expect(html(`https://x.test/${'a'.repeat(1900)} b`)[0]).toContain('<a href')
    expect(html(`https://x.test/${'.'.repeat(400_000)}`)[0]).not.toContain('<a href')
  })

  it('shows signs of lists and quotations as text beyond twenty levels', () => {
    for (const sign of ['> ', '- ', '1. ', '> - ', '- - ']) {
      const html = blocksOf(`${sign.repeat(20_000)}the end`)
        .map((block) => (block.kind === 'html' ? block.html : ''))
        .join('')
      expect(html.match(/<(?:blockquote|ul|ol)/g)).toHaveLength(20)
      expect(html).toContain('the end')
    }
  })

  it('does not parse a long text again for every token', () => {
    const long = Array.from({ length: 2000 }, (_, i) => `Paragraph ${i} with **some** words and \`code\`.`).join('\n\n')
    const whole = fastestOf(() => createMarkdownBlocks().update(long, true))
    const twoHundredTokens = fastestOf(() => {
      const grown = createMarkdownBlocks()
      for (let i = 0; i < 200; i++) grown.update(`${long}${' token'.repeat(i)}`, false)
    })
    // Read again for each token it would cost two hundred times the whole.
    expect(twoHundredTokens).toBeLessThan(whole * 40)
  })
})

/** In processor time, which does not depend on how busy the machine is. A collection of garbage hardly comes five times. */
function fastestOf(run: () => void): number {
  return Math.min(...Array.from({ length: 5 }, () => cpuMsOf(run)))
}

function repeat(times: number, work: () => void): void {
  for (let i = 0; i < times; i++) work()
}

function cpuMsOf(run: () => void): number {
  const before = spentMs()
  run()
  return spentMs() - before
}

function spentMs(): number {
  // The types of the page lack Node.
  const { process } = globalThis as unknown as { process: { threadCpuUsage(): { user: number; system: number } } }
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
