import type { Token, Tokens } from 'marked'
import { sliceMarkdown } from './markdown-slices.ts'

/** A stretch of text that is shown in some way. Offsets and lengths count UTF-16 units, like JavaScript's strings. */
export type Entity =
  | { type: 'bold' | 'italic' | 'strikethrough' | 'code' | 'blockquote'; offset: number; length: number }
  | { type: 'pre'; offset: number; length: number; language?: string }
  | { type: 'text_link'; offset: number; length: number; url: string }

export type DressedText = { text: string; entities: Entity[] }

/** What a bot may link to. Everything else stands as text. */
const LINKABLE = /^(https?|mailto|tel|tg):/i
const RULE = '———'
const MOST_LANGUAGE_CHARS = 32

/**
 * Markdown as text and the places in it that are shown in some way. The service takes it in this form as well as in
 * markup of its own; in this one no character can be taken for markup, so nothing has to be escaped and cutting the text
 * anywhere leaves both sides whole.
 */
export function dressMarkdown(markdown: string, lex: (source: string) => readonly Token[]): DressedText {
  const pen = createPen()
  for (const slice of sliceMarkdown(markdown)) {
    const tokens = readSlice(slice, lex)
    if (tokens !== null) writeBlocks(pen, tokens, '')
    else writeAsItIs(pen, slice)
  }
  return pen.done()
}

/** null: it is nested so deeply that reading it has no end. */
function readSlice(slice: string, lex: (source: string) => readonly Token[]): readonly Token[] | null {
  try {
    return lex(slice)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function writeAsItIs(pen: Pen, text: string): void {
  pen.breakLines(1)
  pen.write(text)
}

type Pen = {
  write(text: string): void
  /** What `write` puts down meanwhile is shown like this. */
  as(entity: { type: Entity['type']; language?: string; url?: string }, write: () => void): void
  /** So many line breaks at least, unless nothing stands yet. */
  breakLines(count: number): void
  done(): DressedText
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
      const breaks = text.length - text.replace(/\n+$/, '').length
      breaksAtEnd = breaks === text.length ? breaksAtEnd + breaks : breaks
    },
    as(entity, write) {
      const offset = length
      const from = written.length
      write()
      // The service refuses entities that begin or end in white space, and shows none that are empty.
      const text = written.slice(from).join('')
      const shown = text.trim().length
      if (shown > 0) entities.push({ ...entity, offset: offset + (text.length - text.trimStart().length), length: shown } as Entity)
    },
    breakLines(count) {
      if (length > 0 && count > breaksAtEnd) this.write('\n'.repeat(count - breaksAtEnd))
    },
    done() {
      const text = written.join('').trimEnd()
      return { text, entities: clipEntities(entities, 0, text.length).sort((a, b) => a.offset - b.offset || b.length - a.length) }
    },
  }
}

/** The entities of a piece of the text, counted from the beginning of that piece. */
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
      pen.breakLines(2)
      pen.as({ type: 'bold' }, () => writeInline(pen, token))
      return pen.breakLines(1)
    case 'code': {
      const { lang, text } = token as Tokens.Code
      pen.breakLines(indent === '' ? 2 : 1)
      // An empty fence would swallow the words that stand behind its mark.
      if (text.trim() === '') return pen.write(token.raw.trim())
      const language = lang?.trim().split(/\s/)[0]?.slice(0, MOST_LANGUAGE_CHARS)
      pen.as({ type: 'pre', ...(language ? { language } : {}) }, () => pen.write(text))
      return pen.breakLines(2)
    }
    case 'blockquote':
      pen.breakLines(2)
      pen.as({ type: 'blockquote' }, () => writeBlocks(pen, token.tokens ?? [], indent))
      return pen.breakLines(2)
    case 'list':
      return writeList(pen, token as Tokens.List, indent)
    case 'table':
      pen.breakLines(2)
      pen.as({ type: 'pre' }, () => pen.write(tableText(token as Tokens.Table)))
      return pen.breakLines(2)
    case 'hr':
      pen.breakLines(2)
      pen.write(RULE)
      return pen.breakLines(2)
    case 'text':
      return writeInline(pen, token)
    case 'paragraph':
      pen.breakLines(2)
      writeInline(pen, token)
      return pen.breakLines(2)
    default:
      // Raw HTML and whatever comes later: as it was written.
      pen.breakLines(1)
      pen.write((token.raw ?? '').trim())
      return pen.breakLines(1)
  }
}

function writeList(pen: Pen, list: Tokens.List, indent: string): void {
  pen.breakLines(indent === '' ? 2 : 1)
  for (const [i, item] of list.items.entries()) {
    pen.breakLines(1)
    const mark = list.ordered ? `${Number(list.start) + i}.` : '•'
    const sandbox = item.task ? (item.checked === true ? ' ☑' : ' ☐') : ''
    pen.write(`${indent}${mark}${sandbox} `)
    for (const [n, token] of (item.tokens as Tokens.Generic[]).entries()) {
      if (token.type === 'checkbox') continue
      // The first line stands behind the mark, whether or not the list is spaced out.
      if (n === 0 || token.type === 'text' || item.tokens[n - 1]?.type === 'checkbox') writeInline(pen, token)
      else writeBlock(pen, token, `${indent}   `)
    }
  }
  pen.breakLines(indent === '' ? 2 : 1)
}

function writeInline(pen: Pen, token: Tokens.Generic): void {
  if (token.tokens !== undefined && !isOwnInline(token)) {
    for (const inner of token.tokens as Tokens.Generic[]) writeInline(pen, inner)
    return
  }
  switch (token.type) {
    case 'strong':
      return pen.as({ type: 'bold' }, () => writeInside(pen, token))
    case 'em':
      return pen.as({ type: 'italic' }, () => writeInside(pen, token))
    case 'del':
      return pen.as({ type: 'strikethrough' }, () => writeInside(pen, token))
    case 'codespan':
      return pen.as({ type: 'code' }, () => pen.write((token as Tokens.Codespan).text))
    case 'br':
      return pen.write('\n')
    case 'link': {
      const { href } = token as Tokens.Link
      if (!LINKABLE.test(href)) return writeInside(pen, token)
      return pen.as({ type: 'text_link', url: href }, () => writeInside(pen, token))
    }
    case 'image':
      return writeInline(pen, { ...token, type: 'link', tokens: [{ type: 'text', raw: '', text: token.text || token.href }] })
    case 'escape':
      return pen.write(token.text as string)
    case 'text':
      return pen.write(readReferences(token.text as string))
    case 'checkbox':
      return
    case 'list':
    case 'code':
    case 'blockquote':
    case 'table':
      return writeBlock(pen, token, '   ')
    default:
      return pen.write(token.raw)
  }
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

/** Characters that Markdown lets people write by name or number. */
function readReferences(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole
    const code = Number.parseInt(decimal ?? hex!, decimal === undefined ? 16 : 10)
    return code > 0 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : whole
  })
}

function isOwnInline({ type }: Tokens.Generic): boolean {
  return ['strong', 'em', 'del', 'link', 'image', 'list', 'code', 'blockquote', 'table'].includes(type)
}

function writeInside(pen: Pen, token: Tokens.Generic): void {
  for (const inner of (token.tokens ?? []) as Tokens.Generic[]) writeInline(pen, inner)
}

/** One long cell would make each row as long, and of a short table a book. */
const WIDEST_COLUMN = 40

/** Columns under each other, which a fixed-width font keeps. */
function tableText({ header, rows }: Tokens.Table): string {
  const lines = [header, ...rows].map((row) => row.map((cell) => cell.text.replace(/\s+/g, ' ').trim()))
  const widths = header.map((_, column) => Math.min(WIDEST_COLUMN, Math.max(...lines.map((line) => (line[column] ?? '').length))))
  const show = (line: string[]) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')
  const [head, ...body] = lines.map((line) => show(line).trimEnd())
  return [head, widths.map((width) => '-'.repeat(width)).join('-+-'), ...body].join('\n')
}
