import { z } from 'zod'
import { CHAT_COMMANDS } from '../../../domain/channels/commands.ts'
import { nameForPeople, type Sender } from '../../../domain/channels/people.ts'
import { englishText } from '../../../lib/messages.ts'
import type { ButtonPress, IncomingFile, IncomingMessage } from '../channel.ts'
import { mayBeNamedByOthers } from '../named-by-others.ts'
import {
  chatIdOf,
  EventPayload,
  InteractivePayload,
  isDirect,
  isForUs,
  mentionedIn,
  messageIdOf,
  readChatId,
  readText,
  sentAtOf,
  sharedIn,
  SlackId,
  SlackMessage,
  SlashPayload,
  type ServedFile,
} from './events.ts'
import type { Names } from './names.ts'
import type { SlackApi } from './web-api.ts'

/** The bot user of the app, and the workspace in which it is installed. */
export const Account = z.object({ userId: SlackId, teamId: SlackId })
export type Account = z.infer<typeof Account>

/**
 * What an envelope is about. `removed`: the app may have lost its token. `failed`: it cannot be read now. `at`: the place and time of
 * a message.
 */
export type ReadEnvelope =
  | { type: 'message'; message: IncomingMessage; at: { channel: string; ts: string } | null }
  | { type: 'press'; press: ButtonPress }
  | { type: 'removed' }
  | { type: 'failed' }
  | null

export type Reading = {
  api: SlackApi
  names: Names
  account: Account
  closing: AbortSignal
  /** Chats of people and rooms that may be heard. */
  knownChats(): readonly string[]
}

/** The largest file that is downloaded, which is held in memory. */
const MAX_DOWNLOAD_BYTES = 50_000_000
const FILE_DEADLINE_MS = 180_000
/** Each name in a text costs a call, and the sender chooses how many there are. */
const MAX_NAMES_IN_TEXT = 10

/** Returns null for what is not for us. Names that Slack does not tell are replaced by ids. */
export async function readEnvelope(reading: Reading, type: string, payload: unknown): Promise<ReadEnvelope> {
  if (type === 'events_api') return readEvent(reading, payload)
  if (type === 'interactive') return readPress(reading, payload)
  return type === 'slash_commands' ? readSlash(reading, payload) : null
}

async function readEvent(reading: Reading, payload: unknown): Promise<ReadEnvelope> {
  const { data } = EventPayload.safeParse(payload)
  if (data === undefined || !isOurTeam(reading, data)) return null
  if (data.event.type === 'app_uninstalled' || data.event.type === 'tokens_revoked') return { type: 'removed' }
  const { data: message } = SlackMessage.safeParse(data.event)
  if (message?.channel === undefined || !isForUs(message, reading.account.userId)) return null
  return readMessage(reading, { ...message, channel: message.channel })
}

/** One app-level token gets the events of all workspaces in which the app is installed. */
function isOurTeam(
  { account }: Reading,
  { team_id: teamId, authorizations }: { team_id?: string; authorizations?: { team_id?: string | null }[] | null },
): boolean {
  const teams = (authorizations ?? []).flatMap(({ team_id: id }) => (id == null ? [] : [id]))
  return teams.length > 0 ? teams.includes(account.teamId) : teamId === undefined || teamId === account.teamId
}

/** A message of an event or of a history. null: it has nothing to read. */
export async function readMessage(reading: Reading, message: SlackMessage & { channel: string }): Promise<ReadEnvelope> {
  const { channel, ts, user, thread_ts: thread } = message
  const shared = sharedIn(message)
  const source = [message.text, shared?.text ?? ''].filter((part) => part !== '').join('\n')
  const links = (message.files ?? [])
    .filter((file) => file.mode === 'external')
    .map((file) => `${nameOf(file)}: ${file.external_url ?? ''}`)
  const text = [await readNamedText(reading, source, channel), ...links].filter((part) => part !== '').join('\n')
  const files = (message.files ?? []).filter((file) => file.mode !== 'external').map((file) => createFile(reading, file))
  if (text.trim() === '' && files.length === 0) return null
  const read: IncomingMessage = {
    externalId: messageIdOf(channel, ts),
    sender: await senderOf(reading, user ?? '', chatIdOf(message)),
    text,
    replyTo: thread === undefined || thread === ts ? null : messageIdOf(channel, thread),
    forwardedFrom: shared === null ? null : shared.author.trim() === '' ? 'somebody' : nameForPeople(shared.author),
    ...((message.files ?? []).some((file) => mayBeNamedByOthers(nameOf(file))) ? { quotesOthers: true } : {}),
    files,
    unreadable: null,
    sentAt: sentAtOf(ts),
    room: isDirect(channel) ? null : await roomOf(reading, channel),
  }
  return { type: 'message', message: read, at: { channel, ts } }
}

/** A stranger cannot make us ask for names, because Slack limits such calls. */
async function readNamedText({ names, account, knownChats }: Reading, source: string, channel: string): Promise<string> {
  const found = new Map<string, string>()
  const ids = mentionedIn(source).filter((id) => id !== account.userId)
  const isKnown = ids.length > 0 && knownChats().some((chatId) => readChatId(chatId).channel === channel)
  for (const id of isKnown ? ids.slice(0, MAX_NAMES_IN_TEXT) : []) {
    const person = await names.person(id)
    if (person !== null) found.set(id, nameForPeople(person.name))
  }
  return readText(source, account.userId, (id) => found.get(id) ?? null)
}

async function senderOf({ names }: Reading, userId: string, chatId: string): Promise<Sender> {
  const person = await names.person(userId)
  return { externalId: userId, chatId, displayName: person?.name ?? userId, handle: person?.handle ?? null }
}

async function roomOf({ names }: Reading, channel: string): Promise<{ externalId: string; name: string }> {
  const name = await names.channel(channel)
  return { externalId: channel, name: name === null ? channel : `#${nameForPeople(name)}` }
}

async function readPress(reading: Reading, payload: unknown): Promise<ReadEnvelope> {
  const { data } = InteractivePayload.safeParse(payload)
  const action = data?.actions[0]?.value
  if (data === undefined || action === undefined) return null
  const { container, user, team } = data
  if (team != null && team.id !== reading.account.teamId) return null
  const { channel_id: channel, message_ts: ts = '', thread_ts: thread } = container
  const chatId = isDirect(channel) ? channel : `${channel}/${thread ?? ts}`
  const pressId = [channel, user.id, thread ?? ''].join('/')
  return { type: 'press', press: { pressId, sender: await senderOf(reading, user.id, chatId), action } }
}

/**
 * `/ada stop` is the command `/stop`, and `/ada stop sending me the weather` a message. A slash command can be typed anywhere,
 * also where the app is not, so it always belongs to the direct message with the person.
 */
async function readSlash(reading: Reading, payload: unknown): Promise<ReadEnvelope> {
  const { data } = SlashPayload.safeParse(payload)
  if (data === undefined || (data.team_id !== undefined && data.team_id !== reading.account.teamId)) return null
  const { user_id: userId, trigger_id: triggerId } = data
  const opened = await reading.api.call('conversations.open', { users: userId }, { signal: reading.closing })
  const chatId = opened.ok ? (opened.value['channel'] as { id?: unknown } | undefined)?.id : undefined
  if (typeof chatId !== 'string') return { type: 'failed' }
  const words = (await readNamedText(reading, data.text, chatId)).trim()
  const isCommand = new RegExp(`^(${CHAT_COMMANDS.join('|')})$`, 'i').test(words)
  const message: IncomingMessage = {
    externalId: `command:${triggerId}`,
    sender: await senderOf(reading, userId, chatId),
    text: words === '' ? '/help' : isCommand ? `/${words}` : words,
    replyTo: null,
    forwardedFrom: null,
    files: [],
    unreadable: null,
    sentAt: null,
    room: null,
  }
  return { type: 'message', message, at: null }
}

export function readPressId(pressId: string): { channel: string; user: string; thread: string | null } {
  const [channel = '', user = '', thread = ''] = pressId.split('/')
  return { channel, user, thread: thread === '' ? null : thread }
}

const nameOf = ({ id, name, title }: ServedFile) => name ?? title ?? `file-${id}`

function createFile({ api, closing }: Reading, file: ServedFile): IncomingFile {
  const size = file.size ?? null
  return {
    name: nameOf(file),
    size,
    async download(signal) {
      if (size !== null && size > MAX_DOWNLOAD_BYTES) return { problem: 'it is larger than 50 MB' }
      const options = { signal: AbortSignal.any([signal, closing]) }
      const url = urlOf(file) ?? (await findUrl(api, file.id, options))
      if (url === null) return { problem: 'the service does not say where it is' }
      const result = await api.download(url, { ...options, deadlineMs: FILE_DEADLINE_MS, maxBytes: MAX_DOWNLOAD_BYTES })
      return result.ok ? { bytes: result.value } : { problem: englishText(result.problem) }
    },
  }
}

const Address = z.object({ url_private: z.string().optional(), url_private_download: z.string().optional() })

const urlOf = (file: z.infer<typeof Address>) => file.url_private_download ?? file.url_private ?? null

/** Files of people from other organisations come without an address. */
async function findUrl(api: SlackApi, fileId: string, options: { signal: AbortSignal }): Promise<string | null> {
  const found = await api.call('files.info', { file: fileId }, options)
  const { data } = Address.safeParse(found.ok ? found.value['file'] : undefined)
  return data === undefined ? null : urlOf(data)
}
