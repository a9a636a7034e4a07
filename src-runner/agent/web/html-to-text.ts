import { setImmediate as breathe } from 'node:timers/promises'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { PageLines, type Place } from './page-lines.ts'

type PageOptions = {
  /** The base of its links. */
  address: URL
  /** Include navigation, sidebars and footers. */
  whole?: boolean
  signal?: AbortSignal
}

const SLICE_CHARS = 8_192
/** How long a slice may hold the event loop. */
const WORK_MS = 8
/** Every closing tag searches the open elements, so deeper ones are not tracked. */
const MAX_DEPTH = 400
const MAX_TEXT_CHARS = 8_000_000
const MAX_ATTRIBUTE_CHARS = 4_000
const MAX_LINK_CHARS = 1_000
const MAX_TITLE_CHARS = 300

/**
 * The visible text of a page as Markdown: headings, lists, tables as rows, links with full addresses. The tokenizer gets
 * small slices, and the work is linear in the slice, so no page can block the event loop.
 */
export async function htmlToText(html: string, { address, whole = false, signal }: PageOptions) {
  const reader = new PageReader(html, address)
  const tokenizer = new Tokenizer({}, reader)
  let since = performance.now()
  const rest = async () => {
    if (performance.now() - since < WORK_MS) return
    await breathe()
    signal?.throwIfAborted()
    since = performance.now()
  }
  for (let at = 0; at < html.length && reader.lines.chars < MAX_TEXT_CHARS; at += SLICE_CHARS) {
    tokenizer.write(html.slice(at, at + SLICE_CHARS))
    await rest()
  }
  tokenizer.end()
  reader.lines.finish()

  const { lines } = reader.lines
  const places = reader.lines.places()
  const parts: string[] = []
  let hasMore = false
  for (let at = 0; at < lines.length; at += SLICE_CHARS) {
    const shown = lines.slice(at, at + SLICE_CHARS).filter(({ place, text }) => {
      const isShown = whole || places.has(place)
      hasMore ||= !isShown && text !== ''
      return isShown
    })
    if (shown.length > 0) parts.push(shown.map(({ text }) => text).join('\n'))
    await rest()
  }
  const title = reader.title.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARS)
  return {
    title,
    text: parts.join('\n').trim(),
    /** `<meta http-equiv="refresh">` */
    refreshesTo: reader.refreshesTo,
    /** Navigation, sidebars or footers were left out. */
    hasMore,
  }
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const VOID = words('area base br col embed hr img input link meta param source track wbr basefont bgsound frame keygen')
/** Elements without text for readers. */
const SKIPPED = words(
  'script style template noscript noembed noframes iframe object embed canvas audio video select datalist textarea svg annotation annotation-xml',
)
/** The tokenizer reads these as text, up to their end tag. */
const RAW = words('script style iframe noembed noframes textarea title xmp plaintext')
const FOREIGN = words('svg math')
/** Begin a line; paragraphs also get an empty line before. */
const BLOCKS = words(
  'address article aside body center dd details dialog dir div dl dt fieldset figcaption figure footer form header hgroup html legend main menu nav option ol optgroup search section summary table tbody tfoot thead ul caption',
)
const PARAGRAPHS = words('p blockquote pre h1 h2 h3 h4 h5 h6 hr table ul ol dl figure')
const HEADING = /^h([1-6])$/
const AROUND_ROLES = words('navigation contentinfo complementary banner search')

/** What an opening tag closes, and the elements at which the search ends. */
const IMPLIED = new Map(
  Object.entries({
    li: { closes: words('li'), within: words('ul ol menu dir') },
    dt: { closes: words('dt dd'), within: words('dl') },
    dd: { closes: words('dt dd'), within: words('dl') },
    td: { closes: words('td th'), within: words('tr table') },
    th: { closes: words('td th'), within: words('tr table') },
    tr: { closes: words('tr'), within: words('table') },
    tbody: { closes: words('thead tbody tfoot'), within: words('table') },
    tfoot: { closes: words('thead tbody tfoot'), within: words('table') },
    a: { closes: words('a'), within: words('td th table') },
    option: { closes: words('option'), within: words('select datalist') },
  }),
)
/** Inside a cell, only end tags of the table close anything outside. */
const CELLS = words('td th caption')
const TABLE_PARTS = words('table thead tbody tfoot tr td th caption')

const READ_ATTRIBUTES = words('href src alt hidden aria-hidden style role http-equiv content open start type')

const HIDDEN_STYLE =
  /display:none|visibility:(hidden|collapse)|content-visibility:hidden|opacity:0(\.0*)?(;|!|$)|font-size:0(\.0*)?(px|pt|em|rem|%)?(;|!|$)|(left|top|right|text-indent|margin-left):-\d{3,}/

type Attributes = Map<string, string>

/** An open element. Apart from the name, everything also holds for the elements in it. */
type Element = typeof PAGE

const PAGE = {
  name: '',
  isSkipped: false,
  isPreformatted: false,
  isForeign: false,
  isQuoted: false,
  place: 'body' as Place,
  listDepth: 0,
  /** `count`: the number of the last item; null: no numbers. */
  list: { count: null as number | null },
  /** The table row. */
  row: null as { cells: number } | null,
}

/** Tracks the open elements and writes the visible text. */
class PageReader implements TokenizerCallbacks {
  readonly lines = new PageLines()
  title = ''
  refreshesTo: string | null = null
  private readonly html: string
  private base: URL
  private hasBase = false
  private readonly open: Element[] = []
  private isTitle = false
  private rawName = ''

  private tag = ''
  private attributeName: string | null = null
  private attributeValue = ''
  private attributes: Attributes = new Map()

  constructor(html: string, address: URL) {
    this.html = html
    this.base = address
  }

  private get inner(): Element {
    return this.open.at(-1) ?? PAGE
  }

  isInForeignContext(): boolean {
    return this.inner.isForeign
  }

  onopentagname(start: number, end: number): void {
    this.tag = this.html.slice(start, Math.min(end, start + 40)).toLowerCase()
    this.attributes = new Map()
  }

  onattribname(start: number, end: number): void {
    const name = this.html.slice(start, Math.min(end, start + 40)).toLowerCase()
    this.attributeName = READ_ATTRIBUTES.has(name) && !this.attributes.has(name) ? name : null
    this.attributeValue = ''
  }

  onattribdata(start: number, end: number): void {
    if (this.attributeName !== null && this.attributeValue.length < MAX_ATTRIBUTE_CHARS) this.attributeValue += this.html.slice(start, end)
  }

  onattribentity(codePoint: number): void {
    if (this.attributeName !== null && this.attributeValue.length < MAX_ATTRIBUTE_CHARS)
      this.attributeValue += String.fromCodePoint(codePoint)
  }

  onattribend(): void {
    if (this.attributeName !== null) this.attributes.set(this.attributeName, this.attributeValue)
    this.attributeName = null
  }

  onopentagend(): void {
    this.enter(this.tag, this.attributes)
  }

  onselfclosingtag(): void {
    this.enter(this.tag, this.attributes)
    // Only foreign elements close themselves; `<div/>` is a `<div>`.
    if (this.inner.isForeign && this.inner.name === this.tag) this.leave()
  }

  onclosetag(start: number, end: number): void {
    const name = this.html.slice(start, Math.min(end, start + 40)).toLowerCase()
    if (name === this.rawName) {
      this.rawName = ''
      this.isTitle = false
    }
    if (name === 'br') return this.breakHere()
    for (let at = this.open.length - 1; at >= 0; at--) {
      const here = this.open[at]!.name
      if (here === name) {
        while (this.open.length > at) this.leave()
        return
      }
      if (CELLS.has(here) && !TABLE_PARTS.has(name)) break
    }
    // `</p>` without `<p>` is an empty paragraph.
    if (name === 'p' && !this.inner.isSkipped) this.lines.breakLine(2)
  }

  ontext(start: number, end: number): void {
    this.write(this.html.slice(start, end))
  }

  ontextentity(codePoint: number): void {
    this.write(String.fromCodePoint(codePoint))
  }

  oncdata(start: number, end: number): void {
    if (this.inner.isForeign) this.write(this.html.slice(start, end - 2))
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {
    while (this.open.length > 0) this.leave()
  }

  private write(text: string): void {
    if (this.isTitle) {
      if (this.title.length < MAX_TITLE_CHARS * 2) this.title += text
      return
    }
    const { isSkipped, isPreformatted, listDepth, place } = this.inner
    if (isSkipped || SKIPPED.has(this.rawName)) return
    if (isPreformatted) this.lines.addPreformatted(text, place)
    else this.lines.addText(text, Math.max(0, listDepth - 1), place)
  }

  private enter(name: string, attributes: Attributes): void {
    const isBlock = BLOCKS.has(name) || PARAGRAPHS.has(name)
    if (isBlock) while (this.inner.isForeign) this.leave()
    if (RAW.has(name) && !this.inner.isForeign) this.rawName = name
    if (name === 'title' && !this.inner.isForeign) this.isTitle = this.title === ''
    if (VOID.has(name)) return this.single(name, attributes)
    const implied = IMPLIED.get(name)
    if (implied !== undefined) this.closeImplied(implied.closes, implied.within)
    if (this.inner.name === 'p' && isBlock) this.leave()
    if (this.open.length >= MAX_DEPTH) return this.lines.breakLine(1)
    this.open.push(elementIn(this.inner, name, attributes))
    if (!this.inner.isSkipped) this.begin(this.inner, attributes)
  }

  private begin({ name, listDepth, list, row, place }: Element, attributes: Attributes): void {
    const { lines } = this
    if (name === 'li') return lines.beginItem(list.count === null ? '- ' : `${++list.count}. `)
    if (name === 'tr') return lines.beginRow()
    if (name === 'td' || name === 'th') return lines.beginCell(row === null || row.cells++ === 0, place)
    if (PARAGRAPHS.has(name) && listDepth <= 1) lines.breakLine(2)
    else if (BLOCKS.has(name) || PARAGRAPHS.has(name)) lines.breakLine(1)
    const heading = HEADING.exec(name)
    if (heading !== null) lines.beginHeading(Number(heading[1]))
    const address = name === 'a' ? this.linkOf(attributes.get('href')) : null
    if (address !== null) lines.openLink(address)
  }

  private leave(): void {
    const { name, isSkipped } = this.open.pop()!
    if (isSkipped) return
    if (name === 'a') this.lines.closeLink()
    if (name === 'li') this.lines.endItem()
    else if (name === 'td' || name === 'th') this.lines.endCell()
    else if (name === 'tr') this.lines.beginRow()
    else if (HEADING.test(name)) this.lines.endHeading()
    if (PARAGRAPHS.has(name) && (this.inner.listDepth === 0 || name === 'pre')) this.lines.breakLine(2)
    else if (BLOCKS.has(name) || PARAGRAPHS.has(name)) this.lines.breakLine(1)
  }

  private single(name: string, attributes: Attributes): void {
    if (name === 'base' && !this.hasBase) this.readBase(attributes.get('href'))
    if (name === 'meta' && attributes.get('http-equiv')?.toLowerCase() === 'refresh') this.readRefresh(attributes.get('content') ?? '')
    if (this.inner.isSkipped) return
    if (name === 'br') this.breakHere()
    if (name === 'hr') this.lines.breakLine(2)
    if (name === 'img' && !isHidden(name, attributes)) {
      const alt = (attributes.get('alt') ?? '').trim()
      if (alt !== '') this.write(`[image: ${alt}]`)
    }
  }

  private breakHere(): void {
    const { isSkipped, isPreformatted, place } = this.inner
    if (isSkipped) return
    if (isPreformatted) this.lines.addPreformatted('\n', place)
    else this.lines.breakLine(1)
  }

  private closeImplied(closes: ReadonlySet<string>, within: ReadonlySet<string>): void {
    for (let at = this.open.length - 1; at >= 0; at--) {
      const { name } = this.open[at]!
      if (within.has(name)) return
      if (closes.has(name)) {
        while (this.open.length > at) this.leave()
        return
      }
    }
  }

  private linkOf(href: string | undefined): string | null {
    const text = href?.trim() ?? ''
    if (text === '' || text.startsWith('#') || text.length > MAX_LINK_CHARS || !URL.canParse(text, this.base.href)) return null
    const url = new URL(text, this.base)
    const isUseful = ['http:', 'https:', 'mailto:', 'tel:'].includes(url.protocol)
    return isUseful && url.href.length <= 2 * MAX_LINK_CHARS ? url.href : null
  }

  private readBase(href: string | undefined): void {
    const address = this.linkOf(href)
    if (address === null || !address.startsWith('http')) return
    this.base = new URL(address)
    this.hasBase = true
  }

  private readRefresh(content: string): void {
    const target = /^\s*\d+(?:\.\d*)?\s*[;,]\s*url\s*=\s*(.+)$/is.exec(content)?.[1]
    this.refreshesTo ??= this.linkOf(target?.trim().replace(/^(['"])(.*)\1$/s, '$2'))
  }
}

function elementIn(outer: Element, name: string, attributes: Attributes): Element {
  const element = { ...outer, name, place: placeIn(outer, name, attributes.get('role') ?? '') }
  element.isSkipped ||= SKIPPED.has(name) || isHidden(name, attributes)
  element.isPreformatted ||= name === 'pre'
  element.isForeign ||= FOREIGN.has(name)
  element.isQuoted ||= name === 'blockquote'
  if (name === 'table') element.row = null
  if (name === 'tr') element.row = { cells: 0 }
  if (name === 'ol' || name === 'ul' || name === 'menu') {
    const start = Number(attributes.get('start') ?? 1)
    element.listDepth++
    element.list = { count: name === 'ol' ? (Number.isSafeInteger(start) ? start : 1) - 1 : null }
  }
  return element
}

function placeIn({ place, isQuoted }: Element, name: string, role: string): Place {
  if (place === 'around' || name === 'nav' || name === 'aside' || AROUND_ROLES.has(role)) return 'around'
  if (place === 'main' || name === 'main' || role === 'main') return 'main'
  if (place === 'article' || name === 'article' || role === 'article') return 'article'
  return !isQuoted && (name === 'footer' || name === 'header') ? 'around' : 'body'
}

function isHidden(name: string, attributes: Attributes): boolean {
  if (attributes.has('hidden') && attributes.get('hidden') !== 'until-found') return true
  if (attributes.get('aria-hidden')?.toLowerCase() === 'true') return true
  if (name === 'dialog' && !attributes.has('open')) return true
  const style = attributes.get('style')
  return style !== undefined && HIDDEN_STYLE.test(style.replace(/\s+/g, '').toLowerCase())
}
