import type { Entity, FormattedText } from '../formatted-text.ts'

/** Marks that WhatsApp shows as formatting. There is no way to write them as plain characters. */
const MARKS: Partial<Record<Entity['type'], string>> = { bold: '*', italic: '_', strikethrough: '~', code: '`', pre: '```' }

/** Writes formatted text with WhatsApp's marks. A range whose marks it would not show stays plain. */
export function writeMarks({ text, entities }: FormattedText): string {
  const inserts: { at: number; words: string; isEnd: boolean; order: number }[] = []
  for (const [order, entity] of entities.entries()) {
    const [from, to] = [entity.offset, entity.offset + entity.length]
    const shown = text.slice(from, to)
    if (entity.type === 'text_link') {
      if (entity.url !== shown) inserts.push({ at: to, words: ` (${entity.url})`, isEnd: true, order })
      continue
    }
    if (entity.type === 'blockquote') {
      for (let at = from; at !== 0 || inserts.length === 0;) {
        inserts.push({ at, words: '> ', isEnd: false, order: -1 })
        at = text.indexOf('\n', at) + 1
        if (at === 0 || at >= to) break
      }
      continue
    }
    // Marks in a call that is to be approved would be formatting, and not be shown.
    const gaps = entity.type === 'pre' ? backquotesIn(shown) : []
    for (const at of gaps) inserts.push({ at: from + at, words: '\u200b', isEnd: true, order: order + 0.5 })
    const mark = MARKS[entity.type]
    if (mark === undefined || !isShown(text, from, to, entity.type, mark)) continue
    inserts.push({ at: from, words: mark, isEnd: false, order }, { at: to, words: mark, isEnd: true, order })
  }
  inserts.sort((a, b) => a.at - b.at || Number(b.isEnd) - Number(a.isEnd) || (a.isEnd ? b.order - a.order : a.order - b.order))
  let written = ''
  let done = 0
  for (const { at, words } of inserts) {
    written += text.slice(done, at) + words
    done = at
  }
  return written + text.slice(done)
}

/** Where an invisible space keeps backquotes from closing their block. */
function backquotesIn(text: string): number[] {
  const within = [...text.matchAll(/``(?=`)/g)].map(({ index }) => index + 2)
  return text.endsWith('`') ? [...within, text.length] : within
}

/** Marks count between spaces or punctuation, around text without them. Except for code, they end with the line. */
function isShown(text: string, from: number, to: number, type: Entity['type'], mark: string): boolean {
  const inside = text.slice(from, to)
  if (inside.trim() !== inside || inside === '') return false
  if (type === 'pre') return true
  if (inside.includes(mark)) return false
  const isOutside = (character: string | undefined) => character === undefined || !/[\p{L}\p{N}]/u.test(character)
  return !inside.includes('\n') && isOutside(text[from - 1]) && isOutside(text[to])
}
