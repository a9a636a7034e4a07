import { z } from 'zod'
import type { IncomingFile, IncomingMessage, ButtonPress } from '../channel.ts'
import { joinMessages } from '../join-messages.ts'
import { nameForPeople, type Sender } from '../../../domain/channels/people.ts'

/** The fields of an update that are read. An update that does not fit is skipped. */

const User = z.object({
  id: z.number().int(),
  is_bot: z.boolean().default(false),
  first_name: z.string().default(''),
  last_name: z.string().default(''),
  username: z.string().optional(),
})
const Chat = z.object({ id: z.number().int(), type: z.string() })
const ServedFile = z.object({ file_id: z.string(), file_size: z.number().optional(), file_name: z.string().optional() })

const Origin = z.object({
  type: z.string(),
  sender_user: User.optional(),
  sender_user_name: z.string().optional(),
  sender_chat: z.object({ title: z.string().optional() }).optional(),
  chat: z.object({ title: z.string().optional() }).optional(),
})

const Entities = z.array(z.object({ type: z.string(), offset: z.number().int(), length: z.number().int(), url: z.string().optional() }))

const Message = z.looseObject({
  message_id: z.number().int(),
  /** In seconds. */
  date: z.number().int().positive().optional().catch(undefined),
  from: User.optional(),
  chat: Chat,
  text: z.string().optional(),
  entities: Entities.optional().catch(undefined),
  caption: z.string().optional(),
  caption_entities: Entities.optional().catch(undefined),
  media_group_id: z.string().optional(),
  reply_to_message: z.object({ message_id: z.number().int() }).optional(),
  // In any form, its presence says that these are the words of others.
  forward_origin: Origin.optional().catch({ type: 'unknown' }),
  // The same from self-hosted servers that are older than `forward_origin`.
  forward_date: z.number().optional(),
  forward_from: User.optional().catch(undefined),
  forward_sender_name: z.string().optional().catch(undefined),
  via_bot: User.optional(),
  sender_business_bot: User.optional(),
  photo: z.array(ServedFile).optional(),
  document: ServedFile.optional(),
  audio: ServedFile.optional(),
  voice: ServedFile.optional(),
  video: ServedFile.optional(),
  video_note: ServedFile.optional(),
  sticker: z.object({ emoji: z.string().optional() }).optional(),
  location: z.object({ latitude: z.number(), longitude: z.number() }).optional(),
  venue: z.object({ title: z.string(), address: z.string() }).optional(),
  contact: z.object({ phone_number: z.string(), first_name: z.string(), last_name: z.string().default('') }).optional(),
})
type Message = z.infer<typeof Message>

/**
 * The service numbers updates with 32 bits. A number beyond would confirm all updates to come, and a negative one most of those
 * that wait.
 */
const MAX_UPDATE_ID = 2 ** 31 - 1

const Update = z.object({
  update_id: z.number().int().nonnegative().max(MAX_UPDATE_ID),
  message: Message.optional().catch(undefined),
  callback_query: z
    .object({ id: z.string(), from: User, data: z.string(), message: z.object({ chat: Chat }).optional() })
    .optional()
    .catch(undefined),
})

export type ReadUpdate = { updateId: number; album: string | null } & (
  | { message: IncomingMessage; press?: undefined }
  | { press: ButtonPress; message?: undefined }
  | { message?: undefined; press?: undefined }
)

export type GetFile = (file: { fileId: string; size: number | null }, signal: AbortSignal) => ReturnType<IncomingFile['download']>

/**
 * Returns the updates in their order, each once; null: this is no list of updates. An update without content for us is
 * included, because the position moves past it. One without a number is skipped.
 */
export function readUpdates(response: unknown, getFile: GetFile): ReadUpdate[] | null {
  if (!Array.isArray(response)) return null
  const read = new Map<number, ReadUpdate>()
  for (const given of response) {
    const update = Update.safeParse(given)
    if (update.success) read.set(update.data.update_id, readUpdate(update.data, getFile))
  }
  if (read.size === 0 && response.length > 0) return null
  return [...read.values()].sort((a, b) => a.updateId - b.updateId)
}

function readUpdate({ update_id: updateId, message, callback_query: query }: z.infer<typeof Update>, getFile: GetFile): ReadUpdate {
  const nothing = { updateId, album: null }
  if (query !== undefined) {
    if (query.from.is_bot || query.message?.chat.type !== 'private') return nothing
    return { ...nothing, press: { pressId: query.id, sender: senderOf(query.from, query.message.chat.id), action: query.data } }
  }
  // In a group anybody may write, so groups are not read.
  if (message?.from === undefined || message.from.is_bot || message.chat.type !== 'private') return nothing
  const read = readMessage(message, message.from, getFile)
  return read === null ? nothing : { updateId, album: message.media_group_id ?? null, message: read }
}

function readMessage(message: Message, from: z.infer<typeof User>, getFile: GetFile): IncomingMessage | null {
  const files = filesOf(message).map(({ name, file }): IncomingFile => ({
    name,
    size: file.file_size ?? null,
    download: (signal) => getFile({ fileId: file.file_id, size: file.file_size ?? null }, signal),
  }))
  const text = textOf(message)
  const isEmpty = text === '' && files.length === 0
  const unreadable = isEmpty ? unreadableOf(message) : null
  // A service message: something was pinned, a timer was set.
  if (isEmpty && unreadable === null) return null
  return {
    externalId: `${message.chat.id}:${message.message_id}`,
    sender: senderOf(from, message.chat.id),
    room: null,
    sentAt: message.date === undefined ? null : message.date * 1000,
    text,
    replyTo: message.reply_to_message === undefined ? null : String(message.reply_to_message.message_id),
    forwardedFrom: authorOf(message, from.id),
    ...(quotesOthers(message) ? { quotesOthers: true } : {}),
    files,
    unreadable,
  }
}

function senderOf({ id, first_name: first, last_name: last, username }: z.infer<typeof User>, chatId: number): Sender {
  return {
    externalId: String(id),
    chatId: String(chatId),
    displayName: `${first} ${last}`,
    handle: username === undefined ? null : `@${username}`,
  }
}

/** The author, if it is not the sender. A text that a bot wrote in the sender's name is the bot's. */
function authorOf(message: Message, senderId: number): string | null {
  const { forward_origin: origin, forward_date: date, forward_from: user, forward_sender_name: name } = message
  if (origin !== undefined) return originOf(origin, senderId)
  if (date !== undefined) return originOf({ type: 'older', sender_user: user, sender_user_name: name }, senderId)
  const bot = message.via_bot ?? message.sender_business_bot
  return bot === undefined ? null : `the bot ${bot.username === undefined ? nameForPeople(bot.first_name) : `@${bot.username}`}`
}

function originOf(origin: z.infer<typeof Origin>, senderId: number): string | null {
  if (origin.sender_user?.id === senderId) return null
  const user = origin.sender_user
  const name =
    user === undefined
      ? (origin.sender_user_name ?? origin.sender_chat?.title ?? origin.chat?.title)
      : `${user.first_name} ${user.last_name}`
  // The name appears in a sentence of ours, and a stranger chose it.
  return name?.trim() ? nameForPeople(name) : 'somebody'
}

function textOf(message: Message): string {
  const { text, caption, sticker, location, venue, contact } = message
  return [
    text === undefined ? withAddresses(caption ?? '', message.caption_entities) : withAddresses(text, message.entities),
    sticker?.emoji,
    venue && `${venue.title}, ${venue.address}`,
    location && `Location: ${location.latitude}, ${location.longitude}`,
    contact && `Contact: ${`${contact.first_name} ${contact.last_name}`.trim()}, ${contact.phone_number}`,
  ]
    .filter((part) => part !== undefined && part.trim() !== '')
    .join('\n')
}

/** Writes the address of a link after its text, if the two differ. */
function withAddresses(text: string, entities: z.infer<typeof Entities> = []): string {
  const links = entities
    .filter(({ type, url, offset, length }) => type === 'text_link' && url !== undefined && offset >= 0 && offset + length <= text.length)
    .map(({ offset, length, url }) => ({ shown: text.slice(offset, offset + length), end: offset + length, url }))
    .filter(({ shown, url }) => shown !== url)
    .sort((a, b) => a.end - b.end)
  const pieces = links.map(({ end, url }, i) => `${text.slice(links[i - 1]?.end ?? 0, end)} (${url})`)
  return pieces.join('') + text.slice(links.at(-1)?.end ?? 0)
}

function filesOf(message: Message): { name: string; file: z.infer<typeof ServedFile> }[] {
  const id = message.message_id
  // A photo comes in several sizes, the largest last.
  const photo = message.photo?.at(-1)
  const found: [file: z.infer<typeof ServedFile> | undefined, name: string][] = [
    [photo, `photo-${id}.jpg`],
    [message.document, `document-${id}`],
    [message.audio, `audio-${id}.mp3`],
    [message.voice, `voice-${id}.ogg`],
    [message.video, `video-${id}.mp4`],
    [message.video_note, `video-${id}.mp4`],
  ]
  return found.flatMap(([file, name]) => (file === undefined ? [] : [{ name: file.file_name ?? name, file }]))
}

/** The service names photos and voice messages itself. */
function quotesOthers({ venue, contact, document, audio, video }: Message): boolean {
  return venue !== undefined || contact !== undefined || [document, audio, video].some((file) => file?.file_name !== undefined)
}

const UNREADABLE = ['sticker', 'poll', 'checklist', 'story', 'dice', 'game', 'paid_media'] as const

function unreadableOf(message: Message): string | null {
  return UNREADABLE.find((field) => message[field] !== undefined) ?? null
}

/** Joins photos that were sent together: each comes as a message of its own. */
export function joinAlbums(updates: readonly ReadUpdate[]): ReadUpdate[] {
  const joined: ReadUpdate[] = []
  for (const update of updates) {
    const last = joined.at(-1)
    const isMore = update.message !== undefined && last?.message !== undefined && update.album !== null && update.album === last.album
    if (!isMore || !isSameSender(last.message, update.message)) {
      joined.push(update)
      continue
    }
    joined[joined.length - 1] = { ...last, updateId: update.updateId, message: joinMessages([last.message, update.message]) }
  }
  return joined
}

function isSameSender(one: IncomingMessage, other: IncomingMessage): boolean {
  return one.sender.chatId === other.sender.chatId && one.forwardedFrom === other.forwardedFrom
}
