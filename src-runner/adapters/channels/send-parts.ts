import { basename } from 'node:path'
import { renderMessage, type Translate } from '../../../resources/locales/translate.ts'
import type { Message } from '../../contract/messages.ts'
import { createMessage } from '../../lib/messages.ts'
import type { Button, OnPart, OutgoingMessage, SendResult } from '../../domain/outbox/outgoing.ts'
import type { ChannelLimits, RunnerOfChannel } from './channel.ts'
import { firstPartOf, partsOf, type Part, type TextFormat } from './message-parts.ts'
import type { Result } from './service-calls.ts'

export const FILE_DEADLINE_MS = 180_000
/** If the service wants fewer messages and does not say for how long. */
const PAUSE_MS = 60_000
const WITHDRAWN = createMessage('sent_withdrawn')

/** The kinds of trouble that every service has. service: it is in trouble. refused, forbidden: no later try can succeed. */
type CommonKind = 'token' | 'forbidden' | 'refused' | 'service' | 'slow_down'
type Sent<Kind extends string> = Promise<Result<string, Kind | CommonKind>>

/** How one service sends. `part` is the number of the part in its message. Both return the service's id of what was sent. */
export type PartSender<Piece, Kind extends string> = {
  limits: ChannelLimits
  format: TextFormat<Piece>
  sendText(piece: Piece, buttons: readonly Button[], part: number): Sent<Kind>
  sendFile(name: string, bytes: Uint8Array, part: number): Sent<Kind>
}

export type Sending = {
  t: Translate
  readFile: RunnerOfChannel['readFile']
  onPart: OnPart
  onTokenRefused(problem: Message): void
}

/** Sends the parts of a message that no earlier try has sent. */
export async function sendParts<Piece, Kind extends string>(
  sending: Sending,
  sender: PartSender<Piece, Kind>,
  message: OutgoingMessage,
): Promise<SendResult> {
  const { t, onPart, onTokenRefused } = sending
  const parts = partsOf(message, sender.limits, sender.format)
  const first = firstPartOf(message, parts)
  const onlyFilesLeft = (from: number) => parts.slice(from).every(({ type }) => type !== 'text')
  const failed = (partsSent: number, problem: Message) =>
    ({ state: 'failed', permanent: false, partsSent, retryAfterMs: null as number | null, problem }) as const
  let externalId: string | null = null
  let isIncomplete = false
  // A message of files alone has no text that later messages must wait for.
  if (onlyFilesLeft(first)) onPart(first, { onlyFilesLeft: true })
  for (let i = first; i < parts.length; i++) {
    const part: Part<Piece> = isIncomplete ? withoutAttachment(t, sender.format, parts[i]!) : parts[i]!
    const result: Awaited<Sent<Kind>> = await sendPart(sending, sender, part, i)
    if (!result.ok) {
      // A question is sent without its attachment, and without the buttons that need it.
      isIncomplete = part.type === 'attachment' && (result.kind === 'service' || result.kind === 'refused')
      if (!isIncomplete) {
        if (result.kind === 'token') onTokenRefused(result.problem)
        const permanent = result.kind === 'forbidden' || result.kind === 'refused'
        const retryAfterMs = result.retryAfterMs ?? (result.kind === 'slow_down' ? PAUSE_MS : null)
        return { ...failed(i, result.problem), permanent, retryAfterMs }
      }
    } else if (part.type === 'text' && part.isLastText) externalId = result.value
    const isLast = i === parts.length - 1
    if (!isLast && !onPart(i + 1, result.ok ? { onlyFilesLeft: onlyFilesLeft(i + 1) } : { incomplete: true }))
      return failed(i + 1, WITHDRAWN)
  }
  return { state: 'sent', externalId }
}

function withoutAttachment<Piece>(t: Translate, format: TextFormat<Piece>, part: Part<Piece>): Part<Piece> {
  if (part.type !== 'text' || !part.isLastText) return part
  const piece = format.append(part.piece, t('outbound.approval.incomplete'))
  return { ...part, piece, buttons: part.buttons.filter((button) => !button.needsCompleteCall) }
}

/** A file that cannot be sent is replaced by a sentence that says so. */
async function sendPart<Piece, Kind extends string>(
  { t, readFile }: Sending,
  { limits, format, sendText, sendFile }: PartSender<Piece, Kind>,
  part: Part<Piece>,
  number: number,
): Sent<Kind> {
  if (part.type === 'text') return sendText(part.piece, part.buttons, number)
  if (part.type === 'attachment') return sendFile(part.name, part.bytes, number)
  const name = part.type === 'file' ? basename(part.path) : part.name
  const file = part.type === 'file' ? await readFile(part.path, limits.fileBytes ?? 0) : part
  let problem = 'problem' in file ? `${file.problem}.` : t('outbound.file.empty')
  if ('bytes' in file && file.bytes.length > 0) {
    const result = await sendFile(name, file.bytes, number)
    if (result.ok || result.kind !== 'refused') return result
    problem = renderMessage(t, result.problem)
  }
  return sendText(format.plain(t('outbound.file.notSent', { file: name, why: problem })), [], number)
}
