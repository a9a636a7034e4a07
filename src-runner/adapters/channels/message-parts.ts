import type { Translate } from '../../../resources/locales/translate.ts'
import type { Button, OutgoingMessage } from '../../domain/outbox/outgoing.ts'
import type { ChannelLimits } from './channel.ts'

/** How a service shows Markdown. The same text is always split the same way, because a later try continues after what was sent. */
export type TextFormat<Piece> = {
  /** The language of notes about the text. */
  t: Translate
  /** Returns no piece if nothing is visible. */
  split(markdown: string, maxChars: number): Piece[]
  /** Adds words of ours below the piece. */
  append(piece: Piece, words: string): Piece
  /** Words without formatting, of at most one message. */
  plain(words: string): Piece
}

export type Part<Piece> =
  | { type: 'text'; piece: Piece; buttons: readonly Button[]; isLastText: boolean }
  /** Sent before the text that refers to it. */
  | { type: 'attachment'; name: string; bytes: Uint8Array }
  /** The full text as a file. */
  | { type: 'whole'; name: string; bytes: Uint8Array }
  | { type: 'file'; path: string }

/** As much as somebody reads on a phone. A longer text is sent as a file. */
export const MAX_MESSAGES = 5
const FULL_TEXT_NAME = 'answer.md'
/** Markup and addresses are not shown: this many characters of Markdown may become one. */
const SOURCE_PER_SHOWN = 4

/** What is sent for a message on every service: its text, or its beginning and the full text as a file; then its files. */
export function partsOf<Piece>(
  message: Pick<OutgoingMessage, 'text' | 'buttons' | 'files' | 'attachments'>,
  limits: ChannelLimits,
  format: TextFormat<Piece>,
): Part<Piece>[] {
  const { files, attachments = [] } = message
  const attached = attachments.map(({ name, text }) => ({ type: 'attachment' as const, name, bytes: Buffer.from(text, 'utf8') }))
  const canAttach = limits.fileBytes !== null && attached.every(({ bytes }) => bytes.length <= limits.fileBytes!)
  const buttons = canAttach || attached.length === 0 ? message.buttons : message.buttons.filter((button) => !button.needsCompleteCall)
  // A service may refuse a text with half a character.
  const text = message.text.toWellFormed()
  const pieces = splitShort(text, limits, format)
  const whole = pieces === null && limits.fileBytes !== null ? [fullTextOf(format.t, text, limits.fileBytes)] : []
  const shown = pieces ?? [beginningOf(text, limits, format)]
  const needsText = shown.length === 0 && (files.length === 0 || buttons.length > 0)
  const texts = needsText ? format.split(format.t('outbound.file.noText'), limits.messageChars) : shown
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

/** The first part to send. At least the last one, even if an earlier version of the app split the text into more parts. */
export function firstPartOf({ partsSent }: Pick<OutgoingMessage, 'partsSent'>, parts: readonly unknown[]): number {
  return Math.min(partsSent, parts.length - 1)
}

/** null: it needs too many messages. A text that is far too long is not even parsed. */
function splitShort<Piece>(text: string, { messageChars }: ChannelLimits, { split }: TextFormat<Piece>): Piece[] | null {
  if (text.length > messageChars * MAX_MESSAGES * SOURCE_PER_SHOWN) return null
  const pieces = split(text, messageChars)
  return pieces.length > MAX_MESSAGES ? null : pieces
}

function beginningOf<Piece>(text: string, { messageChars, fileBytes }: ChannelLimits, { t, split, append }: TextFormat<Piece>): Piece {
  const words = `📄 ${noteFor(t, text, fileBytes)}`
  const room = messageChars - words.length - 2
  const first = split(firstLines(text, messageChars * SOURCE_PER_SHOWN), room)[0] ?? split(t('outbound.file.noText'), room)[0]!
  return append(first, words)
}

function noteFor(t: Translate, text: string, fileBytes: number | null): string {
  if (fileBytes === null) return t('outbound.file.tooLong')
  return t(Buffer.byteLength(text) <= fileBytes ? 'outbound.file.rest' : 'outbound.file.cut', { file: FULL_TEXT_NAME })
}

/** Whole lines if possible, and whole characters always. */
function firstLines(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const lineEnd = text.lastIndexOf('\n', maxChars)
  return text.slice(0, lineEnd > maxChars / 2 ? lineEnd : maxChars - Number(/[\ud800-\udbff]/.test(text[maxChars - 1]!)))
}

/** A file that had to be cut says at its end how much is missing. */
function fullTextOf(t: Translate, text: string, maxBytes: number): Part<never> {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= maxBytes) return { type: 'whole', name: FULL_TEXT_NAME, bytes }
  const mark = (kept: number) => Buffer.from(`\n\n${t('outbound.file.cutHere', { kept, all: bytes.length })}\n`, 'utf8')
  let end = maxBytes - mark(bytes.length).length
  // Not inside a character: its later bytes begin with the bits 10.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return { type: 'whole', name: FULL_TEXT_NAME, bytes: Buffer.concat([bytes.subarray(0, end), mark(end)]) }
}
