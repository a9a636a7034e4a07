import { and, count, desc, eq, getTableColumns, inArray, lt, ne, sql, type SQL } from 'drizzle-orm'
import type { Db, Tx } from '../../platform/db/database.ts'
import type { ChannelPerson, ChannelRole } from '../../contract/channels.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, required } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import { createMessage } from '../../lib/messages.ts'
import { withdrawFrom } from '../outbox/write-message.ts'
import { channelConversations, channelPeople as people } from './channels-table.ts'

/** Somebody as the service describes them. */
export type Sender = { externalId: string; chatId: string; displayName: string; handle: string | null }

/** Whose rights a message has: those of its sender, or of the room in which it was written. */
export type Writer = Sender & { isRoom: boolean }

/** Requests that a channel lists at once. */
export const MAX_REQUESTS = 50
/** Further places, for those who send the pairing code. */
export const MAX_REQUESTS_WITH_CODE = 10
/** An unanswered request is deleted after this time; the sender may ask again. */
const REQUEST_KEPT_MS = 7 * 24 * 3_600_000

const { chatId: _chatId, ...SHOWN } = getTableColumns(people)

/** In the order of their first messages. */
export function listPeople(db: Db, channelId: string): ChannelPerson[] {
  return db.select(SHOWN).from(people).where(eq(people.channelId, channelId)).orderBy(people.firstSeenAt, people.id).all()
}

export function findPersonByExternalId(db: Db, channelId: string, externalId: string): ChannelPerson | null {
  return findPerson(db, channelId, eq(people.externalId, externalId))
}

export function findOwner(db: Db, channelId: string): ChannelPerson | null {
  return findPerson(db, channelId, sql`${people.role} = 'owner'`)
}

/** Throws AppError channel_person_not_found. */
export function getPerson(db: Db, channelId: string, personId: string): ChannelPerson {
  return required(findPerson(db, channelId, eq(people.id, personId)), 'channel_person_not_found')
}

function findPerson(db: Db, channelId: string, isPerson: SQL): ChannelPerson | null {
  const isHere = and(eq(people.channelId, channelId), isPerson)
  return db.select(SHOWN).from(people).where(isHere).get() ?? null
}

const MAX_KNOWN_PEOPLE = 100
/** So that a room with many threads crowds nobody out. */
const MAX_CHATS_EACH = 20

/** The chats of people and rooms that may write to the agent, who wrote last first. Of a room's threads, the newest. */
export function listKnownChats(db: Db, channelId: string): string[] {
  const known = db
    .select({ id: people.id, chatId: people.chatId })
    .from(people)
    .where(and(eq(people.channelId, channelId), inArray(people.role, ['owner', 'allowed'])))
    .orderBy(desc(people.lastMessageAt))
    .limit(MAX_KNOWN_PEOPLE)
    .all()
  const chats = known.flatMap(({ id, chatId }) => {
    const current = db
      .select({ chatId: channelConversations.chatId })
      .from(channelConversations)
      .where(and(eq(channelConversations.personId, id), eq(channelConversations.isCurrent, true)))
      .orderBy(desc(channelConversations.chatId))
      .limit(MAX_CHATS_EACH)
      .all()
    return current.length === 0 ? [chatId] : current.map((conversation) => conversation.chatId ?? chatId)
  })
  return [...new Set(chats)]
}

/** The chat for private messages to this person. */
export function chatOfPerson(db: Db, personId: string): string {
  return db.select({ chatId: people.chatId }).from(people).where(eq(people.id, personId)).get()!.chatId
}

/**
 * Lists somebody who wrote for the first time. Returns null if the list is full: no request replaces another one, so strangers
 * cannot crowd anybody out. With the pairing code there are further places.
 */
export function addRequest(
  tx: Tx,
  { clock, age = clock, ids }: { clock: Clock; age?: Pick<Clock, 'now'>; ids: Ids },
  channel: { id: string; agentId: string },
  writer: Writer,
  { hasCode = false }: { hasCode?: boolean } = {},
): ChannelPerson | null {
  const at = clock.now()
  deleteStaleRequests(tx, channel.id, age.now())
  const { requests } = tx
    .select({ requests: count() })
    .from(people)
    .where(and(eq(people.channelId, channel.id), eq(people.role, 'requested')))
    .get()!
  if (requests >= MAX_REQUESTS + (hasCode ? MAX_REQUESTS_WITH_CODE : 0)) return null
  const id = ids.next()
  tx.insert(people)
    .values({ ...shownWriter(writer), id, channelId: channel.id, role: 'requested', firstSeenAt: at, lastMessageAt: at })
    .run()
  tx.emit({ type: 'channel.access_requested', payload: { channelId: channel.id, agentId: channel.agentId, personId: id } })
  return getPerson(tx, channel.id, id)
}

function deleteStaleRequests(tx: Tx, channelId: string, now: number): void {
  const deleted = tx
    .delete(people)
    .where(and(eq(people.channelId, channelId), eq(people.role, 'requested'), lt(people.lastMessageAt, now - REQUEST_KEPT_MS)))
    .returning({ id: people.id })
    .all()
  for (const { id } of deleted) withdrawFrom(tx, id, createMessage('sent_to_nobody'))
}

/** To be called when a person writes again, perhaps under another name. */
export function noteMessage(tx: Tx, personId: string, writer: Writer, at: number): void {
  tx.update(people)
    .set({ ...shownWriter(writer), lastMessageAt: at })
    .where(eq(people.id, personId))
    .run()
}

/** A new owner replaces the present one, who becomes a guest. Throws AppError channel_person_not_found, and invalid_request for a room. */
export function setPersonRole(
  tx: Tx,
  channel: { id: string; agentId: string },
  personId: string,
  role: Exclude<ChannelRole, 'requested'>,
): ChannelPerson {
  const { isRoom } = getPerson(tx, channel.id, personId)
  if (role === 'owner') {
    if (isRoom) throw new AppError('invalid_request', createMessage('chat_room_no_owner'))
    tx.update(people)
      .set({ role: 'allowed' })
      .where(and(eq(people.channelId, channel.id), eq(people.role, 'owner'), ne(people.id, personId)))
      .run()
  }
  tx.update(people).set({ role }).where(eq(people.id, personId)).run()
  tx.emit({ type: 'channel.changed', payload: { channelId: channel.id, agentId: channel.agentId } })
  return getPerson(tx, channel.id, personId)
}

type Writing = Pick<ChannelPerson, 'id' | 'isRoom' | 'conversationId'>

/** The conversation of the next message in this chat. A person has one, a room one for each of its chats. null: a new one. */
export function conversationOf(db: Db, person: Writing, chatId: string): string | null {
  if (!person.isRoom) return person.conversationId
  const { conversationId } = channelConversations
  return db.select({ conversationId }).from(channelConversations).where(isCurrentIn(person.id, chatId)).get()?.conversationId ?? null
}

const isCurrentIn = (personId: string, chatId: string) =>
  and(eq(channelConversations.personId, personId), eq(channelConversations.chatId, chatId), eq(channelConversations.isCurrent, true))

/** Sets the conversation of the next message in this chat. null: it starts a new one. */
export function setConversation(tx: Tx, { id: personId, isRoom }: Writing, chatId: string, conversationId: string | null): void {
  tx.update(people).set({ conversationId }).where(eq(people.id, personId)).run()
  if (isRoom && conversationId === null)
    tx.update(channelConversations).set({ isCurrent: false }).where(isCurrentIn(personId, chatId)).run()
  if (conversationId === null) return
  const held = { conversationId, personId, chatId: isRoom ? chatId : null }
  tx.insert(channelConversations).values(held).onConflictDoNothing().run()
}

/** All conversations with this person, including those that they left for a newer one. */
export function listConversationsOf(db: Db, personId: string): string[] {
  const { conversationId: id } = channelConversations
  const rows = db.select({ id }).from(channelConversations).where(eq(channelConversations.personId, personId)).all()
  return rows.map((row) => row.id)
}

const MAX_NAME_CHARS = 64
/** Characters that change the writing direction, join others, or show nothing. */
const INVISIBLE = /[\p{Cf}\p{Co}\p{DI}\u2800]/gu
const BREAKS = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s]+/gu

/** Makes a name that a stranger chose safe to show within our text. */
export function nameForPeople(name: string): string {
  const oneLine = name.normalize('NFC').replace(INVISIBLE, '').replace(BREAKS, ' ').trim()
  const shown = [...oneLine].slice(0, MAX_NAME_CHARS).join('').trim()
  return shown === '' ? 'Somebody without a name' : shown
}

function shownWriter({ externalId, chatId, displayName, handle, isRoom }: Writer): Writer {
  const hasHandle = handle !== null && handle.trim() !== ''
  return { externalId, chatId, displayName: nameForPeople(displayName), handle: hasHandle ? nameForPeople(handle) : null, isRoom }
}
