import { setImmediate as breathe } from 'node:timers/promises'
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { PageLines, type Place } from './page-lines.ts'

export type PageText = {
  title: string
  text: string
  /** `<meta http-equiv="refresh">` */
  refreshesTo: string | null
  /** Navigation, sidebars or footers were left out. */
  hasMore: boolean
}

export type PageOptions = {
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
export async function htmlToText(html: string, { address, whole = false, signal }: PageOptions): Promise<PageText> {
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
  return { title, text: parts.join('\n').trim(), refreshesTo: reader.refreshesTo, hasMore }
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
const IMPLIED: Record<string, { closes: ReadonlySet<string>; within: ReadonlySet<string> }> = {
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
}
/** Inside a cell, only end tags of the table close anything outside. */
const CELLS = words('td th caption')
const TABLE_PARTS = words('table thead tbody tfoot tr td th caption')

const READ_ATTRIBUTES = words('href src alt hidden aria-hidden style role http-equiv content open start type')

const HIDDEN_STYLE =
  /display:none|visibility:(hidden|collapse)|content-visibility:hidden|opacity:0(\.0*)?(;|!|$)|font-size:0(\.0*)?(px|pt|em|rem|%)?(;|!|$)|(left|top|right|text-indent|margin-left):-\d{3,}/

type Attributes = Map<string, string>

type Element = {
  name: string
  isSkipped: boolean
  place: Place | null
  isLink: boolean
  /** The number of the last item. null: no numbers. */
  list: { count: number | null } | null
  cells: number
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
  /** How many open elements are of each kind. */
  private skipped = 0
  private lists = 0
  private preformatted = 0
  private foreign = 0
  private around = 0
  private mains = 0
  private articles = 0
  private quotes = 0
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

  isInForeignContext(): boolean {
    return this.foreign > 0
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
    if (this.foreign > 0 && this.open.at(-1)?.name === this.tag) this.leave()
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
    if (name === 'p' && this.skipped === 0) this.lines.breakLine(2)
  }

  ontext(start: number, end: number): void {
    this.write(this.html.slice(start, end))
  }

  ontextentity(codePoint: number): void {
    this.write(String.fromCodePoint(codePoint))
  }

  oncdata(start: number, end: number): void {
    if (this.foreign > 0) this.write(this.html.slice(start, end - 2))
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
    if (this.skipped > 0 || SKIPPED.has(this.rawName)) return
    if (this.preformatted > 0) this.lines.addPreformatted(text, this.place())
    else this.lines.addText(text, Math.max(0, this.lists - 1), this.place())
  }

  private place(): Place {
    if (this.around > 0) return 'around'
    if (this.mains > 0) return 'main'
    return this.articles > 0 ? 'article' : 'body'
  }

  private enter(name: string, attributes: Attributes): void {
    if (this.foreign > 0 && (BLOCKS.has(name) || PARAGRAPHS.has(name))) this.leaveForeign()
    if (RAW.has(name) && this.foreign === 0) this.rawName = name
    if (name === 'title' && this.foreign === 0) this.isTitle = this.title === ''
    if (VOID.has(name)) return this.single(name, attributes)
    const implied = IMPLIED[name]
    if (implied !== undefined) this.closeImplied(implied.closes, implied.within)
    if (this.open.at(-1)?.name === 'p' && (BLOCKS.has(name) || PARAGRAPHS.has(name))) this.leave()
    if (this.open.length >= MAX_DEPTH) return this.lines.breakLine(1)

    const element: Element = {
      name,
      isSkipped: SKIPPED.has(name) || isHidden(name, attributes),
      place: this.placeOf(name, attributes.get('role') ?? ''),
      isLink: false,
      list: null,
      cells: 0,
    }
    this.count(element, 1)
    if (element.isSkipped) this.skipped++
    else if (this.skipped === 0) this.begin(element, attributes)
    this.open.push(element)
  }

  private begin(element: Element, attributes: Attributes): void {
    const { name } = element
    const { lines } = this
    if (name === 'li') return lines.beginItem(this.nextMarker())
    if (name === 'tr') return lines.beginRow()
    if (name === 'td' || name === 'th') {
      const row = this.nearest('tr', 'table')
      return lines.beginCell(row === undefined || row.cells++ === 0, this.place())
    }
    if (name === 'ol' || name === 'ul' || name === 'menu') {
      const start = Number(attributes.get('start') ?? 1)
      element.list = { count: name === 'ol' ? (Number.isSafeInteger(start) ? start : 1) - 1 : null }
    }
    if (PARAGRAPHS.has(name) && !(this.lists > 1)) lines.breakLine(2)
    else if (BLOCKS.has(name) || PARAGRAPHS.has(name)) lines.breakLine(1)
    const heading = HEADING.exec(name)
    if (heading !== null) lines.beginHeading(Number(heading[1]))
    if (name === 'a') {
      const address = this.linkOf(attributes.get('href'))
      if (address !== null) {
        element.isLink = true
        lines.openLink(address)
      }
    }
  }

  private leave(): void {
    const element = this.open.pop()!
    this.count(element, -1)
    if (element.isSkipped) this.skipped--
    if (element.isSkipped || this.skipped > 0) return
    const { name } = element
    if (element.isLink) this.lines.closeLink()
    if (name === 'li') this.lines.endItem()
    else if (name === 'td' || name === 'th') this.lines.endCell()
    else if (name === 'tr') this.lines.beginRow()
    else if (HEADING.test(name)) this.lines.endHeading()
    if (PARAGRAPHS.has(name) && !(this.lists > 0 && name !== 'pre')) this.lines.breakLine(2)
    else if (BLOCKS.has(name) || PARAGRAPHS.has(name)) this.lines.breakLine(1)
  }

  private single(name: string, attributes: Attributes): void {
    if (name === 'base' && !this.hasBase) this.readBase(attributes.get('href'))
    if (name === 'meta' && attributes.get('http-equiv')?.toLowerCase() === 'refresh') this.readRefresh(attributes.get('content') ?? '')
    if (this.skipped > 0) return
    if (name === 'br') this.breakHere()
    if (name === 'hr') this.lines.breakLine(2)
    if (name === 'img' && !isHidden(name, attributes)) {
      const alt = (attributes.get('alt') ?? '').trim()
      if (alt !== '') this.write(`[image: ${alt}]`)
    }
  }

  private breakHere(): void {
    if (this.skipped > 0) return
    if (this.preformatted > 0) this.lines.addPreformatted('\n', this.place())
    else this.lines.breakLine(1)
  }

  private count({ name, place }: Element, by: 1 | -1): void {
    if (FOREIGN.has(name)) this.foreign += by
    if (name === 'pre') this.preformatted += by
    if (name === 'ul' || name === 'ol' || name === 'menu') this.lists += by
    if (name === 'blockquote') this.quotes += by
    if (place === 'around') this.around += by
    if (place === 'main') this.mains += by
    if (place === 'article') this.articles += by
  }

  private placeOf(name: string, role: string): Place | null {
    if (name === 'main' || role === 'main') return 'main'
    if (name === 'article' || role === 'article') return 'article'
    if (name === 'nav' || name === 'aside' || AROUND_ROLES.has(role)) return 'around'
    const isOfPage = this.mains === 0 && this.articles === 0 && this.quotes === 0
    return isOfPage && (name === 'footer' || name === 'header') ? 'around' : null
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

  private leaveForeign(): void {
    while (this.foreign > 0) this.leave()
  }

  private nearest(name: string, boundary: string): Element | undefined {
    for (let at = this.open.length - 1; at >= 0; at--) {
      const element = this.open[at]!
      if (element.name === name) return element
      if (element.name === boundary) return undefined
    }
    return undefined
  }

  private nextMarker(): string {
    for (let at = this.open.length - 1; at >= 0; at--) {
      const list = this.open[at]!.list
      if (list === null) continue
      return list.count === null ? '- ' : `${++list.count}. `
    }
    return '- '
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

function isHidden(name: string, attributes: Attributes): boolean {
  if (attributes.has('hidden') && attributes.get('hidden') !== 'until-found') return true
  if (attributes.get('aria-hidden')?.toLowerCase() === 'true') return true
  if (name === 'dialog' && !attributes.has('open')) return true
  const style = attributes.get('style')
  return style !== undefined && HIDDEN_STYLE.test(style.replace(/\s+/g, '').toLowerCase())
}
