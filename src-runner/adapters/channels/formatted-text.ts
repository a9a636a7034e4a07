import type { Token, Tokens } from 'marked'
import { sliceMarkdown } from './markdown-slices.ts'

/** A range of text with formatting. Offsets and lengths count UTF-16 units, like JavaScript's strings. */
export type Entity =
  | { type: 'bold' | 'italic' | 'strikethrough' | 'code' | 'blockquote'; offset: number; length: number }
  | { type: 'pre'; offset: number; length: number; language?: string }
  | { type: 'text_link'; offset: number; length: number; url: string }

export type FormattedText = { text: string; entities: Entity[] }

type Lex = (source: string) => readonly Token[]

/** Addresses that may become links. Others stay text. */
const LINKABLE = /^(https?|mailto|tel|tg):/i
const RULE = '———'
const MAX_LANGUAGE_CHARS = 32

/** Turns Markdown into text and its formatted ranges. */
export function formatMarkdown(markdown: string, lex: Lex): FormattedText {
  const pen = createPen()
  for (const slice of sliceMarkdown(markdown)) {
    const tokens = lexSlice(slice, lex)
    if (tokens === null) pen.block(1, () => pen.write(slice))
    else writeBlocks(pen, tokens, '')
  }
  return pen.done()
}

/** A line that begins with more quotes and lists than anybody nests. */
const TOO_DEEP = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])[ \t])){16}/m

/** A row of delimiters, which says how many columns a table has. */
const DELIMITERS = /(?:\|[ \t]*:?-+:?[ \t]*)+/g
/** A short row is filled up to the width of its table. A table that people write has fewer cells in a slice. */
const MAX_CELLS = 20_000

function hasTooManyCells(slice: string): boolean {
  const columns = Math.max(0, ...Array.from(slice.matchAll(DELIMITERS), ([row]) => row.split('|').length))
  return columns * slice.split('\n').length > MAX_CELLS
}

/** null: it is nested too deeply, or has too wide a table, to be parsed. */
function lexSlice(slice: string, lex: Lex): readonly Token[] | null {
  if (TOO_DEEP.test(slice) || hasTooManyCells(slice)) return null
  try {
    return lex(slice)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

type Pen = {
  write(text: string): void
  /** Formats what `write` writes. */
  as(entity: { type: Entity['type']; language?: string; url?: string }, write: () => void): void
  /** Adds line breaks until the text ends with `count` of them. Does nothing at the beginning. */
  breakLines(count: number): void
  /** Sets apart what `write` writes, with `breaks` line breaks before and after it. */
  block(breaks: number, write: () => void): void
  done(): FormattedText
}

function createPen(): Pen {
  const written: string[] = []
  const entities: Entity[] = []
  let length = 0
  let breaksAtEnd = 0
  return {
    write(text) {
      if (text === '') return
      written.push(text)
      length += text.length
      let breaks = 0
      while (text.at(-1 - breaks) === '\n') breaks++
      breaksAtEnd = breaks === text.length ? breaksAtEnd + breaks : breaks
    },
    as(entity, write) {
      const offset = length
      const from = written.length
      write()
      // Services refuse entities that are empty, or begin or end with white space.
      const text = written.slice(from).join('')
      const shown = text.trim().length
      if (shown > 0) entities.push({ ...entity, offset: offset + (text.length - text.trimStart().length), length: shown } as Entity)
    },
    breakLines(count) {
      if (length > 0 && count > breaksAtEnd) this.write('\n'.repeat(count - breaksAtEnd))
    },
    block(breaks, write) {
      this.breakLines(breaks)
      write()
      this.breakLines(breaks)
    },
    done() {
      const text = written.join('').trimEnd()
      return { text, entities: clipEntities(entities, 0, text.length).sort((a, b) => a.offset - b.offset || b.length - a.length) }
    },
  }
}

/** The entities of a part of the text, with offsets from the beginning of that part. */
export function clipEntities(entities: readonly Entity[], from: number, to: number): Entity[] {
  return entities.flatMap((entity) => {
    const offset = Math.max(entity.offset, from)
    const length = Math.min(entity.offset + entity.length, to) - offset
    return length <= 0 ? [] : [{ ...entity, offset: offset - from, length }]
  })
}

function writeBlocks(pen: Pen, tokens: readonly Token[], indent: string): void {
  for (const token of tokens as readonly Tokens.Generic[]) writeBlock(pen, token, indent)
}

function writeBlock(pen: Pen, token: Tokens.Generic, indent: string): void {
  switch (token.type) {
    case 'space':
    case 'def':
      return
    case 'heading':
      return pen.block(2, () => pen.as({ type: 'bold' }, () => writeChildren(pen, token)))
    case 'code': {
      const { lang, text } = token as Tokens.Code
      pen.breakLines(indent === '' ? 2 : 1)
      // An empty `pre` is not shown, so an empty fence stays as it was written.
      if (text.trim() === '') return pen.write(token.raw.trim())
      const language = lang?.trim().split(/\s/)[0]?.slice(0, MAX_LANGUAGE_CHARS)
      pen.as({ type: 'pre', ...(language ? { language } : {}) }, () => pen.write(text))
      return pen.breakLines(2)
    }
    case 'blockquote':
      return pen.block(2, () => pen.as({ type: 'blockquote' }, () => writeBlocks(pen, token.tokens ?? [], indent)))
    case 'list':
      return pen.block(indent === '' ? 2 : 1, () => writeItems(pen, token as Tokens.List, indent))
    case 'table':
      return pen.block(2, () => pen.as({ type: 'pre' }, () => pen.write(tableText(token as Tokens.Table))))
    case 'hr':
      return pen.block(2, () => pen.write(RULE))
    case 'text':
      return writeInline(pen, token)
    case 'paragraph':
      return pen.block(2, () => writeChildren(pen, token))
    default:
      // Raw HTML stays as it was written.
      return pen.block(1, () => pen.write((token.raw ?? '').trim()))
  }
}

function writeItems(pen: Pen, list: Tokens.List, indent: string): void {
  for (const [i, item] of list.items.entries()) {
    pen.breakLines(1)
    const mark = list.ordered ? `${Number(list.start) + i}.` : '•'
    const checkbox = item.task ? (item.checked === true ? ' ☑' : ' ☐') : ''
    pen.write(`${indent}${mark}${checkbox} `)
    for (const [n, token] of (item.tokens as Tokens.Generic[]).entries()) {
      if (token.type === 'checkbox') continue
      // The first line follows the mark, even if the list has blank lines.
      if (n === 0 || token.type === 'text' || item.tokens[n - 1]?.type === 'checkbox') writeInline(pen, token)
      else writeBlock(pen, token, `${indent}   `)
    }
  }
}

function writeInline(pen: Pen, token: Tokens.Generic): void {
  switch (token.type) {
    case 'strong':
      return pen.as({ type: 'bold' }, () => writeChildren(pen, token))
    case 'em':
      return pen.as({ type: 'italic' }, () => writeChildren(pen, token))
    case 'del':
      return pen.as({ type: 'strikethrough' }, () => writeChildren(pen, token))
    case 'codespan':
      return pen.as({ type: 'code' }, () => pen.write((token as Tokens.Codespan).text))
    case 'br':
      return pen.write('\n')
    case 'link': {
      const { href } = token as Tokens.Link
      if (!LINKABLE.test(href)) return writeChildren(pen, token)
      return pen.as({ type: 'text_link', url: href }, () => writeChildren(pen, token))
    }
    case 'image':
      return writeInline(pen, { ...token, type: 'link', tokens: [{ type: 'text', raw: '', text: token.text || token.href }] })
    case 'escape':
      return pen.write(token.text as string)
    case 'checkbox':
      return
    case 'list':
    case 'code':
    case 'blockquote':
    case 'table':
      return writeBlock(pen, token, '   ')
    default:
      if (token.tokens !== undefined) return writeChildren(pen, token)
      return pen.write(token.type === 'text' ? readReferences(token.text as string) : token.raw)
  }
}

function writeChildren(pen: Pen, { tokens }: Tokens.Generic): void {
  for (const token of (tokens ?? []) as Tokens.Generic[]) writeInline(pen, token)
}

const NAMED = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }))

/** Decodes character references such as `&amp;` and `&#9731;`. */
function readReferences(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED.get(name) ?? whole
    const code = Number.parseInt(decimal ?? hex!, decimal === undefined ? 16 : 10)
    return code > 0 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole
  })
}

/** A single long cell would otherwise widen every row. */
const WIDEST_COLUMN = 40

/** Columns are aligned with spaces for a fixed-width font. */
function tableText({ header, rows }: Tokens.Table): string {
  const lines = [header, ...rows].map((row) => row.map((cell) => cell.text.replace(/\s+/g, ' ').trim()))
  const widths = header.map((_, column) => Math.min(WIDEST_COLUMN, Math.max(...lines.map((line) => (line[column] ?? '').length))))
  const show = (line: string[]) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')
  const [head, ...body] = lines.map((line) => show(line).trimEnd())
  return [head, widths.map((width) => '-'.repeat(width)).join('-+-'), ...body].join('\n')
}
