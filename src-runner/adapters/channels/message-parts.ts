import type { Button, OutgoingMessage } from '../../domain/outbox/outgoing.ts'
import type { ChannelLimits } from './channel.ts'

/** How a service shows Markdown. The same text is always cut the same way, since a later try goes on behind what went out. */
export type Writing<Piece> = {
  /** In messages of at most so many characters. Nothing, where there is nothing to be seen. */
  cut(markdown: string, mostChars: number): Piece[]
  /** The piece, and below it words of ours. */
  endWith(piece: Piece, words: string): Piece
}

export type Part<Piece> =
  | { type: 'text'; piece: Piece; buttons: readonly Button[]; isLastText: boolean }
  /** Goes before the text that refers to it. */
  | { type: 'attachment'; name: string; bytes: Uint8Array }
  /** All of the text, as a file. */
  | { type: 'whole'; name: string; bytes: Uint8Array }
  | { type: 'file'; path: string }

/** What somebody reads on a phone without scrolling for minutes. A text that needs more than these is sent as a file. */
export const MOST_MESSAGES = 5
export const WHOLE_NAME = 'answer.md'
/** Taints and addresses are not shown: so many characters of Markdown may become one that is. */
const SOURCE_PER_SHOWN = 4
const NOTHING_TO_SEE = '(no text)'

/**
 * What goes out for a message, part by part, on every service: its text in a handful of messages, or the beginning of it
 * and the whole as a file; then its files.
 */
export function partsOf<Piece>(
  message: Pick<OutgoingMessage, 'text' | 'buttons' | 'files' | 'attachments'>,
  limits: ChannelLimits,
  writing: Writing<Piece>,
): Part<Piece>[] {
  const { files, attachments = [] } = message
  const attached = attachments.map(({ name, text }) => ({ type: 'attachment' as const, name, bytes: Buffer.from(text, 'utf8') }))
  const canAttach = limits.fileBytes !== null && attached.every(({ bytes }) => bytes.length <= limits.fileBytes!)
  const buttons = canAttach || attached.length === 0 ? message.buttons : message.buttons.filter(({ whole }) => whole !== true)
  // For half a character a service may refuse all of the text.
  const text = message.text.toWellFormed()
  const pieces = cutShort(text, limits, writing)
  const whole = pieces === null && limits.fileBytes !== null ? [wholeOf(text, limits.fileBytes)] : []
  const shown = pieces ?? [beginningOf(text, limits, writing)]
  const isSilent = shown.length === 0 && (files.length === 0 || buttons.length > 0)
  const texts = isSilent ? writing.cut(NOTHING_TO_SEE, limits.messageChars) : shown
  return [
    ...(canAttach ? attached : []),
    ...texts.map((piece, i): Part<Piece> => {
      const isLastText = i === texts.length - 1
      return { type: 'text', piece, buttons: isLastText ? buttons : [], isLastText }
    }),
    ...whole,
    ...files.map((path): Part<Piece> => ({ type: 'file', path })),
  ]
}

/**
 * The first part that is still to be sent. What an older version cut otherwise cannot be counted in these parts; the last
 * one goes out in any case, for nothing is sent of which nothing was sent.
 */
export function firstPartOf({ partsSent }: Pick<OutgoingMessage, 'partsSent'>, parts: readonly unknown[]): number {
  return Math.min(partsSent, parts.length - 1)
}

/** null: it is too long for a handful. One that is far too long is not even read for that. */
function cutShort<Piece>(text: string, { messageChars }: ChannelLimits, { cut }: Writing<Piece>): Piece[] | null {
  if (text.length > messageChars * MOST_MESSAGES * SOURCE_PER_SHOWN) return null
  const pieces = cut(text, messageChars)
  return pieces.length > MOST_MESSAGES ? null : pieces
}

function beginningOf<Piece>(text: string, { messageChars, fileBytes }: ChannelLimits, { cut, endWith }: Writing<Piece>): Piece {
  const words = `📄 ${noteFor(text, fileBytes)}`
  const room = messageChars - words.length - 2
  const first = cut(firstLines(text, messageChars * SOURCE_PER_SHOWN), room)[0] ?? cut(NOTHING_TO_SEE, room)[0]!
  return endWith(first, words)
}

function noteFor(text: string, fileBytes: number | null): string {
  if (fileBytes === null) return 'This is the beginning. It goes on for too long to be sent here: Deckhand has the whole.'
  if (Buffer.byteLength(text) <= fileBytes) return `This is the beginning. The whole is in the file ${WHOLE_NAME}.`
  return `This is the beginning. The file ${WHOLE_NAME} has as much as may be sent here, and Deckhand the whole.`
}

/** So that no line and no character is torn, if that can be had. */
function firstLines(text: string, most: number): string {
  if (text.length <= most) return text
  const lineEnd = text.lastIndexOf('\n', most)
  return text.slice(0, lineEnd > most / 2 ? lineEnd : most - Number(/[\ud800-\udbff]/.test(text[most - 1]!)))
}

/** Nobody takes a file that was cut for one that is whole: it says at its end how much is missing. */
function wholeOf(text: string, mostBytes: number): Part<never> {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= mostBytes) return { type: 'whole', name: WHOLE_NAME, bytes }
  const mark = (kept: number) => Buffer.from(`\n\n[Cut off here: ${kept} of ${bytes.length} bytes. Deckhand has the whole.]\n`, 'utf8')
  let end = mostBytes - mark(bytes.length).length
  // Not inside of a character: its later bytes begin with the bits 10.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return { type: 'whole', name: WHOLE_NAME, bytes: Buffer.concat([bytes.subarray(0, end), mark(end)]) }
}
