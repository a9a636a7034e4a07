import type { Tx } from '../../base/db/transact.ts'
import type { MachineTime } from '../../base/time/machine-time.ts'
import type { Delivery, DeliveryContext } from '../../contract/triggers.ts'
import type { Ids } from '../../kit/ids.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { titleFor } from '../jobs/titles.ts'
import { opensAt, recordFire, waitOf, type FiresRow } from './hour-window.ts'
import type { Inbox } from './inbox.ts'
import type { KnownTrigger } from './trigger-index.ts'

/** A delivery that was read, and what the agent is to be given for it. */
export type ReadDelivery = {
  payload: Buffer
  /** Those worth keeping, as a JSON object; null: there was none. */
  headers: string | null
  senderId: string | null
  eventName: string | null
  task: string
  receivedAt: number
}

export type Taken =
  /** `count`: of fires by now. `opensAt`: from when on the next one gets in, by the running time. */
  | { outcome: 'accepted'; jobId: string; count: number; opensAt: number }
  /** It repeats the id of an earlier one, whose job this is. */
  | { outcome: 'duplicate'; jobId: string }
  | { outcome: 'rate_limited'; waitMs: number }
  | { outcome: 'no_agent' }
  /** The secret that it came with is not, or not any more, one that counts. */
  | { outcome: 'wrong_secret' | 'paused' }

export type TakingDeps = { jobs: Pick<JobStore, 'insert'>; ids: Ids; time: MachineTime; inbox: Pick<Inbox, 'catchUp'> }

/**
 * Takes a delivery that came with the trigger's secret: job, inbox, counters and limit in one transaction. Everything it
 * rests on is looked at again, since a body may take its time to arrive. Whatever it answers but `accepted`, nothing was
 * written. Throws AppError agent_not_found and whatever the database does.
 */
export function takeDelivery(tx: Tx, deps: TakingDeps, trigger: KnownTrigger, delivery: ReadDelivery): Taken {
  const now = tx
    .prepare<FiresRow & { agent_id: string | null }>(
      `SELECT agent_id, trigger_count, fires FROM webhook_triggers WHERE seq = ? AND status = 'active' AND secret_digest = ?`,
    )
    .get(trigger.seq, trigger.secretDigest)
  if (now === undefined) return { outcome: whyNot(tx, trigger) }
  if (now.agent_id === null) return { outcome: 'no_agent' }
  const senderId = trigger.dedupe ? delivery.senderId : null
  const waitMs = waitOf(now, deps.time)
  if (waitMs > 0) {
    const jobId = senderId === null ? null : findJobOfSender(tx, trigger.seq, senderId)
    return jobId === null ? { outcome: 'rate_limited', waitMs } : { outcome: 'duplicate', jobId }
  }
  const jobId = deps.ids.next()
  if (senderId !== null && !claimSenderId(tx, { triggerSeq: trigger.seq, senderId, jobId, at: delivery.receivedAt })) {
    return { outcome: 'duplicate', jobId: findJobOfSender(tx, trigger.seq, senderId)! }
  }
  insertAccepted(tx, deps, trigger, now.agent_id, jobId, { ...delivery, kind: 'webhook', replayOfId: null })
  const fired = recordFire(tx, { seq: trigger.seq, before: now, at: delivery.receivedAt, time: deps.time })
  return { outcome: 'accepted', jobId, count: fired.trigger_count, opensAt: opensAt(fired) }
}

export type HandSent = ReadDelivery & { kind: 'test' | 'replay'; replayOfId: string | null }

/** A delivery that the person sends to their own trigger: it counts for nothing and is a repeat of nothing. */
export function takeHandSent(
  tx: Tx,
  deps: TakingDeps,
  trigger: KnownTrigger,
  delivery: HandSent,
): { jobId: string } | { outcome: 'no_agent' | 'paused' | 'deleted' } {
  const now = tx
    .prepare<{ status: string; agent_id: string | null }>('SELECT status, agent_id FROM webhook_triggers WHERE seq = ? AND id = ?')
    .get(trigger.seq, trigger.id)
  if (now === undefined) return { outcome: 'deleted' }
  if (now.status !== 'active') return { outcome: 'paused' }
  if (now.agent_id === null) return { outcome: 'no_agent' }
  const jobId = deps.ids.next()
  insertAccepted(tx, deps, trigger, now.agent_id, jobId, delivery)
  return { jobId }
}

type Kept = ReadDelivery & { kind: Delivery['kind']; replayOfId: string | null }

/** The delivery has the id of its job. */
function insertAccepted(tx: Tx, { jobs, inbox }: TakingDeps, trigger: KnownTrigger, agentId: string, jobId: string, delivery: Kept): void {
  const { kind, eventName } = delivery
  inbox.catchUp(tx, trigger.seq)
  const { id, name, slug } = trigger
  const context: DeliveryContext = { trigger: { id, name, slug }, deliveryId: jobId, kind, eventName }
  const job = jobs.insert(
    tx,
    {
      agentId,
      channel: 'webhook',
      task: delivery.task,
      title: titleFor(eventName === null ? name : `${name}: ${eventName}`),
      triggerId: id,
      context,
    },
    jobId,
  )
  tx.prepare(
    `INSERT INTO webhook_deliveries (trigger_seq, kind, outcome, status, sender_id, event_name, job_seq, replay_of_id, bytes, received_at,
       headers, payload) VALUES (?, ?, 'accepted', 202, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    trigger.seq,
    kind,
    delivery.senderId,
    eventName,
    job.seq,
    delivery.replayOfId,
    delivery.payload.length,
    delivery.receivedAt,
    delivery.headers,
    delivery.payload,
  )
}

/** false: the trigger has had a delivery with this id. The index decides, not a look before the write. */
function claimSenderId(tx: Tx, id: { triggerSeq: number; senderId: string; jobId: string; at: number }): boolean {
  return (
    tx
      .prepare('INSERT INTO webhook_sender_ids (trigger_seq, sender_id, job_id, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
      .run(id.triggerSeq, id.senderId, id.jobId, id.at).changes === 1
  )
}

function findJobOfSender(tx: Tx, triggerSeq: number, senderId: string): string | null {
  return (
    tx
      .prepare<{ job_id: string }>('SELECT job_id FROM webhook_sender_ids WHERE trigger_seq = ? AND sender_id = ?')
      .get(triggerSeq, senderId)?.job_id ?? null
  )
}

function whyNot(tx: Tx, trigger: KnownTrigger): 'wrong_secret' | 'paused' {
  const row = tx.prepare<{ digest: Buffer | null }>('SELECT secret_digest AS digest FROM webhook_triggers WHERE seq = ?').get(trigger.seq)
  return row?.digest != null && trigger.secretDigest?.equals(row.digest) === true ? 'paused' : 'wrong_secret'
}

/** Senders repeat themselves for days; GitHub lets a person send a delivery again for three, Stripe for thirty. */
const SENDER_IDS_KEPT_MS = 30 * 24 * 3_600_000

/** Takes a bounded bite, so that nobody waits long for it. */
export function forgetSenderIds(tx: Tx, now: number, limit = 5000): number {
  return tx
    .prepare(
      `DELETE FROM webhook_sender_ids WHERE (trigger_seq, sender_id) IN
         (SELECT trigger_seq, sender_id FROM webhook_sender_ids WHERE at < ? ORDER BY at LIMIT ?)`,
    )
    .run(now - SENDER_IDS_KEPT_MS, limit).changes
}
