import type { Message } from '../../contract/messages.ts'
import { writeMessage } from '../../lib/messages.ts'
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import type { OutboundKind } from '../../contract/outbox.ts'
import type { Button } from './outgoing.ts'
import { outbox } from './outbox-table.ts'

/** How long a message waits for a channel that is off or failing. */
export const GIVE_UP_AFTER_MS = 24 * 3_600_000

/** A private chat at a service. */
type Addressee = { channelId: string; personId: string; chatId: string }
const NO_ADDRESS = { channelId: null, personId: null, chatId: null }

export type NewOutbound = {
  /** Names what the message reports. A second message with the same key is not written. */
  key: string
  kind: OutboundKind
  agentId: string
  jobId: string | null
  approvalId?: string
  text: string
  buttons?: readonly Button[]
  files?: readonly string[]
  /** How long it waits before it is sent. */
  delayMs?: number
  /** A `Message` says why there is no address. */
  to: Addressee | Message
  /** Why a person must send it. */
  held?: Message | undefined
}

/**
 * Withdraws unsent messages to somebody whose role has changed, including failed ones. A message that is being sent right now cannot
 * be withdrawn.
 */
export function withdrawFrom(tx: Tx, personId: string, why: Message): void {
  const withdrawn = tx
    .update(outbox)
    .set({ state: 'not_sent', problem: writeMessage(why), nextTryAt: null, failedAt: null })
    .where(and(inArray(outbox.state, ['pending', 'undeliverable']), eq(outbox.personId, personId)))
    .returning({ messageId: outbox.id, agentId: outbox.agentId })
    .all()
  for (const message of withdrawn) tx.emit({ type: 'outbound.failed', payload: { ...message, state: 'not_sent' } })
}

/**
 * Writes a message in the transaction of what it reports. `not_sent`: it has no address. `held`: a person must send it. `known`: its
 * key exists, and nothing was written.
 */
export function writeOutbound(
  tx: Tx,
  { clock, ids }: Pick<Services, 'clock' | 'ids'>,
  { key, kind, agentId, jobId, approvalId, text, buttons = [], files = [], to, held, delayMs = 0 }: NewOutbound,
): 'written' | 'not_sent' | 'held' | 'known' {
  const messageId = ids.next()
  const at = clock.now()
  const { channelId, personId, chatId } = 'code' in to ? NO_ADDRESS : to
  const state = 'code' in to ? 'not_sent' : held === undefined ? 'pending' : 'undeliverable'
  const { changes } = tx
    .insert(outbox)
    .values({
      id: messageId,
      key,
      kind,
      state,
      agentId,
      jobId,
      approvalId,
      text,
      entityId: sql`(SELECT entity_id FROM agents WHERE id = ${agentId})`,
      channelId,
      personId,
      chatId,
      buttons: [...buttons],
      files: [...files],
      problem: writeMessage('code' in to ? to : (held ?? null)),
      createdAt: at,
      nextTryAt: state === 'pending' ? at + delayMs : null,
      giveUpAt: at + GIVE_UP_AFTER_MS,
      failedAt: state === 'undeliverable' ? at : null,
    })
    .onConflictDoNothing({ target: outbox.key })
    .run()
  if (changes === 0) return 'known'
  if (state === 'pending') tx.emit({ type: 'outbound.written', payload: { messageId, agentId } })
  else tx.emit({ type: 'outbound.failed', payload: { messageId, agentId, state } })
  return state === 'pending' ? 'written' : state === 'undeliverable' ? 'held' : 'not_sent'
}
