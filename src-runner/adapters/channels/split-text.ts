import { clipEntities, type FormattedText } from './formatted-text.ts'

/** A piece is cut in its last half, so that none is much shorter than it may be. */
const LOOK_BACK = 0.5
/** Services refuse a message without a visible character as empty. */
const VISIBLE = /[^\s\p{C}\u115f\u1160\u2800\u3164\uffa0]/u
/** In UTF-16 units. Families of emoji with skin tones come close to it. */
const LONGEST_CHARACTER = 64

/**
 * Splits a long text into messages: between paragraphs if possible, else between lines, sentences or words, and never inside
 * a character. Formatting continues in the next piece. The same text is always split the same way, because a later try
 * continues after the pieces that were sent.
 */
export function splitText({ text, entities }: FormattedText, maxChars: number): FormattedText[] {
  const pieces: FormattedText[] = []
  let from = skipBreaks(text, 0)
  while (from < text.length) {
    const to = text.length - from <= maxChars ? text.length : findEnd(text, from, from + maxChars)
    const end = from + text.slice(from, to).trimEnd().length
    const piece = text.slice(from, end)
    if (VISIBLE.test(piece)) pieces.push({ text: piece, entities: trimEntities(piece, clipEntities(entities, from, end)) })
    from = skipBreaks(text, to)
  }
  return pieces
}

/** A piece does not begin with the line breaks at which the text was split. Indentation stays. */
function skipBreaks(text: string, from: number): number {
  const breaks = /^(?:[ \t]*\n)+/.exec(text.slice(from, from + 1000))
  return from + (breaks?.[0].length ?? 0)
}

function findEnd(text: string, from: number, latest: number): number {
  const window = text.slice(from, latest)
  const earliest = Math.floor(window.length * LOOK_BACK)
  for (const border of [/\n\s*\n/g, /\n/g, /[.!?…]\s/g, /\s/g]) {
    const last = [...window.matchAll(border)].at(-1)
    if (last !== undefined && last.index >= earliest) return from + last.index + last[0].length
  }
  return lastWholeCharacter(text, from, latest)
}

/** The last end of a grapheme before `latest`. */
function lastWholeCharacter(text: string, from: number, latest: number): number {
  const start = Math.max(from, latest - LONGEST_CHARACTER)
  const around = new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text.slice(start, latest + LONGEST_CHARACTER))
  const borders = [...around].map(({ index }) => start + index).filter((border) => border > from && border <= latest)
  // Endless combining marks have to be split.
  return borders.at(-1) ?? latest - Number(/[\ud800-\udbff]/.test(text[latest - 1]!))
}

/** Services refuse entities that begin or end with white space, as they may after a split. */
function trimEntities(text: string, entities: FormattedText['entities']): FormattedText['entities'] {
  return entities.flatMap((entity) => {
    const shown = text.slice(entity.offset, entity.offset + entity.length)
    const length = shown.trim().length
    return length === 0 ? [] : [{ ...entity, offset: entity.offset + (shown.length - shown.trimStart().length), length }]
  })
}
