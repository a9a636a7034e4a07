import { Lexer, Marked, type Token, Tokenizer, type Tokens } from 'marked'

/** A top-level block. Code is kept as text, so that it can grow without being rendered again. The rest is untrusted HTML. */
export type MarkdownBlock = { kind: 'html'; html: string } | { kind: 'code'; lang: string; text: string }

export type MarkdownBlocks = {
  /**
   * The blocks of `text`. While `finished` is false and the text only grows, only the last block is parsed again. Blocks
   * that did not change are the same objects as in the last result.
   */
  update(text: string, finished: boolean): readonly MarkdownBlock[]
}

type Links = Lexer['tokens']['links']

/**
 * How far ahead an emphasis, a mail address or plain text is read. Each place looks for its own end, so without a bound the time is
 * quadratic.
 */
const AHEAD_CHARS = 1000
const ADDRESS_START = /^(?:https?:\/\/|ftp:\/\/|www\.)/i
/** Signs after an address are taken off it one by one, each time reading all of it. */
const MAX_ADDRESS_CHARS = 2000
/** In a list, every line may be the first of a heading that is underlined below. */
const MAX_HEADING_LINES = 5
/** Lists and quotations are read by recursion, each level reading all that is in it. */
const MAX_NESTING = 20

/** The only HTML tags that a model may write. Any other HTML is shown as text. */
const HARMLESS_TAG = /^<(?:br *\/?|\/?(?:kbd|sub|sup))>$/i
const HTML_COMMENT = /^<!--[\s\S]*?-->\s*$/
const FENCE_LANGUAGE = /^[\w+#.-]{1,30}/

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}

/** Character references stay what they are: `&copy;` in Markdown is ©. */
function escapeText(text: string): string {
  return escapeHtml(text).replaceAll(/&amp;(#\d{1,7};|#[Xx][\dA-Fa-f]{1,6};|\w{1,32};)/g, '&$1')
}

/** The address when it is one that may be opened (http or https, absolute), else null. */
export function webAddress(href: string): string | null {
  if (!/^https?:\/\//i.test(href)) return null
  try {
    return new URL(href).href
  } catch {
    return null
  }
}

function fileNameOf(address: string): string {
  const url = new URL(address)
  return url.pathname.split('/').findLast((part) => part !== '') ?? url.host
}

function languageOf(lang: string | undefined): string {
  return FENCE_LANGUAGE.exec(lang ?? '')?.[0] ?? ''
}

let nesting = 0

/** Reads a list or a quotation, unless it is nested too deeply: then its signs are shown as text. */
function readNested<T>(read: () => T): T | undefined {
  if (nesting === MAX_NESTING) return undefined
  nesting++
  try {
    return read()
  } finally {
    nesting--
  }
}

function firstLines(text: string, count: number): string {
  let end = -1
  for (let line = 0; line < count; line++) {
    end = text.indexOf('\n', end + 1)
    if (end === -1) return text
  }
  return text.slice(0, end + 1)
}

const marked = new Marked({
  gfm: true,
  tokenizer: {
    blockquote(src) {
      // marked reads the last list of a quotation twice. The second time it would take the text before the quotation for the text
      // before the list, which most numbers cannot interrupt, find no list, and throw.
      const { state } = this.lexer
      const { lastToken } = state
      state.lastToken = undefined
      const quotation = readNested(() => Tokenizer.prototype.blockquote.call(this, src))
      state.lastToken = lastToken
      return quotation
    },
    list(src) {
      return readNested(() => Tokenizer.prototype.list.call(this, src))
    },
    lheading(src) {
      return Tokenizer.prototype.lheading.call(this, firstLines(src, MAX_HEADING_LINES))
    },
    emStrong(src, maskedSrc, prevChar) {
      if (src.length <= AHEAD_CHARS) return false
      const from = maskedSrc.length - src.length
      const masked = maskedSrc.slice(from, from + AHEAD_CHARS)
      return Tokenizer.prototype.emStrong.call(this, src.slice(0, AHEAD_CHARS), masked, prevChar)
    },
    url(src) {
      if (!ADDRESS_START.test(src)) return src.length <= AHEAD_CHARS ? false : Tokenizer.prototype.url.call(this, src.slice(0, AHEAD_CHARS))
      return src.length <= MAX_ADDRESS_CHARS || /[\s<]/.test(src.slice(0, MAX_ADDRESS_CHARS)) ? false : undefined
    },
    inlineText(src) {
      return src.length <= AHEAD_CHARS ? false : Tokenizer.prototype.inlineText.call(this, src.slice(0, AHEAD_CHARS))
    },
  },
  renderer: {
    // A page has its own headings above: a reply's h1 is the third level there.
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
    },
    html(token) {
      if (HARMLESS_TAG.test(token.raw.trim())) return token.raw.trim()
      if (HTML_COMMENT.test(token.raw)) return ''
      const text = escapeHtml(token.raw.trimEnd())
      return 'block' in token && token.block ? `<p>${text.replaceAll('\n', '<br>')}</p>\n` : text
    },
    text(token) {
      return 'tokens' in token && token.tokens ? this.parser.parseInline(token.tokens) : escapeText(token.text)
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens)
      const address = webAddress(href)
      return address === null ? inner : `<a href="${escapeHtml(address)}">${inner}</a>`
    },
    // Fetching an image would carry data out of the machine in its address, so an image is a link to itself.
    image({ href, text }) {
      const address = webAddress(href)
      if (address === null) return text === '' ? '' : `<span class="md-image">${escapeHtml(text)}</span>`
      return `<a class="md-image" href="${escapeHtml(address)}">${escapeHtml(text === '' ? fileNameOf(address) : text)}</a>`
    },
    code({ text, lang }) {
      const language = languageOf(lang)
      return `<pre><code${language === '' ? '' : ` class="language-${escapeHtml(language)}"`}>${escapeHtml(text)}</code></pre>\n`
    },
    checkbox({ checked }) {
      return checked ? '☑ ' : '☐ '
    },
  },
})

function isSilent(token: Token): boolean {
  return token.type === 'space' || token.type === 'def'
}

function blockOf(token: Token): MarkdownBlock | null {
  if (isSilent(token)) return null
  if (token.type === 'code') {
    const code = token as Tokens.Code
    return { kind: 'code', lang: languageOf(code.lang), text: code.text }
  }
  const html = marked.parser([token])
  return html.trim() === '' ? null : { kind: 'html', html }
}

function lex(text: string, links: Links): { tokens: Token[]; links: Links } {
  const lexer = new Lexer(marked.defaults)
  lexer.tokens.links = { ...links }
  try {
    const tokens = lexer.lex(text)
    return { tokens, links: lexer.tokens.links }
  } catch {
    // A bug of marked must not make a conversation unreadable. HTML is shown as text.
    const plain: Tokens.HTML = { type: 'html', raw: text, text, block: true, pre: false }
    return { tokens: [plain], links }
  }
}

function isSame(a: MarkdownBlock | undefined, b: MarkdownBlock): boolean {
  if (a === undefined) return false
  if (a.kind === 'code') return b.kind === 'code' && a.lang === b.lang && a.text === b.text
  return b.kind === 'html' && a.html === b.html
}

/** Parses a text that grows: the work of each update is that of its last block, not of the whole text. */
export function createMarkdownBlocks(): MarkdownBlocks {
  let settledText = ''
  let settled: MarkdownBlock[] = []
  let settledLinks: Links = {}
  let last: readonly MarkdownBlock[] = []

  function settle(tokens: Token[], tail: string, links: Links): void {
    const raw = tokens.map((token) => token.raw).join('')
    // The lexer answers what it read, character for character. Were that ever not so, only speed would be lost.
    if (!tail.startsWith(raw)) return
    settledText += raw
    settledLinks = links
    for (const token of tokens) {
      const block = blockOf(token)
      if (block !== null) settled.push(block)
    }
  }

  function parse(text: string, finished: boolean): MarkdownBlock[] {
    if (finished || !text.startsWith(settledText)) {
      settledText = ''
      settled = []
      settledLinks = {}
    }
    const tail = text.slice(settledText.length)
    const { tokens, links } = lex(tail, settledLinks)
    const live = finished ? -1 : tokens.findLastIndex((token) => !isSilent(token))
    if (live > 0) settle(tokens.slice(0, live), tail, links)
    const open = live > 0 && settledText.length > 0 ? tokens.slice(live) : tokens
    return [...settled, ...open.map(blockOf).filter((block) => block !== null)]
  }

  return {
    update(text, finished) {
      const blocks = parse(text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text, finished)
      last = blocks.map((block, index) => (isSame(last[index], block) ? last[index]! : block))
      return last
    },
  }
}
