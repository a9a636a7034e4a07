import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { ChannelPerson, ChannelRole } from '../../contract/channels.ts'
import type { Clock } from '../../kit/clock.ts'
import { AppError } from '../../kit/errors.ts'
import type { Ids } from '../../kit/ids.ts'
import { say } from '../../kit/said.ts'
import { withdrawFrom } from '../outbox/writing.ts'

/** Who is on the other side of a channel. */

type PersonRow = {
  id: string
  channel_id: string
  external_id: string
  chat_id: string
  role: ChannelRole
  display_name: string
  handle: string | null
  conversation_id: string | null
  first_seen_at: number
  last_message_at: number
}

/** Somebody as the service tells of them. */
export type Sender = { externalId: string; chatId: string; displayName: string; handle: string | null }

/** Strangers who wait for the person's word. */
export const MOST_REQUESTS = 50
/** Whoever asks has their place for so long. After that it is given to somebody new, when there is no other. */
export const PLACE_KEPT_MS = 10 * 60_000
/** Whoever comes this soon after somebody else, or before, came in a crowd. */
const CROWD_MS = 60_000
/** A request that nobody answered for so long is forgotten; whoever made it may ask again. */
const REQUEST_KEPT_MS = 7 * 24 * 3_600_000

/** In the order in which they first wrote. */
export function listPeople(db: Db, channelId: string): ChannelPerson[] {
  return db.prepare<PersonRow>('SELECT * FROM channel_people WHERE channel_id = ? ORDER BY first_seen_at, id').all(channelId).map(personOf)
}

export function findPersonByExternalId(db: Db, channelId: string, externalId: string): ChannelPerson | null {
  const row = db.prepare<PersonRow>('SELECT * FROM channel_people WHERE channel_id = ? AND external_id = ?').get(channelId, externalId)
  return row === undefined ? null : personOf(row)
}

export function findOwner(db: Db, channelId: string): ChannelPerson | null {
  const row = db.prepare<PersonRow>("SELECT * FROM channel_people WHERE channel_id = ? AND role = 'owner'").get(channelId)
  return row === undefined ? null : personOf(row)
}

/** Throws AppError channel_person_not_found. */
export function getPerson(db: Db, channelId: string, personId: string): ChannelPerson {
  const row = db.prepare<PersonRow>('SELECT * FROM channel_people WHERE channel_id = ? AND id = ?').get(channelId, personId)
  if (row === undefined) throw new AppError('channel_person_not_found', 'There is nobody of that id on this channel.')
  return personOf(row)
}

/** Where a private message to them goes. */
export function chatOfPerson(db: Db, personId: string): string {
  return db.prepare<{ chat_id: string }>('SELECT chat_id FROM channel_people WHERE id = ?').get(personId)!.chat_id
}

/**
 * Somebody wrote for the first time. null: too many wait, each for too short a time, so this one is not heard yet. Whoever
 * `hasCode` is heard however many wait. Who gives way may ask again.
 */
export function addRequest(
  tx: Tx,
  { clock, age = clock, ids }: { clock: Clock; age?: Pick<Clock, 'now'>; ids: Ids },
  channel: { id: string; agentId: string },
  sender: Sender,
  { hasCode = false }: { hasCode?: boolean } = {},
): ChannelPerson | null {
  const at = clock.now()
  for (const stale of listForgotten(tx, channel.id, age.now())) forgetRequest(tx, stale)
  if (countRequests(tx, channel.id) >= MOST_REQUESTS) {
    const displaced = hasCode ? findInCrowd(tx, channel.id, at, ANYBODY) : findDisplaceable(tx, channel.id, at)
    if (displaced === null) return null
    forgetRequest(tx, displaced)
  }
  const id = ids.next()
  tx.prepare(
    `INSERT INTO channel_people (id, channel_id, external_id, chat_id, role, display_name, handle, first_seen_at, last_message_at)
     VALUES (?, ?, ?, ?, 'asked', ?, ?, ?, ?)`,
  ).run(id, channel.id, sender.externalId, sender.chatId, nameForPeople(sender.displayName), handleForPeople(sender.handle), at, at)
  tx.emit({ type: 'channel.asked', payload: { channelId: channel.id, agentId: channel.agentId, personId: id } })
  return getPerson(tx, channel.id, id)
}

function listForgotten(db: Db, channelId: string, now: number): string[] {
  return db
    .prepare<{ id: string }>("SELECT id FROM channel_people WHERE channel_id = ? AND role = 'asked' AND last_message_at < ?")
    .all(channelId, now - REQUEST_KEPT_MS)
    .map((row) => row.id)
}

function forgetRequest(tx: Tx, personId: string): void {
  withdrawFrom(tx, personId, say('sent_to_nobody'))
  tx.prepare("DELETE FROM channel_people WHERE id = ? AND role = 'asked'").run(personId)
}

function countRequests(db: Db, channelId: string): number {
  return db.prepare<{ n: number }>("SELECT count(*) AS n FROM channel_people WHERE channel_id = ? AND role = 'asked'").get(channelId)!.n
}

/**
 * Who gives way to somebody new: of those who have had their time, the one that came in the thickest crowd. Accounts that are
 * made to fill the list come one upon the other, and push out each other but nobody who came alone. null: nobody does.
 */
function findDisplaceable(db: Db, channelId: string, now: number): string | null {
  const latest = db
    .prepare<{ at: number }>("SELECT max(first_seen_at) AS at FROM channel_people WHERE channel_id = ? AND role = 'asked'")
    .get(channelId)!.at
  const isOfCrowd = Math.abs(now - latest) < CROWD_MS
  return findInCrowd(db, channelId, now, { keptMs: PLACE_KEPT_MS, apartMs: isOfCrowd ? CROWD_MS : ANYBODY.apartMs })
}

const ANYBODY = { keptMs: 0, apartMs: Number.MAX_SAFE_INTEGER }

/** The one that came closest to another, less than `apartMs` from it. Having written again since changes nothing. */
function findInCrowd(db: Db, channelId: string, now: number, { keptMs, apartMs }: typeof ANYBODY): string | null {
  // A moment that lies ahead was noted by a clock that has since been set back.
  const row = db
    .prepare<{ id: string }>(
      `SELECT id FROM (
         SELECT id, at, min(ifnull(at - before, next - at), ifnull(next - at, at - before)) AS apart FROM (
           SELECT id, first_seen_at AS at, lag(first_seen_at) OVER neighbours AS before, lead(first_seen_at) OVER neighbours AS next
           FROM channel_people WHERE channel_id = ? AND role = 'asked' WINDOW neighbours AS (ORDER BY first_seen_at, id)))
       WHERE abs(? - at) >= ? AND apart < ? ORDER BY apart, at, id LIMIT 1`,
    )
    .get(channelId, now, keptMs, apartMs)
  return row?.id ?? null
}

/** They wrote again, perhaps under another name. */
export function noteMessage(tx: Tx, personId: string, sender: Sender, at: number): void {
  tx.prepare('UPDATE channel_people SET last_message_at = ?, display_name = ?, handle = ?, chat_id = ? WHERE id = ?').run(
    at,
    nameForPeople(sender.displayName),
    handleForPeople(sender.handle),
    sender.chatId,
    personId,
  )
}

/**
 * What the person says of somebody. A new owner takes the place of the old one, who is then merely allowed. Throws
 * AppError channel_person_not_found.
 */
export function setPersonRole(
  tx: Tx,
  channel: { id: string; agentId: string },
  personId: string,
  role: Exclude<ChannelRole, 'asked'>,
): ChannelPerson {
  getPerson(tx, channel.id, personId)
  if (role === 'owner') {
    tx.prepare("UPDATE channel_people SET role = 'allowed' WHERE channel_id = ? AND role = 'owner' AND id <> ?").run(channel.id, personId)
  }
  tx.prepare('UPDATE channel_people SET role = ? WHERE id = ?').run(role, personId)
  tx.emit({ type: 'channel.changed', payload: { channelId: channel.id, agentId: channel.agentId } })
  return getPerson(tx, channel.id, personId)
}

/** From now on their messages belong to this conversation; with null the next one begins a new one. */
export function setPersonConversation(tx: Tx, personId: string, conversationId: string | null): void {
  tx.prepare('UPDATE channel_people SET conversation_id = ? WHERE id = ?').run(conversationId, personId)
  if (conversationId !== null) {
    tx.prepare('INSERT INTO channel_conversations (conversation_id, person_id) VALUES (?, ?) ON CONFLICT DO NOTHING').run(
      conversationId,
      personId,
    )
  }
}

/** All conversations that they have had, the left ones too. */
export function listConversationsOf(db: Db, personId: string): string[] {
  return db
    .prepare<{ conversation_id: string }>('SELECT conversation_id FROM channel_conversations WHERE person_id = ?')
    .all(personId)
    .map((row) => row.conversation_id)
}

const MOST_NAME_CHARS = 64
/** What turns the writing direction, joins, or shows nothing at all. */
const INVISIBLE = /[\p{Cf}\p{Co}]/gu
const BREAKS = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s]+/gu

/** A name that somebody gave themselves, fit to stand beside ours. */
export function nameForPeople(name: string): string {
  const oneLine = name.normalize('NFC').replace(INVISIBLE, '').replace(BREAKS, ' ').trim()
  const shown = [...oneLine].slice(0, MOST_NAME_CHARS).join('').trim()
  return shown === '' ? 'Somebody without a name' : shown
}

function handleForPeople(handle: string | null): string | null {
  return handle === null || handle.trim() === '' ? null : nameForPeople(handle)
}

function personOf(row: PersonRow): ChannelPerson {
  return {
    id: row.id,
    channelId: row.channel_id,
    role: row.role,
    displayName: row.display_name,
    handle: row.handle,
    externalId: row.external_id,
    conversationId: row.conversation_id,
    firstSeenAt: row.first_seen_at,
    lastMessageAt: row.last_message_at,
  }
}
