import { z } from 'zod'
import { nameForPeople, type Sender } from '../../../domain/channels/people.ts'
import type { ButtonPress, IncomingFile, IncomingMessage } from '../channel.ts'
import { mayBeNamedByOthers } from '../named-by-others.ts'
import type { Places } from './places.ts'
import { DISCORD_EPOCH } from './positions.ts'

/** The fields of messages and interactions that are read. One that does not fit is skipped. */

export const Id = z.string().regex(/^\d{1,20}$/)
const User = z.object({ id: Id, username: z.string(), global_name: z.string().nullish(), bot: z.boolean().nullish() })
type User = z.infer<typeof User>
const Attachment = z.object({ id: Id, filename: z.string(), size: z.number().nullish(), url: z.string() })
const Named = z.object({ name: z.string() })
const Content = z.object({
  content: z.string().default(''),
  attachments: z.array(Attachment).default([]),
  mentions: z.array(User).default([]).catch([]),
  sticker_items: z.array(Named).nullish().catch(null),
  poll: z.object({}).nullish().catch(null),
  embeds: z.array(z.unknown()).default([]).catch([]),
})
type Content = z.infer<typeof Content>

const ChatMessage = Content.extend({
  id: Id,
  channel_id: Id,
  guild_id: Id.nullish(),
  author: User,
  webhook_id: Id.nullish(),
  type: z.number(),
  member: z.object({ nick: z.string().nullish() }).nullish().catch(null),
  message_reference: z.object({ type: z.number().nullish(), message_id: Id.nullish() }).nullish().catch(null),
  referenced_message: z
    .object({ author: User, content: z.string().default('') })
    .nullish()
    .catch(null),
  message_snapshots: z.array(z.object({ message: Content })).nullish(),
})
export type ChatMessage = z.infer<typeof ChatMessage>

const Interaction = z.object({
  id: Id,
  token: z.string(),
  type: z.number(),
  channel_id: Id,
  guild_id: Id.nullish(),
  user: User.nullish(),
  member: z.object({ user: User, nick: z.string().nullish() }).nullish(),
  data: z.object({ custom_id: z.string().optional(), name: z.string().optional() }),
})

export type ReadInteraction = { id: string; token: string; chatId: string; guildId: string | null } & (
  | { press: ButtonPress; command?: undefined }
  | { command: string; sender: Sender; press?: undefined }
)

/** Where the words of a person begin: an ordinary message, or a reply. Others tell that something happened. */
const WRITTEN = new Set([0, 19])
const FORWARD = 1
const MAX_NAMES = 10

export type GetFile = (file: { url: string; size: number | null }, signal: AbortSignal) => ReturnType<IncomingFile['download']>

/** null: nothing for us. */
export function parseMessage(data: unknown): ChatMessage | null {
  const message = ChatMessage.safeParse(data)
  if (!message.success) return null
  const { author, webhook_id: webhook, type } = message.data
  return author.bot === true || typeof webhook === 'string' || !WRITTEN.has(type) ? null : message.data
}

/** In a server, only messages that mention the account are for us, and replies that do. */
export function isForAccount({ guild_id: guild, mentions }: ChatMessage, botId: string): boolean {
  return typeof guild !== 'string' || mentions.some(({ id }) => id === botId)
}

/** null: it has no content. */
export async function readMessage(
  message: ChatMessage,
  { botId, places, getFile, knownChats }: { botId: string; places: Places; getFile: GetFile; knownChats(): readonly string[] },
): Promise<IncomingMessage | null> {
  const { id, channel_id: chatId, guild_id: guildId, author, member } = message
  const snapshots = (message.message_snapshots ?? []).map((snapshot) => snapshot.message)
  const isForwarded = message.message_reference?.type === FORWARD || snapshots.length > 0
  const contents: Content[] = [message, ...snapshots]
  // A stranger cannot make us ask for names, because Discord limits such calls and all other messages wait for them.
  const isNamed = contents.some(({ content }) => /<(?:#|@&)\d/.test(content)) && knownChats().includes(chatId)
  const words = await Promise.all(contents.map((content) => wordsOf(content, guildId ?? null, isNamed ? places : null, botId)))
  const quote = quoteIn(message, botId)
  const files = contents.flatMap((content) => content.attachments.map((attachment) => fileOf(attachment, getFile)))
  const text = [...(quote === null ? [] : [quote]), ...words].filter((part) => part !== '').join('\n\n')
  const unreadable = text === '' && files.length === 0 ? unreadableOf(contents) : null
  if (text === '' && files.length === 0 && unreadable === null) return null
  return {
    externalId: id,
    sender: senderOf(author, chatId, member?.nick ?? null),
    room: typeof guildId === 'string' ? await places.roomOf(guildId) : null,
    sentAt: sentAtOf(id),
    text,
    replyTo: !isForwarded && quote === null ? (message.message_reference?.message_id ?? null) : null,
    // The service does not say who wrote it.
    forwardedFrom: isForwarded ? 'somebody' : null,
    ...(files.some(({ name }) => mayBeNamedByOthers(name)) ? { quotesOthers: true } : {}),
    files,
    unreadable,
  }
}

/** null: neither a button nor a command of ours. */
export function readInteraction(data: unknown): ReadInteraction | null {
  const read = Interaction.safeParse(data)
  if (!read.success) return null
  const { id, token, type, channel_id: chatId, guild_id: guildId, data: given, member } = read.data
  const user = read.data.user ?? member?.user
  if (user === undefined || user.bot === true) return null
  const sender = senderOf(user, chatId, member?.nick ?? null)
  const common = { id, token, chatId, guildId: guildId ?? null }
  if (type === 3 && given.custom_id !== undefined) return { ...common, press: { pressId: id, sender, action: given.custom_id } }
  return type === 2 && given.name !== undefined ? { ...common, command: given.name, sender } : null
}

/** An id begins with the time. */
export function sentAtOf(id: string): number {
  return Number((BigInt(id) >> 22n) + DISCORD_EPOCH)
}

function senderOf({ id, username, global_name: name }: User, chatId: string, nick: string | null): Sender {
  return { externalId: id, chatId, displayName: nick ?? name ?? username, handle: `@${username}` }
}

/** What somebody else wrote in a room and the sender answers. The agent knows its own words, and a sender theirs. */
function quoteIn({ author, guild_id: guild, referenced_message: quoted, message_reference: reference }: ChatMessage, botId: string) {
  if (typeof guild !== 'string' || !quoted || reference?.type === FORWARD) return null
  const text = quoted.content.trim()
  if (text === '' || quoted.author.id === botId || quoted.author.id === author.id) return null
  return `${nameForPeople(quoted.author.global_name ?? quoted.author.username)} wrote:\n${text.replace(/^/gm, '> ')}`
}

function fileOf({ filename: name, url, size = null }: z.infer<typeof Attachment>, getFile: GetFile): IncomingFile {
  return { name, size, download: (signal) => getFile({ url, size }, signal) }
}

function unreadableOf(contents: readonly Content[]): string | null {
  if (contents.some((content) => (content.sticker_items ?? []).length > 0)) return 'sticker'
  if (contents.some(({ poll }) => typeof poll === 'object' && poll !== null)) return 'poll'
  return contents.some(({ embeds }) => embeds.length > 0) ? 'embed' : null
}

/**
 * The text as a person reads it: with names instead of ids, and without the mention of the account that it begins with. Without
 * `places`, channels and roles have no names.
 */
async function wordsOf(
  { content, mentions, sticker_items: stickers }: Content,
  guildId: string | null,
  places: Places | null,
  botId: string,
): Promise<string> {
  const words = content.trim().replace(new RegExp(`^(?:<@!?${botId}>[\\s,:]*)+`), '')
  const guild = guildId !== null && words.includes('<@&') ? await places?.guild(guildId) : null
  const channels = new Map<string, string | null>()
  for (const [, id] of [...words.matchAll(/<#(\d{1,20})>/g)].slice(0, MAX_NAMES))
    channels.set(id!, (await places?.channelName(id!)) ?? null)
  const people = new Map(mentions.map(({ id, global_name: name, username }) => [id, nameForPeople(name ?? username)]))
  const readable = words
    .replace(/<@!?(\d{1,20})>/g, (_all, id: string) => `@${people.get(id) ?? 'somebody'}`)
    .replace(/<@&(\d{1,20})>/g, (_all, id: string) => `@${guild?.roles.get(id) ?? 'role'}`)
    .replace(/<#(\d{1,20})>/g, (_all, id: string) => `#${channels.get(id) ?? 'channel'}`)
    .replace(/<a?(:\w{1,40}:)\d{1,20}>/g, '$1')
    .replace(/<\/([^:<>]{1,100}):\d{1,20}>/g, '/$1')
    .replace(/<t:(-?\d{1,11})(?::\w)?>/g, (_all, seconds: string) => timeOf(Number(seconds) * 1000))
  const shown = (stickers ?? []).map(({ name }) => `(Sticker: ${nameForPeople(name)})`)
  return [readable, ...(readable === '' ? [] : shown)].filter((part) => part !== '').join('\n')
}

function timeOf(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}
