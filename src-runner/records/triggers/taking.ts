import type { z } from 'zod'
import type { Db } from '../../base/db/database.ts'
import type { Tx } from '../../base/db/transact.ts'
import type { MachineTime } from '../../base/time/machine-time.ts'
import type { Delivery, DeliveryContext } from '../../contract/triggers.ts'
import type { Ids } from '../../kit/ids.ts'
import type { NewJob } from '../jobs/enqueueing.ts'
import type { Letter } from '../jobs/envelope.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { titleFor } from '../jobs/titles.ts'
import { setNewestDelivered } from './delivered-jobs.ts'
import { addFire, opensAt, recordFires, waitOf, type FiresRow } from './hour-window.ts'
import type { Inbox } from './inbox.ts'
import type { KnownTrigger } from './trigger-index.ts'

/** A delivery that was read, and what the agent is to be given for it. */
export type ReadDelivery = {
  payload: Buffer
  /** Those worth keeping, as a JSON object; null: there was none. */
  headers: string | null
  senderId: string | null
  eventName: string | null
  task: Letter
  /** Placeholders of the template that the payload does not fill. */
  missing: string[]
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

export type TakingDeps = {
  jobs: Pick<JobStore, 'insertAll'>
  ids: Ids
  time: MachineTime
  inbox: Pick<Inbox, 'catchUp'>
}

/** A delivery that came with the secret of the trigger. */
export type Arrived = { trigger: KnownTrigger; delivery: ReadDelivery }

/**
 * Takes deliveries in the order of their arrival: jobs, inbox, counters and limits in one transaction. Everything they
 * rest on is looked at again, since a body may take its time to arrive. Of what it answers anything else but `accepted`
 * to, nothing was written. What they have in common is read and written once. Throws AppError agent_not_found and whatever
 * the database does; then none was taken.
 */
export function takeDeliveries(tx: Tx, deps: TakingDeps, arrived: readonly Arrived[]): Taken[] {
  const states = new Map<number, TriggerState | undefined>()
  const accepted: Accepted[] = []
  const taken = arrived.map((one): Taken => {
    const { seq } = one.trigger
    if (!states.has(seq)) states.set(seq, readState(tx, seq))
    return takeOne(tx, deps, states.get(seq), one, accepted)
  })
  const newest = insertAccepted(tx, deps, accepted)
  for (const [seq, jobSeq] of newest) {
    const state = states.get(seq)!
    recordFires(tx, { seq, fired: { ...state, fires: state.fires! }, at: state.firedAt!, jobSeq, time: deps.time })
  }
  return taken
}

/** `entity_id`: of the agent, unless that is gone. `firedAt`: by a delivery of this transaction. */
type TriggerState = FiresRow & {
  agent_id: string | null
  entity_id: string | null
  status: string
  secret_digest: Buffer | null
  newest_job_seq: number | null
  firedAt: number | null
}
/** `before`: the job of the delivery before it, as it was when the transaction began. */
type Accepted = { trigger: KnownTrigger; agentId: string; entityId: string | null; jobId: string; before: number | null; delivery: Kept }

const SELECT_STATE = `
  SELECT agent_id, (SELECT entity_id FROM agents WHERE id = agent_id AND deleted_at IS NULL) AS entity_id, status, secret_digest,
    trigger_count, fires, newest_job_seq, NULL AS firedAt
  FROM webhook_triggers WHERE seq = ?`

function readState(tx: Tx, triggerSeq: number): TriggerState | undefined {
  return tx.prepare<TriggerState>(SELECT_STATE).get(triggerSeq)
}

function takeOne(
  tx: Tx,
  { ids, time }: TakingDeps,
  state: TriggerState | undefined,
  { trigger, delivery }: Arrived,
  accepted: Accepted[],
): Taken {
  if (state?.secret_digest == null || trigger.secretDigest?.equals(state.secret_digest) !== true) return { outcome: 'wrong_secret' }
  if (state.status !== 'active') return { outcome: 'paused' }
  if (state.agent_id === null) return { outcome: 'no_agent' }
  const senderId = trigger.dedupe ? delivery.senderId : null
  const waitMs = waitOf(state, time)
  if (waitMs > 0) {
    const jobId = senderId === null ? null : findJobOfSender(tx, trigger.seq, senderId)
    return jobId === null ? { outcome: 'rate_limited', waitMs } : { outcome: 'duplicate', jobId }
  }
  const jobId = ids.next()
  if (senderId !== null && !claimSenderId(tx, { triggerSeq: trigger.seq, senderId, jobId, at: delivery.receivedAt })) {
    return { outcome: 'duplicate', jobId: findJobOfSender(tx, trigger.seq, senderId)! }
  }
  const kept: Kept = { ...delivery, kind: 'webhook', replayOfId: null }
  const { agent_id: agentId, entity_id: entityId, newest_job_seq: before } = state
  accepted.push({ trigger, agentId, entityId, jobId, before, delivery: kept })
  Object.assign(state, addFire(state, time), { firedAt: delivery.receivedAt })
  return { outcome: 'accepted', jobId, count: state.trigger_count, opensAt: opensAt(state) }
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
    .prepare<{ status: string; agent_id: string | null; newest_job_seq: number | null }>(
      'SELECT status, agent_id, newest_job_seq FROM webhook_triggers WHERE seq = ? AND id = ?',
    )
    .get(trigger.seq, trigger.id)
  if (now === undefined) return { outcome: 'deleted' }
  if (now.status !== 'active') return { outcome: 'paused' }
  if (now.agent_id === null) return { outcome: 'no_agent' }
  const jobId = deps.ids.next()
  const sent: Accepted = { trigger, agentId: now.agent_id, entityId: null, jobId, before: now.newest_job_seq, delivery }
  setNewestDelivered(tx, trigger.seq, insertAccepted(tx, deps, [sent]).get(trigger.seq)!)
  return { jobId }
}

type Kept = ReadDelivery & { kind: Delivery['kind']; replayOfId: string | null }

/**
 * What the trigger refused before them is written first: it came before them. Answers for each trigger, by its seq, the job of
 * the last of them.
 */
function insertAccepted(tx: Tx, { jobs, inbox }: TakingDeps, accepted: readonly Accepted[]): Map<number, number> {
  for (const { trigger } of accepted) inbox.catchUp(tx, trigger.seq)
  const last = new Map<number, number>()
  const made = jobs.insertAll(
    tx,
    accepted.map(({ trigger, agentId, entityId, jobId, before, delivery }, i) => {
      const { kind, eventName, senderId, replayOfId, payload, headers, task, missing } = delivery
      const nth = last.get(trigger.seq)
      last.set(trigger.seq, i)
      // What says nothing is left out: it would be kept with each delivery.
      const context: z.input<typeof DeliveryContext> = {
        trigger: { id: trigger.id, name: trigger.name, slug: trigger.slug },
        deliveryId: jobId,
        kind: kind === 'webhook' ? undefined : kind,
        eventName: eventName ?? undefined,
        senderId: senderId ?? undefined,
        replayOfId: replayOfId ?? undefined,
        missing: missing.length === 0 ? undefined : missing,
        envelope: task.envelope,
      }
      const job: NewJob = {
        agentId,
        entityId,
        channel: 'webhook',
        task: task.text,
        title: titleFor(task.text),
        triggerId: trigger.id,
        context,
        delivered: { payload, headers, before: nth === undefined ? before : { nth } },
      }
      return { id: jobId, job }
    }),
  )
  return new Map(Array.from(last, ([triggerSeq, i]) => [triggerSeq, made[i]!.seq]))
}

/** false: the trigger has had a delivery with this id. The index decides, not a look before the write. */
function claimSenderId(tx: Tx, id: { triggerSeq: number; senderId: string; jobId: string; at: number }): boolean {
  return (
    tx
      .prepare('INSERT INTO webhook_sender_ids (trigger_seq, sender_id, job_id, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
      .run(id.triggerSeq, id.senderId, id.jobId, id.at).changes === 1
  )
}

export function findJobOfSender(db: Db, triggerSeq: number, senderId: string): string | null {
  return (
    db
      .prepare<{ job_id: string }>('SELECT job_id FROM webhook_sender_ids WHERE trigger_seq = ? AND sender_id = ?')
      .get(triggerSeq, senderId)?.job_id ?? null
  )
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
