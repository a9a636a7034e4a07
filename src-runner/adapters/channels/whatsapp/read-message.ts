import type { proto, WAMessage } from '@whiskeysockets/baileys'
import type { IncomingFile, IncomingMessage } from '../channel.ts'
import { isOtherVersion } from './albums.ts'
import type { Library } from './library.ts'
import type { MediaKind } from './media-cipher.ts'

/** The file of a message, where the service keeps it. */
export type StoredFile = {
  kind: MediaKind
  directPath?: string | null
  mediaKey?: Uint8Array | null
  fileSha256?: Uint8Array | null
  fileEncSha256?: Uint8Array | null
  /** In bytes, as the sender says. */
  size: number | null
}
export type GetFile = (file: StoredFile, signal: AbortSignal) => ReturnType<IncomingFile['download']>

/** What a message says. Whom it is from is the caller's part. */
export type Content = Pick<IncomingMessage, 'text' | 'replyTo' | 'forwardedFrom' | 'quotesOthers' | 'files' | 'unreadable'> & {
  /** The users whom it mentions, and the one whose message it quotes. */
  addressed: string[]
}

const MAX_TEXT = 65_536
const MAX_CARDS = 20
const EXTENSIONS = new Map(
  Object.entries({
    'image/jpeg': 'jpg',
    'image/png': 'png',
    'image/webp': 'webp',
    'video/mp4': 'mp4',
    'audio/ogg': 'ogg',
    'audio/mpeg': 'mp3',
    'audio/mp4': 'm4a',
  }),
)

/** null: nothing for an agent, such as a reaction, a deletion, a change or another version of an earlier message, or a vote. */
export function readContent(library: Library, message: WAMessage, getFile: GetFile): Content | null {
  const content = library.normalizeMessageContent(message.message)
  if (!content || content.protocolMessage || isOtherVersion(library, message.message)) return null
  const files = filesOf(content, message.key.id ?? '', getFile)
  const text = textOf(content).slice(0, MAX_TEXT).toWellFormed()
  const isEmpty = text === '' && files.length === 0
  const unreadable = isEmpty ? unreadableOf(content) : null
  if (isEmpty && unreadable === null) return null
  const context = contextOf(content)
  return {
    text,
    files,
    unreadable,
    replyTo: context?.stanzaId ?? null,
    // The service does not say who.
    forwardedFrom: context?.isForwarded === true ? 'somebody' : null,
    ...(quotesOthers(content) ? { quotesOthers: true } : {}),
    addressed: [...(context?.mentionedJid ?? []), ...(context?.stanzaId ? [context.participant ?? ''] : [])],
  }
}

function contextOf(content: proto.IMessage): proto.IContextInfo | null {
  for (const part of Object.values(content) as ({ contextInfo?: proto.IContextInfo | null } | null)[]) {
    if (part !== null && typeof part === 'object' && part.contextInfo) return part.contextInfo
  }
  return null
}

function textOf({ conversation, ...content }: proto.IMessage): string {
  const { extendedTextMessage: text, imageMessage: image, videoMessage: video, documentMessage: document } = content
  const { locationMessage: place, liveLocationMessage: live, contactMessage: card, contactsArrayMessage: cards } = content
  const where = place ?? live
  return [
    conversation,
    text?.text,
    image?.caption,
    video?.caption,
    document?.caption,
    where && [place?.name, place?.address, `Location: ${where.degreesLatitude}, ${where.degreesLongitude}`].filter(Boolean).join('\n'),
    ...[card, ...(cards?.contacts ?? [])].slice(0, MAX_CARDS + 1).map((one) => one && cardText(one)),
  ]
    .filter((part): part is string => typeof part === 'string' && part.trim() !== '')
    .join('\n')
}

function quotesOthers({
  contactMessage,
  contactsArrayMessage,
  locationMessage: place,
  documentMessage: document,
}: proto.IMessage): boolean {
  return [contactMessage, contactsArrayMessage, place?.name, place?.address, document?.fileName].some(Boolean)
}

/** The lines of a vCard that a person would write down. */
function cardText({ displayName, vcard }: proto.Message.IContactMessage): string {
  const lines = (vcard ?? '').slice(0, 20_000).split(/\r?\n/)
  const values = lines.flatMap((line) => {
    const [, value] = /^(?:item\d+\.)?(?:TEL|EMAIL|ORG|ADR|URL|NOTE)[^:]*:(.+)$/i.exec(line) ?? []
    return value === undefined ? [] : [value.replace(/;+/g, ' ').trim()]
  })
  return `Contact: ${[displayName, ...values.slice(0, 10)].filter(Boolean).join(', ')}`
}

function filesOf(content: proto.IMessage, id: string, getFile: GetFile): IncomingFile[] {
  const { imageMessage: image, videoMessage: video, ptvMessage: note, audioMessage: audio, documentMessage: document } = content
  const found = [
    { file: image, kind: 'image', name: `photo-${id}` },
    { file: video ?? note, kind: 'video', name: `video-${id}` },
    { file: audio, kind: 'audio', name: `${audio?.ptt === true ? 'voice' : 'audio'}-${id}` },
    { file: document, kind: 'document', name: `document-${id}` },
  ] as const
  return found.flatMap(({ file, kind, name }) => {
    if (!file) return []
    const given = 'fileName' in file ? file.fileName : null
    const size = Number(file.fileLength ?? 0) || null
    const extension = EXTENSIONS.get(file.mimetype?.split(';')[0]?.trim() ?? '')
    return [
      {
        name: given || (extension === undefined ? name : `${name}.${extension}`),
        size,
        download: (signal: AbortSignal) => getFile({ ...file, kind, size }, signal),
      },
    ]
  })
}

const UNREADABLE: [pattern: RegExp, kind: string][] = [
  [/sticker/i, 'sticker'],
  [/^pollCreation/, 'poll'],
  [/^event/, 'event'],
]
/** Parts that come with others or say nothing by themselves. */
const SILENT =
  /^(reaction|encReaction|pollUpdate|keepInChat|pinInChat|messageContextInfo|senderKeyDistribution|fastRatchetKey|deviceSent|placeholder|call|bcall|secretEncrypted|encEvent|encComment|conversation|extendedText|albumMessage|messageHistory|statusNotification)/

function unreadableOf(content: proto.IMessage): string | null {
  const names = Object.entries(content).flatMap(([name, value]) => (value == null ? [] : [name]))
  const [name] = names.filter((one) => !SILENT.test(one))
  return name === undefined ? null : (UNREADABLE.find(([pattern]) => pattern.test(name))?.[1] ?? 'unknown')
}
