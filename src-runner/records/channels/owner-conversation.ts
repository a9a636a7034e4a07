import type { Db } from '../../base/db/database.ts'
import { AUTO_ORDER, type ChannelKind, type ChannelRole } from '../../contract/channels.ts'
import type { NotifyVia } from '../../contract/triggers.ts'

/** A private chat with somebody on a channel. */
export type ChannelChat = { channelId: string; personId: string; chatId: string }

/** `no_channel`: the agent has none that is on. `no_owner`: it has, and nobody was confirmed as its owner yet. */
export type Nowhere = { nowhere: 'no_channel' | 'not_on_that_channel' | 'no_owner' }

/** On, and with a token that works as far as is known. */
const ACTIVE = "channel.enabled = 1 AND channel.status <> 'logged_out'"

type CandidateRow = { channel_id: string; kind: ChannelKind; person_id: string | null; chat_id: string | null }

/**
 * Where the owner of an agent is told something. Auto is the agent's first active channel in the fixed order; one that has
 * no owner yet gives way to one that has. A pick is that channel and no other, even if it does not work just now: the
 * message waits for it. WhatsApp is never chosen.
 */
export function findOwnerConversation(db: Db, agentId: string, via: NotifyVia): ChannelChat | Nowhere {
  const candidates = db
    .prepare<CandidateRow>(
      `SELECT channel.id AS channel_id, channel.kind, person.id AS person_id, person.chat_id
       FROM channels AS channel LEFT JOIN channel_people AS person ON person.channel_id = channel.id AND person.role = 'owner'
       WHERE channel.agent_id = ? AND ${via === 'auto' ? ACTIVE : 'channel.enabled = 1'} ORDER BY channel.seq`,
    )
    .all(agentId)
  const order: readonly ChannelKind[] = via === 'auto' ? AUTO_ORDER : [via]
  const inOrder = order.flatMap((kind) => candidates.filter((candidate) => candidate.kind === kind))
  const reachable = inOrder.find((candidate) => candidate.person_id !== null)
  if (reachable !== undefined) return { channelId: reachable.channel_id, personId: reachable.person_id!, chatId: reachable.chat_id! }
  if (inOrder.length > 0) return { nowhere: 'no_owner' }
  return { nowhere: via === 'auto' ? 'no_channel' : 'not_on_that_channel' }
}

/** Who is spoken with in a conversation, also when they have begun a newer one since. null: it is none of a channel. */
export function findChannelPersonOfConversation(db: Db, conversationId: string): (ChannelChat & { role: ChannelRole }) | null {
  const row = db
    .prepare<{ channel_id: string; person_id: string; chat_id: string; role: ChannelRole }>(
      `SELECT person.channel_id, person.id AS person_id, person.chat_id, person.role FROM channel_conversations AS held
       JOIN channel_people AS person ON person.id = held.person_id WHERE held.conversation_id = ?`,
    )
    .get(conversationId)
  return row === undefined ? null : { channelId: row.channel_id, personId: row.person_id, chatId: row.chat_id, role: row.role }
}
