import { clipEntities, type DressedText } from './dressed-text.ts'

/** What one message of the service holds, in UTF-16 units. */
export const MOST_MESSAGE_CHARS = 4096
/** A border is looked for in the last part of a piece, so that none comes out much shorter than it may be. */
const LOOK_BACK = 0.5

/**
 * Cuts a long text into messages: between paragraphs if it can, else between lines, sentences or words, and never inside a
 * character. What is shown in some way goes on being shown so in the next piece. The same text is always cut the same way,
 * since a later try goes on behind the pieces that went out.
 */
export function splitText({ text, entities }: DressedText, most = MOST_MESSAGE_CHARS): DressedText[] {
  const pieces: DressedText[] = []
  let from = skipBreaks(text, 0)
  while (from < text.length) {
    const to = text.length - from <= most ? text.length : borderOf(text, from, from + most)
    const end = from + text.slice(from, to).trimEnd().length
    if (end > from)
      pieces.push({ text: text.slice(from, end), entities: trimEntities(text.slice(from, end), clipEntities(entities, from, end)) })
    from = skipBreaks(text, to)
  }
  return pieces
}

/** A new piece does not begin with the line breaks at which the text was cut; spaces that set a line in stay. */
function skipBreaks(text: string, from: number): number {
  const breaks = /^(?:[ \t]*\n)+/.exec(text.slice(from, from + 1000))
  return from + (breaks?.[0].length ?? 0)
}

function borderOf(text: string, from: number, latest: number): number {
  const window = text.slice(from, latest)
  const earliest = Math.floor(window.length * LOOK_BACK)
  for (const border of [/\n\s*\n/g, /\n/g, /[.!?…]\s/g, /\s/g]) {
    const last = [...window.matchAll(border)].at(-1)
    if (last !== undefined && last.index >= earliest) return from + last.index + last[0].length
  }
  return from + wholeCharacters(window)
}

/** No cut between the halves of a character, nor before what belongs to the one in front of it. */
function wholeCharacters(window: string): number {
  const clusters = [...new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(window.slice(-64))]
  const last = clusters.at(-1)!
  return clusters.length === 1 ? window.length - Number(/[\ud800-\udbff]$/.test(window)) : window.length - last.segment.length
}

/** Cut pieces may begin or end in white space, which the service does not take at the ends of an entity. */
function trimEntities(text: string, entities: DressedText['entities']): DressedText['entities'] {
  return entities.flatMap((entity) => {
    const shown = text.slice(entity.offset, entity.offset + entity.length)
    const length = shown.trim().length
    return length === 0 ? [] : [{ ...entity, offset: entity.offset + (shown.length - shown.trimStart().length), length }]
  })
}
