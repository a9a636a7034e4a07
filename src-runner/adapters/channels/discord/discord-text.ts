import type { Entity, FormattedText } from '../formatted-text.ts'
import { clipEntities } from '../formatted-text.ts'
import { splitText } from '../split-text.ts'

/** Splits a text so that no piece is longer than `maxChars` in the markup of the service. The same text is always split the same way. */
export function splitForDiscord(formatted: FormattedText, maxChars: number): string[] {
  return splitText(formatted, maxChars).flatMap((piece) => fit(piece, maxChars, maxChars))
}

function fit(piece: FormattedText, maxChars: number, shownChars: number): string[] {
  const written = writeMarkup(piece)
  if (written.length <= maxChars || shownChars < 2) return [written.slice(0, maxChars).toWellFormed()]
  // Markup and escapes take room. As much shorter as this piece was too long, with some to spare.
  const shorter = Math.min(shownChars - 1, Math.floor((shownChars * maxChars * 0.95) / written.length))
  return splitText(piece, Math.max(shorter, 1)).flatMap((part) => fit(part, maxChars, shorter))
}

const MARKS = { bold: '**', italic: '*', strikethrough: '~~' } as const

/** Text and its formatted ranges in the markup of the service. Everything else in the text is escaped and shown as it is. */
export function writeMarkup({ text, entities }: FormattedText): string {
  return writeLines(text, entities, isLineStart(''))
}

const isLineStart = (before: string) => before === '' || before.endsWith('\n')

function writeLines(text: string, entities: readonly Entity[], startsLine: boolean): string {
  let written = ''
  let at = 0
  const outer = entities.filter((entity, i) => !entities.some((other, n) => n !== i && contains(other, entity, n < i)))
  for (const entity of outer) {
    if (entity.offset < at) continue
    written += escapeText(text.slice(at, entity.offset), written === '' ? startsLine : isLineStart(written))
    const end = entity.offset + entity.length
    const words = text.slice(entity.offset, end)
    const inner = clipEntities(
      entities.filter((other) => other !== entity && contains(entity, other, true)),
      entity.offset,
      end,
    )
    const starts = written === '' ? startsLine : isLineStart(written)
    const next = text.slice(end)
    written += writeEntity(entity, words, inner, { starts, breaks: next !== '' && !next.startsWith('\n') })
    at = end
  }
  return written + escapeText(text.slice(at), written === '' ? startsLine : isLineStart(written))
}

function contains(outer: Entity, inner: Entity, isFirst: boolean): boolean {
  const isAround = outer.offset <= inner.offset && outer.offset + outer.length >= inner.offset + inner.length
  const isSame = outer.offset === inner.offset && outer.length === inner.length
  return isAround && (!isSame || isFirst)
}

function writeEntity(entity: Entity, words: string, inner: Entity[], { starts, breaks }: { starts: boolean; breaks: boolean }): string {
  switch (entity.type) {
    case 'code':
      return writeCode(words)
    case 'pre': {
      const language = /^[a-z0-9_+\-.#]+$/i.test(entity.language ?? '') ? entity.language : ''
      // Three backquotes would end the block; an invisible space keeps them apart.
      return `${starts ? '' : '\n'}\`\`\`${language}\n${words.replace(/``(?=`)/g, '``\u200b')}\n\`\`\`${breaks ? '\n' : ''}`
    }
    case 'blockquote': {
      const quoted = writeLines(words, inner, true)
      return `${starts ? '' : '\n'}${quoted.replace(/^/gm, '> ')}${breaks ? '\n' : ''}`
    }
    case 'text_link':
      return writeLink(entity.url, words, inner, starts)
    default: {
      // Formatting does not reach over an empty line.
      const mark = MARKS[entity.type]
      return words.split(/(\n\s*\n)/).reduce<{ done: string; from: number }>(
        ({ done, from }, part, i) => {
          const to = from + part.length
          const isText = i % 2 === 0 && part.trim() !== ''
          const shown = isText ? mark + writeLines(part, clipEntities(inner, from, to), false) + mark : part
          return { done: done + shown, from: to }
        },
        { done: '', from: 0 },
      ).done
    }
  }
}

function writeCode(words: string): string {
  const line = words.replace(/\s+/g, ' ')
  if (!line.includes('`')) return `\`${line}\``
  const mark = line.includes('``') ? '```' : '``'
  if (mark === '```') return escapeText(line, false)
  return `${mark} ${line} ${mark}`
}

function writeLink(url: string, words: string, inner: Entity[], starts: boolean): string {
  const isPlain = /^https?:\/\/[^\s<>()]+$/i.test(url)
  if (words === url && isPlain) return `<${url}>`
  const shown = writeLines(words, inner, starts)
  // The service shows no link whose words look like another address. Brackets would end the words.
  const isFit = isPlain && !/:\/\/|[[\]\n]|^\S+\.\S+$/.test(words)
  if (isFit) return `[${shown}](<${url}>)`
  return isPlain ? `${shown} (<${url}>)` : `${shown} (${escapeText(url, false)})`
}

/** Addresses stay whole; brackets keep the service from reading signs behind them as a part of them. */
const ADDRESS = /https?:\/\/[^\s<>]+[^\s<>.,:;!?"'\])*_~|`]/gi

function escapeText(text: string, startsLine: boolean): string {
  let written = ''
  let at = 0
  for (const { 0: address, index } of text.matchAll(ADDRESS)) {
    written += `${escapePlain(text.slice(at, index), index === 0 ? startsLine : at === 0 ? startsLine : false)}<${address}>`
    at = index + address.length
  }
  return written + escapePlain(text.slice(at), at === 0 && startsLine)
}

function escapePlain(text: string, startsLine: boolean): string {
  const escaped = text.replace(/[\\*_~`|<[\]]/g, '\\$&')
  const starts = startsLine ? /^(\s*)(#{1,3}(?=\s)|-#|[->+](?=\s)|>>>)/gm : /(?<=\n)(\s*)(#{1,3}(?=\s)|-#|[->+](?=\s)|>>>)/g
  const numbers = startsLine ? /^(\s*\d+)\.(?=\s)/gm : /(?<=\n)(\s*\d+)\.(?=\s)/g
  return escaped.replace(starts, '$1\\$2').replace(numbers, '$1\\.')
}
