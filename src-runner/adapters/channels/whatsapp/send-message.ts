import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import type { proto, BinaryNode } from '@whiskeysockets/baileys'
import type { Translate } from '../../../../resources/locales/translate.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createMessage } from '../../../lib/messages.ts'
import type { OnPart, OutgoingMessage, SendResult } from '../../../domain/outbox/outgoing.ts'
import type { ChannelLimits, RunnerOfChannel } from '../channel.ts'
import type { FormattedText } from '../formatted-text.ts'
import { sendParts } from '../send-parts.ts'
import { trouble, type Result } from '../service-calls.ts'
import { createTextFormat } from '../text-format.ts'
import type { Library } from './library.ts'
import { keepSent, within, type LinkSocket } from './link-socket.ts'
import type { LinkState } from './link-state.ts'
import { MAX_FILE_BYTES, type createMedia } from './media.ts'
import { writeMarks } from './whatsapp-text.ts'

/** The service allows sixteen times as much, which nobody reads on a phone. */
export const LIMITS = { messageChars: 4096, fileBytes: MAX_FILE_BYTES } satisfies ChannelLimits

const ACK_DEADLINE_MS = 30_000
/** The ids of our own messages, so that an echo is recognised. Those of WhatsApp Web begin with `3EB0` too, and are shorter. */
const ID_PREFIX = '3EB0DE'
const OUR_ID = new RegExp(`^${ID_PREFIX}[0-9A-F]{26}$`)
const NO_CHAT = trouble('forbidden', createMessage('chat_not_delivered', { server: 'WhatsApp', words: createMessage('chat_not_a_chat') }))
const CUT_OFF = createMessage('chat_broken_off', { server: 'WhatsApp' })

export type Sending = {
  library: Library
  link: LinkSocket
  state: LinkState
  media: ReturnType<typeof createMedia>
  clock: Clock
  t: Translate
  readFile: RunnerOfChannel['readFile']
  signal: AbortSignal
  onPart: OnPart
  onRoundTrip(): void
}

type Kind = 'forbidden' | 'refused' | 'service' | 'slow_down'
type Sent = Result<string, Kind>

/** Sends the parts of a message that no earlier try has sent. A part has the same id in every try, so a phone shows it once. */
export async function sendMessage(sending: Sending, message: OutgoingMessage): Promise<SendResult> {
  const { library, t, readFile, onPart, signal } = sending
  const { id, chatId } = message
  const send = (part: number, work: (id: string) => Promise<Sent>): Promise<Sent> =>
    isChat(library, chatId) ? work(idOf(id, part)).catch((error: unknown) => troubleOf(error, signal)) : Promise.resolve(NO_CHAT)
  return sendParts<FormattedText, Kind>(
    { t, readFile, onPart, onTokenRefused() {} },
    {
      limits: LIMITS,
      format: await createTextFormat(t),
      sendText: (piece, _buttons, part) => send(part, (partId) => relay(sending, chatId, partId, { conversation: writeMarks(piece) })),
      sendFile: (name, bytes, part) => send(part, (partId) => sendDocument(sending, chatId, partId, name, bytes)),
    },
    message,
  )
}

/** Whether it is a message that this device has sent. */
export function isOurs(id: string | null | undefined): boolean {
  return OUR_ID.test(id ?? '')
}

function isChat(library: Library, chatId: string): boolean {
  return library.isPnUser(chatId) === true || library.isLidUser(chatId) === true || library.isJidGroup(chatId) === true
}

async function sendDocument(sending: Sending, chatId: string, id: string, name: string, bytes: Uint8Array): Promise<Sent> {
  const { link, media, signal, clock } = sending
  const uploaded = await media.upload(link.socket, bytes, 'document', signal)
  if (uploaded === null) {
    // Files go to servers of their own. While messages get through, a question need not wait for its attachment.
    return trouble(link.socket.ws.isOpen ? 'service' : 'unreachable', createMessage('chat_wa_no_upload'))
  }
  const fields = { fileName: name, title: name, fileLength: bytes.length, mimetype: typeOf(name) }
  return relay(sending, chatId, id, { documentMessage: { ...uploaded, ...fields, mediaKeyTimestamp: Math.floor(clock.now() / 1000) } })
}

/** Resolves when the service has accepted it. */
async function relay(sending: Sending, chatId: string, id: string, content: proto.IMessage): Promise<Sent> {
  const { library, link, state, clock, signal, onRoundTrip } = sending
  const { ws } = link.socket
  if (!ws.isOpen) return trouble('unreachable', CUT_OFF)
  keepSent(state, id, library.proto.Message.encode(library.proto.Message.fromObject(content)).finish())
  let stop = () => {}
  const accepted = new Promise<BinaryNode>((resolve, reject) => {
    const onClose = () => reject(new Cut())
    ws.on(`TAG:${id}`, resolve)
    ws.on('close', onClose)
    stop = () => {
      ws.off(`TAG:${id}`, resolve)
      ws.off('close', onClose)
    }
  })
  accepted.catch(() => {})
  try {
    const sent = link.socket.relayMessage(chatId, content, { messageId: id })
    await within(clock, ACK_DEADLINE_MS, Promise.race([sent, accepted]), signal)
    const { attrs } = await within(clock, ACK_DEADLINE_MS, accepted, signal)
    onRoundTrip()
    return attrs['error'] === undefined ? { ok: true, value: id } : refusalOf(attrs['error'])
  } finally {
    stop()
  }
}

class Cut extends Error {}

function refusalOf(code: string): Sent {
  const words = createMessage('chat_error_code', { status: code })
  if (code === '463') return trouble('forbidden', createMessage('chat_wa_restricted'))
  if (code === '429') return trouble('slow_down', createMessage('chat_slow_down', { server: 'WhatsApp' }))
  // 479: the service knows another device of the recipient by now, and the next try asks for it.
  const isTemporary = code === '479' || Number(code) >= 500
  if (isTemporary) return trouble('service', createMessage('chat_in_trouble', { server: 'WhatsApp', status: code, words }))
  return trouble('forbidden', createMessage('chat_not_delivered', { server: 'WhatsApp', words }))
}

function troubleOf(error: unknown, signal: AbortSignal): Sent {
  if (signal.aborted) return trouble('unreachable', createMessage('chat_given_up'))
  return trouble('unreachable', error instanceof Cut ? CUT_OFF : createMessage('chat_no_answer', { server: 'WhatsApp' }))
}

function idOf(messageId: string, part: number): string {
  return ID_PREFIX + createHash('sha256').update(`${messageId} ${part}`).digest('hex').slice(0, 26).toUpperCase()
}

const TYPES: Record<string, string> = {
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.zip': 'application/zip',
  '.html': 'text/html',
}

function typeOf(name: string): string {
  return TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream'
}
