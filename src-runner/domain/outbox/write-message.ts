import type { Message } from '../../contract/messages.ts'
import { writeMessage } from '../../lib/messages.ts'
import { and, eq, inArray } from 'drizzle-orm'
import type { Tx } from '../../platform/db/transact.ts'
import type { OutboundKind } from '../../contract/outbox.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Button } from './outgoing.ts'
import { outbox } from './outbox-table.ts'

/** How long a message waits for a channel that is off or down. */
export const GIVE_UP_AFTER_MS = 24 * 3_600_000

/** A private chat at a service. */
type Addressee = { channelId: string; personId: string; chatId: string }

export type NewOutbound = {
  /** Names what the message reports: a second message with the same key is not written. */
  key: string
  kind: OutboundKind
  agentId: string
  jobId: string | null
  approvalId?: string
  text: string
  buttons?: readonly Button[]
  files?: readonly string[]
  /** A message is the reason why there is no address. */
  to: Addressee | Message
  /** Why it waits until a person sends it. */
  held?: Message | undefined
}

/**
 * Withdraws messages to somebody who is no longer the one they were written for, also those that failed and could be sent
 * again. A message that is being sent at this moment cannot be called back.
 */
export function withdrawFrom(tx: Tx, personId: string, why: Message): void {
  const withdrawn = tx
    .update(outbox)
    .set({ state: 'nowhere', problem: writeMessage(why), nextTryAt: null, failedAt: null })
    .where(and(inArray(outbox.state, ['pending', 'undeliverable']), eq(outbox.personId, personId)))
    .returning({ messageId: outbox.id, agentId: outbox.agentId })
    .all()
  for (const message of withdrawn) tx.emit({ type: 'outbound.failed', payload: { ...message, state: 'nowhere' } })
}

/**
 * Writes a message in the transaction of what it reports. `nowhere`: it has no address and is not sent. `held`: a person
 * has to send it. `known`: its key exists already, and nothing was written.
 */
export function writeOutbound(
  tx: Tx,
  { clock, ids }: { clock: Clock; ids: Ids },
  { key, kind, agentId, jobId, approvalId, text, buttons = [], files = [], to, held }: NewOutbound,
): 'written' | 'nowhere' | 'held' | 'known' {
  const messageId = ids.next()
  const at = clock.now()
  const address = 'code' in to ? { channelId: null, personId: null, chatId: null } : to
  const state = 'code' in to ? 'nowhere' : held === undefined ? 'pending' : 'undeliverable'
  const { changes } = tx
    .insert(outbox)
    .values({
      ...{ id: messageId, key, kind, state, agentId, jobId, approvalId, text },
      channelId: address.channelId,
      personId: address.personId,
      chatId: address.chatId,
      buttons: [...buttons],
      files: [...files],
      problem: writeMessage('code' in to ? to : (held ?? null)),
      createdAt: at,
      nextTryAt: state === 'pending' ? at : null,
      giveUpAt: at + GIVE_UP_AFTER_MS,
      failedAt: state === 'undeliverable' ? at : null,
    })
    .onConflictDoNothing({ target: outbox.key })
    .run()
  if (changes === 0) return 'known'
  if (state === 'pending') tx.emit({ type: 'outbound.written', payload: { messageId, agentId } })
  else tx.emit({ type: 'outbound.failed', payload: { messageId, agentId, state } })
  return state === 'pending' ? 'written' : state === 'undeliverable' ? 'held' : 'nowhere'
}
