import { ENCODING_NAMES, sniff, SNIFF_BYTES, type Encoding } from '../../files/text-of-file.ts'
import { sizeText } from '../journaled-change.ts'

export const MAX_EDITED_BYTES = 5 * 1024 * 1024
const MAX_LINES_NAMED = 20

type Replacement = { oldText: string; newText: string; replaceAll?: boolean }

/**
 * Replaces one exact text by another. If the file's lines end with CR LF, so do the model's. In a problem, `{file}` stands
 * for the file's name.
 */
export function replaceText(text: string, replacement: Replacement): { text: string; lines: number[] } | { problem: string } {
  const [oldText, newText] = inLineEndsOf(text, replacement)
  if (oldText === newText) return { problem: 'Not changed: the new text is the same as the old one.' }
  const replacesAll = replacement.replaceAll === true
  const places = placesOf(oldText, text)
  // The only place is not unique if another one overlaps it.
  const overlapping = places.length === 1 && !replacesAll ? text.indexOf(oldText, places[0]! + 1) : -1
  if (overlapping !== -1) places.push(overlapping)
  if (places.length === 0)
    return {
      problem: isNearMiss(oldText, text)
        ? `Not changed: the text does not occur in '{file}'. The same words do occur, with other spaces or line breaks. Copy them exactly as read_file shows them.`
        : `Not changed: the text does not occur in '{file}'. Read it again; it may have changed.`,
    }
  const lines = linesAt(places, text)
  if (places.length > 1 && !replacesAll) {
    const named = lines.slice(0, MAX_LINES_NAMED).join(', ') + (lines.length > MAX_LINES_NAMED ? ' and more' : '')
    return {
      problem: `Not changed: the text occurs ${places.length} times in '{file}' (lines ${named}). Give more of the text around the one that is meant, or set replaceAll.`,
    }
  }
  // No character takes less than a byte.
  const bytes = text.length + places.length * (newText.length - oldText.length)
  if (bytes > MAX_EDITED_BYTES)
    return { problem: `Not changed: '{file}' would be at least ${sizeText(bytes)}, and the limit is ${sizeText(MAX_EDITED_BYTES)}.` }
  return { text: text.split(oldText).join(newText), lines }
}

function inLineEndsOf(text: string, { oldText, newText }: Replacement): [string, string] {
  const crlf = (part: string) => part.replace(/\r?\n/g, '\r\n')
  if (!text.includes('\r\n')) return [oldText, newText]
  const hasBare = /(^|[^\r])\n/.test(text)
  if (!hasBare) return [crlf(oldText), crlf(newText)]
  // Both kinds in one file: first as the model wrote it, then with CR LF.
  return text.includes(oldText) ? [oldText, newText] : [crlf(oldText), crlf(newText)]
}

/** Without overlaps, as they would be replaced. */
function placesOf(oldText: string, text: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + oldText.length)) places.push(at)
  return places
}

function linesAt(places: readonly number[], text: string): number[] {
  let line = 1
  // Kept between the places: many of them may be on one long line.
  let end = text.indexOf('\n')
  return places.map((place) => {
    for (; end !== -1 && end < place; end = text.indexOf('\n', end + 1)) line++
    return line
  })
}

/** The most common mistake: the words are right and the spaces are not. */
function isNearMiss(oldText: string, text: string): boolean {
  const words = (part: string) => part.replace(/\s+/g, ' ').trim()
  const searched = words(oldText)
  return searched !== '' && words(text).includes(searched)
}

/** A file's whole text, with what is needed to write it back byte by byte. */
type ExactText = { text: string; encoding: Encoding; bom: boolean }

const BOM = '\uFEFF'

/** Returns a problem if writing the text back would change other bytes. */
export function decodeExactly(bytes: Buffer): ExactText | { problem: string } {
  if (bytes.length === 0) return { text: '', encoding: 'utf-8', bom: false }
  const kind = sniff(bytes.subarray(0, SNIFF_BYTES))
  if ('binary' in kind) return { problem: `is ${kind.binary} and has no text to edit.` }
  const characters = new TextDecoder(kind.encoding, { ignoreBOM: true }).decode(bytes)
  const decoded = { text: kind.bom ? characters.slice(BOM.length) : characters, ...kind }
  if (encodeExactly(decoded).equals(bytes)) return decoded
  return { problem: `holds bytes that are not valid ${ENCODING_NAMES[kind.encoding]}. An edit would damage them, so nothing was changed.` }
}

export function encodeExactly({ text, encoding, bom }: ExactText): Buffer {
  const all = (bom ? BOM : '') + text.toWellFormed()
  if (encoding === 'utf-8') return Buffer.from(all, 'utf8')
  const bytes = Buffer.from(all, 'utf16le')
  return encoding === 'utf-16le' ? bytes : bytes.swap16()
}
