/** The part of the page that a line is in. */
export type Place = 'main' | 'article' | 'body' | 'around'

type PageLine = { text: string; place: Place }

/** A row of empty cells. */
const ONLY_BARS = /^[ |]+$/

/** A part with this many characters counts as the content of the page. */
const ENOUGH_CHARS = 200

/** Collects text into lines: white space becomes one space, breaks appear only between texts, and a table row is one line. */
export class PageLines {
  readonly lines: PageLine[] = []
  chars = 0
  private readonly charsAt: Record<Place, number> = { main: 0, article: 0, body: 0, around: 0 }
  private pieces: string[] = []
  private linePlace: Place = 'body'
  private pendingSpace = false
  private pendingBreak = 0
  private marker = ''
  private isCellStart = false
  private link: { address: string; line: number; piece: number } | null = null

  /** `indent` and `place` apply if a line begins with this text. */
  addText(text: string, indent: number, place: Place): void {
    const words = text.replace(/[\s\u00a0]+/g, ' ')
    if (words === ' ' || words === '') {
      this.pendingSpace ||= words === ' '
      return
    }
    const leads = words.startsWith(' ')
    const trails = words.endsWith(' ')
    this.begin(indent, place, leads)
    this.pieces.push(words.slice(leads ? 1 : 0, trails ? -1 : undefined))
    this.pendingSpace = trails
  }

  addPreformatted(text: string, place: Place): void {
    const rows = text.replaceAll('\r\n', '\n').split('\n')
    for (const [index, row] of rows.entries()) {
      if (index > 0) this.end(true)
      if (row === '') continue
      this.begin(0, place, false)
      this.pieces.push(row)
    }
  }

  /** 1: a new line, 2: an empty line in between. */
  breakLine(level: 1 | 2): void {
    // No break between a marker, or the edge of a cell, and its text.
    if (!this.isCellStart && this.marker === '') this.pendingBreak = Math.max(this.pendingBreak, level)
  }

  /** `- ` or `2. ` before the next text. */
  beginItem(marker: string): void {
    this.breakLine(1)
    this.marker = marker
  }

  endItem(): void {
    this.marker = ''
    this.breakLine(1)
  }

  beginHeading(level: number): void {
    this.marker += `${'#'.repeat(level)} `
  }

  /** A heading without text leaves no marker. */
  endHeading(): void {
    this.marker = ''
  }

  beginRow(): void {
    this.isCellStart = false
    const level = this.pendingBreak
    this.end(false)
    this.pendingBreak = level
  }

  beginCell(isFirst: boolean, place: Place): void {
    if (!isFirst) {
      this.pendingBreak = 0
      this.pendingSpace = false
      if (this.pieces.length === 0) this.linePlace = place
      this.pieces.push(' | ')
    }
    this.isCellStart = true
  }

  endCell(): void {
    this.isCellStart = false
    this.pendingBreak = 0
  }

  openLink(address: string): void {
    this.closeLink()
    this.link = { address, line: -1, piece: 0 }
  }

  /** A link without text is dropped; one over several lines has its address at the end. */
  closeLink(): void {
    const link = this.link
    this.link = null
    if (link === null || link.line === -1) return
    if (link.line !== this.lines.length) return void this.pieces.push(` (${link.address})`)
    const text = this.pieces.splice(link.piece).join('').trim()
    this.pieces.push(text === '' || text === link.address ? link.address : `[${text}](${link.address})`)
  }

  finish(): void {
    this.end(false)
  }

  /** The content of the page: its most specific part with enough text. */
  places(): ReadonlySet<Place> {
    const { main, article, body } = this.charsAt
    if (main >= ENOUGH_CHARS) return new Set(['main'])
    if (article >= ENOUGH_CHARS) return new Set(['article'])
    if (main + article + body >= ENOUGH_CHARS) return new Set(['main', 'article', 'body'])
    return new Set(['main', 'article', 'body', 'around'])
  }

  private begin(indent: number, place: Place, leadsWithSpace: boolean): void {
    this.isCellStart = false
    if (this.pendingBreak > 0) {
      const level = this.pendingBreak
      this.end(false)
      if (level === 2 && this.lines.length > 0 && this.lines.at(-1)!.text !== '') this.lines.push({ text: '', place })
    }
    if (this.pieces.length === 0) {
      this.linePlace = place
      if (indent > 0) this.pieces.push('  '.repeat(indent))
    } else if ((this.pendingSpace || leadsWithSpace) && !this.pieces.at(-1)!.endsWith(' ')) {
      this.pieces.push(' ')
    }
    if (this.marker !== '') this.pieces.push(this.marker)
    this.marker = ''
    this.pendingSpace = false
    if (this.link?.line === -1) Object.assign(this.link, { line: this.lines.length, piece: this.pieces.length })
  }

  private end(evenIfEmpty: boolean): void {
    this.pendingBreak = 0
    this.pendingSpace = false
    const text = this.pieces.join('').trimEnd().replace(ONLY_BARS, '')
    const place = this.pieces.length === 0 ? (this.lines.at(-1)?.place ?? 'body') : this.linePlace
    this.pieces = []
    if (text === '' && (!evenIfEmpty || (this.lines.at(-1)?.text === '' && this.lines.at(-2)?.text === ''))) return
    this.lines.push({ text, place })
    this.chars += text.length + 1
    this.charsAt[place] += text.length
  }
}
