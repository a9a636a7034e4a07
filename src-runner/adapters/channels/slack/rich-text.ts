import type { Button } from '../../../domain/outbox/outgoing.ts'
import type { Entity, FormattedText } from '../formatted-text.ts'

/** A message as Slack's own app writes it. Its texts are characters: nothing in them is markup, a mention or a link. */
export type Block = { type: 'rich_text'; elements: RichElement[] } | { type: 'actions'; elements: unknown[] }
type RichElement = { type: 'rich_text_section' | 'rich_text_preformatted' | 'rich_text_quote'; elements: Inline[] }
type Inline = { type: 'text'; text: string; style?: Style } | { type: 'link'; url: string; text: string; style?: Style }
type Style = { bold?: true; italic?: true; strike?: true; code?: true }

const STYLES = { bold: 'bold', italic: 'italic', strikethrough: 'strike', code: 'code' } as const
const LINKABLE = /^(https?:\/\/|mailto:|tel:)/i
const MAX_URL_CHARS = 3000
const MAX_LABEL_CHARS = 75
const MAX_BUTTONS = 25

export function blocksOf({ text, entities }: FormattedText, buttons: readonly Button[]): Block[] {
  const elements = regionsOf(text, entities).flatMap(({ type, from, to }): RichElement[] => {
    const inner = inlinesOf(text, entities, from, to, type === 'rich_text_preformatted')
    return inner.length === 0 ? [] : [{ type, elements: inner }]
  })
  const rich: Block = { type: 'rich_text', elements }
  return buttons.length === 0 ? [rich] : [rich, { type: 'actions', elements: buttons.slice(0, MAX_BUTTONS).map(buttonOf) }]
}

function buttonOf({ label, action }: Button) {
  const style = action.startsWith('approve:') ? { style: 'primary' } : action.startsWith('reject:') ? { style: 'danger' } : {}
  const shown = [...label.toWellFormed()].slice(0, MAX_LABEL_CHARS).join('').slice(0, MAX_LABEL_CHARS).toWellFormed()
  return { type: 'button', action_id: action, value: action, text: { type: 'plain_text', text: shown, emoji: false }, ...style }
}

type Region = { type: RichElement['type']; from: number; to: number }

/** Code and quotes are elements of their own, which begin and end a line. */
function regionsOf(text: string, entities: readonly Entity[]): Region[] {
  const regions: Region[] = []
  let from = 0
  const add = (type: Region['type'], start: number, end: number) => {
    // Between elements Slack breaks the line by itself.
    const before = start > 0 ? /^\n*/.exec(text.slice(start, end))![0].length : 0
    const after = end < text.length ? /\n*$/.exec(text.slice(start + before, end))![0].length : 0
    if (start + before < end - after) regions.push({ type, from: start + before, to: end - after })
  }
  for (const [type, start, end] of blocksIn(entities)) {
    if (start < from) continue
    if (start > from) add('rich_text_section', from, start)
    regions.push({ type, from: start, to: end })
    from = end
  }
  if (from < text.length) add('rich_text_section', from, text.length)
  return regions
}

/** Code inside of a quote splits the quote. */
function blocksIn(entities: readonly Entity[]): [type: Region['type'], from: number, to: number][] {
  const code = entities.filter(({ type }) => type === 'pre')
  const quotes = entities
    .filter(({ type }) => type === 'blockquote')
    .filter((quote, i, all) => !all.slice(0, i).some((outer) => quote.offset < outer.offset + outer.length))
  const found = code.map(({ offset, length }): [Region['type'], number, number] => ['rich_text_preformatted', offset, offset + length])
  for (const { offset, length } of quotes) {
    let from = offset
    for (const inner of code.filter((one) => one.offset >= offset && one.offset < offset + length)) {
      if (inner.offset > from) found.push(['rich_text_quote', from, inner.offset])
      from = inner.offset + inner.length
    }
    if (from < offset + length) found.push(['rich_text_quote', from, offset + length])
  }
  return found.sort((a, b) => a[1] - b[1])
}

function inlinesOf(text: string, entities: readonly Entity[], from: number, to: number, isCode: boolean): Inline[] {
  const inside = isCode
    ? []
    : entities.filter(({ type, offset, length }) => type !== 'pre' && type !== 'blockquote' && offset < to && offset + length > from)
  const borders = new Set([from, to])
  for (const { offset, length } of inside) {
    borders.add(Math.max(offset, from))
    borders.add(Math.min(offset + length, to))
  }
  const cuts = [...borders].sort((a, b) => a - b)
  return cuts.slice(1).map((end, i) => {
    const start = cuts[i]!
    const covering = inside.filter(({ offset, length }) => offset <= start && offset + length >= end)
    const style = styleOf(covering)
    const link = covering.find((entity) => entity.type === 'text_link')
    const shown = text.slice(start, end)
    const canLink = link !== undefined && LINKABLE.test(link.url) && URL.canParse(link.url) && link.url.length <= MAX_URL_CHARS
    return canLink ? { type: 'link', url: link.url, text: shown, ...style } : { type: 'text', text: shown, ...style }
  })
}

function styleOf(entities: readonly Entity[]): { style?: Style } {
  const style: Style = {}
  for (const { type } of entities) if (type in STYLES) style[STYLES[type as keyof typeof STYLES]] = true
  return Object.keys(style).length === 0 ? {} : { style }
}

/** For notifications and screen readers, which do not read blocks. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
