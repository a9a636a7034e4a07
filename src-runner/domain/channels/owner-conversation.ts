import { and, eq, ne, sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { AUTO_ORDER, type ChannelKind, type ChannelRole } from '../../contract/channels.ts'
import type { NotifyVia } from '../../contract/triggers.ts'
import { invalidAt } from '../../lib/errors.ts'
import { createMessage } from '../../lib/messages.ts'
import { channelConversations, channelPeople as people, channels } from './channels-table.ts'

/** A private chat with somebody on a channel. */
export type ChannelChat = { channelId: string; kind: ChannelKind; personId: string; chatId: string }

/** Why there is no address. `no_channel`: none of the agent's channels is on. `no_owner`: no owner was confirmed yet. */
export type NoAddress = { noAddress: 'no_channel' | 'not_on_that_channel' | 'no_owner' }

/**
 * Where the owner of an agent is notified. `auto` is the agent's first active channel with an owner, in the fixed order;
 * WhatsApp is never chosen. A chosen channel is used even while it fails: the message waits for it.
 */
export function findOwnerConversation(db: Db, agentId: string, via: NotifyVia): ChannelChat | NoAddress {
  const candidates = db
    .select({ channelId: channels.id, kind: channels.kind, personId: people.id, chatId: people.chatId })
    .from(channels)
    .leftJoin(people, and(eq(people.channelId, channels.id), eq(people.role, 'owner')))
    .where(and(eq(channels.agentId, agentId), eq(channels.enabled, true), via === 'auto' ? ne(channels.status, 'logged_out') : undefined))
    .orderBy(channels.seq)
    .all()
  const order: readonly ChannelKind[] = via === 'auto' ? AUTO_ORDER : [via]
  const inOrder = order.flatMap((kind) => candidates.filter((candidate) => candidate.kind === kind))
  for (const { personId, chatId, ...channel } of inOrder) if (personId !== null && chatId !== null) return { ...channel, personId, chatId }
  if (inOrder.length > 0) return { noAddress: 'no_owner' }
  return { noAddress: via === 'auto' ? 'no_channel' : 'not_on_that_channel' }
}

/**
 * A notification needs a channel that is on and whose token the service accepts. Its owner may be confirmed later. Throws AppError
 * invalid_request.
 */
export function requireNotifiable(db: Db, agentId: string, vias: readonly NotifyVia[]): void {
  const isConnected = and(eq(channels.agentId, agentId), eq(channels.enabled, true), ne(channels.status, 'logged_out'))
  const rows = db.select({ kind: channels.kind }).from(channels).where(isConnected).all()
  const hasOne = (kinds: readonly ChannelKind[]) => rows.some(({ kind }) => kinds.includes(kind))
  for (const via of vias) {
    if (hasOne(via === 'auto' ? AUTO_ORDER : [via])) continue
    if (via === 'auto') throw invalidAt('notifyOnSuccess', createMessage('sent_no_channel'))
    throw invalidAt('notifyVia', createMessage('sent_not_on_channel'))
  }
}

/**
 * The person or room of a conversation, and the chat where it is held, also after they started a newer one. null: it belongs to no
 * channel.
 */
export function findChannelPersonOfConversation(db: Db, conversationId: string): (ChannelChat & { role: ChannelRole }) | null {
  const person = db
    .select({
      channelId: people.channelId,
      kind: channels.kind,
      personId: people.id,
      role: people.role,
      chatId: sql<string>`coalesce(${channelConversations.chatId}, ${people.chatId})`,
    })
    .from(channelConversations)
    .innerJoin(people, eq(people.id, channelConversations.personId))
    .innerJoin(channels, eq(channels.id, people.channelId))
    .where(eq(channelConversations.conversationId, conversationId))
    .get()
  return person ?? null
}
