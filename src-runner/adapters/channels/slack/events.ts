import { z } from 'zod'

/** The fields of what Slack sends that are read. What does not fit is acknowledged and skipped. */

export type Frame = z.infer<typeof Frame>
export const Frame = z.object({
  type: z.string(),
  reason: z.string().optional(),
  envelope_id: z.string().min(1).max(200).optional(),
  payload: z.unknown().optional(),
})

/** Of a user, a workspace or a conversation. */
export const SlackId = z.string().regex(/^[A-Z0-9]{2,30}$/)
/** Times are compared as text, so all of them have the same length. */
const Ts = z.string().regex(/^\d{10}\.\d{6}$/)

const ServedFile = z.object({
  id: z.string(),
  name: z.string().nullish(),
  title: z.string().nullish(),
  size: z.number().optional(),
  mode: z.string().optional(),
  file_access: z.string().optional(),
  external_url: z.string().optional(),
  url_private: z.string().optional(),
  url_private_download: z.string().optional(),
})
export type ServedFile = z.infer<typeof ServedFile>

const Attachment = z.object({
  is_share: z.boolean().optional(),
  is_msg_unfurl: z.boolean().optional(),
  author_name: z.string().optional(),
  author_subname: z.string().optional(),
  text: z.string().optional(),
  fallback: z.string().optional(),
})

/** A message as events and histories have it. */
export const SlackMessage = z.object({
  type: z.string(),
  subtype: z.string().optional(),
  channel: SlackId.optional(),
  channel_type: z.string().optional(),
  user: SlackId.optional(),
  // null in messages with files.
  bot_id: z.string().nullish(),
  text: z.string().default(''),
  ts: Ts,
  thread_ts: Ts.optional(),
  latest_reply: Ts.optional().catch(undefined),
  files: z.array(ServedFile).optional().catch(undefined),
  attachments: z.array(Attachment).optional().catch(undefined),
})
export type SlackMessage = z.infer<typeof SlackMessage>

export const EventPayload = z.object({
  team_id: z.string().optional(),
  authorizations: z.array(z.object({ team_id: z.string().nullish() })).nullish(),
  event: z.looseObject({ type: z.string() }),
})

export const InteractivePayload = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id: SlackId, username: z.string().optional(), name: z.string().optional() }),
  team: z.object({ id: z.string() }).nullish(),
  container: z.object({ channel_id: SlackId, message_ts: z.string().optional(), thread_ts: z.string().optional() }),
  actions: z.array(z.object({ value: z.string().optional() })).min(1),
})

export const SlashPayload = z.object({
  text: z.string().default(''),
  user_id: SlackId,
  user_name: z.string().default(''),
  team_id: z.string().optional(),
  trigger_id: z.string(),
})

/** Messages that a person wrote. The other subtypes tell of changes: somebody joined, a message was edited. */
const WRITTEN = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message'])

/** Whether a person wrote this to us: in a direct message, or in a channel with a mention. Our own uploads may have no `bot_id`. */
export function isForUs({ type, subtype, user, bot_id: botId, channel_type: kind }: SlackMessage, botUserId: string): boolean {
  if (user === undefined || user === botUserId || botId != null || !WRITTEN.has(subtype)) return false
  return type === 'app_mention' || (type === 'message' && kind === 'im')
}

/** Where a message is answered: in the direct message, or in the thread of the channel in which it was written. */
export function chatIdOf({ channel, ts, thread_ts: thread, channel_type: kind }: SlackMessage & { channel: string }): string {
  return kind === 'im' || isDirect(channel) ? channel : `${channel}/${thread ?? ts}`
}

export const isDirect = (channel: string) => channel.startsWith('D')

/** `D…`: a direct message. `C…/<time of the first message>`: a thread of a channel. */
export function readChatId(chatId: string): { channel: string; thread: string | null } {
  const [channel = '', thread] = chatId.split('/')
  return { channel, thread: thread ?? null }
}

/** Slack's name of a message is unique within its channel only. */
export const messageIdOf = (channel: string, ts: string) => `${channel}:${ts}`

export function readMessageId(externalId: string): { channel: string; ts: string } {
  const [channel = '', ts = ''] = externalId.split(':')
  return { channel, ts }
}

const USER = /<@([UW][A-Z0-9]+)(?:\|[^<>]*)?>/g

/** The people whom a text mentions. */
export function mentionedIn(text: string): string[] {
  return [...new Set([...text.matchAll(USER)].map(([, id]) => id!))]
}

export const mentions = (text: string, userId: string) => mentionedIn(text).includes(userId)

/** Turns Slack's text into what people see. The mention of ourselves at the beginning is no part of what was said. */
export function readText(text: string, botUserId: string, nameOf: (userId: string) => string | null): string {
  return text
    .replace(new RegExp(`^\\s*<@${botUserId}(?:\\|[^>]*)?>[\\s,:]*`), '')
    .replace(/<([^<>]*)>/g, (_whole, inner: string) => readLink(inner, nameOf))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

function readLink(inner: string, nameOf: (userId: string) => string | null): string {
  const bar = inner.indexOf('|')
  const target = bar === -1 ? inner : inner.slice(0, bar)
  const label = bar === -1 ? '' : inner.slice(bar + 1)
  const name = target.slice(1)
  if (target.startsWith('@')) return `@${nameOf(name) ?? (label.replace(/^@/, '') || name)}`
  if (target.startsWith('#')) return `#${label || name}`
  if (target.startsWith('!')) return label || `@${name.split('^')[0]}`
  const address = target.replace(/^mailto:/, '')
  return label === '' || label === address || label === target ? address : `${label} (${target})`
}

/** The text of a message that was shared, with its author. Nothing of it is the sender's own word. */
export function sharedIn({ attachments }: SlackMessage): { author: string; text: string } | null {
  const shared = (attachments ?? []).filter((one) => one.is_share === true || one.is_msg_unfurl === true)
  if (shared.length === 0) return null
  const author = shared.map((one) => one.author_name ?? one.author_subname ?? '').find((name) => name.trim() !== '') ?? ''
  return { author, text: shared.map((one) => one.text ?? one.fallback ?? '').join('\n') }
}

export const sentAtOf = (ts: string) => Math.floor(Number(ts) * 1000)
