import type { Tx } from '../../base/db/transact.ts'
import type { OutboundKind } from '../../contract/outbox.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Ids } from '../../kit/ids.ts'
import type { Button } from './outgoing.ts'

/** How long a message waits for a channel that is off or down, before it is given up. */
export const GIVE_UP_AFTER_MS = 24 * 3_600_000

/** A private chat at a service. */
type Addressee = { channelId: string; personId: string; chatId: string }

export type NewOutbound = {
  /** What it tells of: a second message with the same key is not written. */
  key: string
  kind: OutboundKind
  agentId: string
  jobId: string | null
  approvalId?: string
  text: string
  buttons?: readonly Button[]
  files?: readonly string[]
  /** A text says why there is nobody to send it to. */
  to: Addressee | string
  /** Why it is not sent unless a person says so. */
  held?: string
}

/**
 * They are not who these messages were written for any more, and those that could not be sent are not to be sent again. What
 * is on its way in this moment cannot be called back.
 */
export function withdrawFrom(tx: Tx, personId: string, why: string): void {
  const withdrawn = tx
    .prepare<{ id: string; agentId: string }>(
      `UPDATE outbox SET state = 'nowhere', problem = ?, next_try_at = NULL, failed_at = NULL
       WHERE state IN ('pending', 'undeliverable') AND person_id = ?
       RETURNING id, agent_id AS agentId`,
    )
    .all(why, personId)
  for (const { id: messageId, agentId } of withdrawn)
    tx.emit({ type: 'outbound.failed', payload: { messageId, agentId, state: 'nowhere' } })
}

/**
 * Writes a message down in the transaction of what it tells of. `nowhere`: it has no address and will not be sent.
 * `held`: a person has to send it. `known`: this was told already, and nothing was written.
 */
export function writeOutbound(
  tx: Tx,
  { clock, ids }: { clock: Clock; ids: Ids },
  { key, kind, agentId, jobId, approvalId, text, buttons = [], files = [], to, held }: NewOutbound,
): 'written' | 'nowhere' | 'held' | 'known' {
  const id = ids.next()
  const at = clock.now()
  const address = typeof to === 'string' ? null : to
  const state = address === null ? 'nowhere' : held === undefined ? 'pending' : 'undeliverable'
  const written = tx
    .prepare(
      `INSERT INTO outbox (id, key, kind, state, agent_id, channel_id, person_id, chat_id, job_id, approval_id, text, buttons, files,
         problem, created_at, next_try_at, give_up_at, failed_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
    )
    .run(
      id,
      key,
      kind,
      state,
      agentId,
      address?.channelId ?? null,
      address?.personId ?? null,
      address?.chatId ?? null,
      jobId,
      approvalId ?? null,
      text,
      JSON.stringify(buttons),
      JSON.stringify(files),
      typeof to === 'string' ? to : (held ?? ''),
      at,
      state === 'pending' ? at : null,
      at + GIVE_UP_AFTER_MS,
      state === 'undeliverable' ? at : null,
    )
  if (written.changes === 0) return 'known'
  if (state === 'pending') tx.emit({ type: 'outbound.written', payload: { messageId: id, agentId } })
  else tx.emit({ type: 'outbound.failed', payload: { messageId: id, agentId, state } })
  return state === 'pending' ? 'written' : state === 'undeliverable' ? 'held' : 'nowhere'
}
