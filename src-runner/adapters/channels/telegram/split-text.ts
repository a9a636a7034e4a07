import { clipEntities, type DressedText } from './formatted-text.ts'

/** What one message of the service holds, in UTF-16 units. */
export const MOST_MESSAGE_CHARS = 4096
/** A border is looked for in the last part of a piece, so that none comes out much shorter than it may be. */
const LOOK_BACK = 0.5
/** Of a message in which there is nothing to be seen the service says that it is empty. */
const VISIBLE = /[^\s\p{C}\u115f\u1160\u2800\u3164\uffa0]/u
/** In UTF-16 units; families of emoji with skin tones come near to it. */
const LONGEST_CHARACTER = 64

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
    const piece = text.slice(from, end)
    if (VISIBLE.test(piece)) pieces.push({ text: piece, entities: trimEntities(piece, clipEntities(entities, from, end)) })
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
  return lastWholeCharacter(text, from, latest)
}

/** No cut between the halves of a character, nor before what belongs to the one in front of it. */
function lastWholeCharacter(text: string, from: number, latest: number): number {
  const start = Math.max(from, latest - LONGEST_CHARACTER)
  const around = new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text.slice(start, latest + LONGEST_CHARACTER))
  const borders = [...around].map(({ index }) => start + index).filter((border) => border > from && border <= latest)
  // Of taints without end, one upon the other, some have to be torn off.
  return borders.at(-1) ?? latest - Number(/[\ud800-\udbff]/.test(text[latest - 1]!))
}

/** Cut pieces may begin or end in white space, which the service does not take at the ends of an entity. */
function trimEntities(text: string, entities: DressedText['entities']): DressedText['entities'] {
  return entities.flatMap((entity) => {
    const shown = text.slice(entity.offset, entity.offset + entity.length)
    const length = shown.trim().length
    return length === 0 ? [] : [{ ...entity, offset: entity.offset + (shown.length - shown.trimStart().length), length }]
  })
}
