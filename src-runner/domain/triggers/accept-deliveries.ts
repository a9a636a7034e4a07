import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import type { Tx } from '../../platform/db/database.ts'
import type { Services } from '../../platform/services.ts'
import { MAX_MISSING_CHARS, MAX_MISSING_SHOWN, type Delivery, type DeliveryContext } from '../../contract/triggers.ts'
import type { NewJob } from '../jobs/enqueue-job.ts'
import { wrappedTaskOf, type WrappedTask } from '../jobs/untrusted-content.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { titleFor } from '../jobs/titles.ts'
import { addAccepted, opensAt, saveAccepted, waitMsOf } from './hourly-limit.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { renderTemplate } from './template.ts'
import type { IndexedTrigger } from './trigger-index.ts'
import { triggers } from './triggers-table.ts'
import { claimSenderId, findJobOfSender, readState, type TriggerState } from './triggers.sql.ts'

/** A delivery with its parsed body as the agent's task. */
export type ParsedDelivery = {
  payload: Buffer
  /** The headers that are kept. null: none. */
  headers: Record<string, string> | null
  senderId: string | null
  eventName: string | null
  task: WrappedTask
  /** The first few placeholders of the template without a value in the payload. */
  missing: string[]
  receivedAt: number
}

/** The agent's task for a payload, and the first few placeholders without a value. */
export function taskFor(template: string, payload: unknown): Pick<ParsedDelivery, 'task' | 'missing'> {
  const rendered = renderTemplate(template, payload)
  const missing = rendered.placeholders.filter(({ state }) => state === 'missing').slice(0, MAX_MISSING_SHOWN)
  return { task: wrappedTaskOf(template, rendered), missing: missing.map(({ path }) => path.slice(0, MAX_MISSING_CHARS)) }
}

export type AcceptResult =
  /** `count`: all accepted deliveries so far. `opensAt`: the running time from which the next one is accepted. */
  | { outcome: 'accepted'; jobId: string; count: number; opensAt: number }
  /** `jobId`: the job of the earlier delivery with the same id. */
  | { outcome: 'duplicate'; jobId: string }
  | { outcome: 'rate_limited'; waitMs: number }
  | { outcome: 'no_agent' | 'wrong_secret' | 'paused' }

export type AcceptDeps = Pick<Services, 'ids' | 'time'> & {
  jobs: Pick<JobStore, 'insertAll'>
  deliveryLog: Pick<DeliveryLog, 'writeBefore'>
}

/** A delivery with the secret of its trigger. */
export type IncomingDelivery = { trigger: IndexedTrigger; delivery: ParsedDelivery }

/**
 * Accepts deliveries in the order of their arrival. Jobs, sender ids and limits are one transaction, which checks everything again,
 * because a body may take long to arrive. Nothing is written about a delivery that is not accepted. Throws AppError
 * agent_not_found and database errors, and then accepts none.
 */
export function acceptDeliveries(tx: Tx, deps: AcceptDeps, arrived: readonly IncomingDelivery[]): AcceptResult[] {
  const states = new Map<number, ChangingState | undefined>()
  const accepted: Accepted[] = []
  const results = arrived.map((one): AcceptResult => {
    const { seq } = one.trigger
    if (!states.has(seq)) {
      const state = readState(tx, seq)
      states.set(seq, state && { ...state, acceptedAt: null })
    }
    return acceptOne(tx, deps, states.get(seq), one, accepted)
  })
  const newest = insertAccepted(tx, deps, accepted)
  for (const [seq, jobSeq] of newest) {
    const state = states.get(seq)!
    saveAccepted(tx, { seq, limit: { ...state, fires: state.fires! }, at: state.acceptedAt!, jobSeq, time: deps.time })
  }
  return results
}

/** `acceptedAt`: when the last delivery of this transaction was received. */
type ChangingState = TriggerState & { acceptedAt: number | null }
/** `before`: the trigger's newest job when the transaction began. */
type Accepted = { trigger: IndexedTrigger; agentId: string; entityId: string | null; jobId: string; before: number | null; delivery: Kept }

function acceptOne(
  tx: Tx,
  { ids, time }: AcceptDeps,
  state: ChangingState | undefined,
  { trigger, delivery }: IncomingDelivery,
  accepted: Accepted[],
): AcceptResult {
  if (state?.secretDigest == null || trigger.secretDigest?.equals(state.secretDigest) !== true) return { outcome: 'wrong_secret' }
  if (state.status !== 'active') return { outcome: 'paused' }
  if (state.agentId === null) return { outcome: 'no_agent' }
  const senderId = trigger.dedupe ? delivery.senderId : null
  const waitMs = waitMsOf(state, time)
  if (waitMs > 0) {
    const jobId = senderId === null ? null : findJobOfSender(tx, trigger.seq, senderId)
    return jobId === null ? { outcome: 'rate_limited', waitMs } : { outcome: 'duplicate', jobId }
  }
  const jobId = ids.next()
  if (senderId !== null && !claimSenderId(tx, { triggerSeq: trigger.seq, senderId, jobId, at: delivery.receivedAt })) {
    return { outcome: 'duplicate', jobId: findJobOfSender(tx, trigger.seq, senderId)! }
  }
  const kept: Kept = { ...delivery, kind: 'webhook', replayOfId: null }
  const { agentId, entityId, newestJobSeq: before } = state
  accepted.push({ trigger, agentId, entityId, jobId, before, delivery: kept })
  Object.assign(state, addAccepted(state, time), { acceptedAt: delivery.receivedAt })
  return { outcome: 'accepted', jobId, count: state.triggerCount, opensAt: opensAt(state) }
}

export type ManualDelivery = ParsedDelivery & { kind: 'test' | 'replay'; replayOfId: string | null }

/** Accepts a test delivery or a replay. It does not count towards the limit and is never a duplicate. */
export function acceptManualDelivery(
  tx: Tx,
  deps: AcceptDeps,
  trigger: IndexedTrigger,
  delivery: ManualDelivery,
): { jobId: string } | { outcome: 'no_agent' | 'paused' | 'deleted' } {
  const { status, agentId, newestJobSeq } = triggers
  const current = tx
    .select({ status, agentId, newestJobSeq })
    .from(triggers)
    .where(and(eq(triggers.seq, trigger.seq), eq(triggers.id, trigger.id)))
    .get()
  if (current === undefined) return { outcome: 'deleted' }
  if (current.status !== 'active') return { outcome: 'paused' }
  if (current.agentId === null) return { outcome: 'no_agent' }
  const jobId = deps.ids.next()
  const sent: Accepted = { trigger, agentId: current.agentId, entityId: null, jobId, before: current.newestJobSeq, delivery }
  const made = insertAccepted(tx, deps, [sent]).get(trigger.seq)!
  tx.update(triggers).set({ newestJobSeq: made }).where(eq(triggers.seq, trigger.seq)).run()
  return { jobId }
}

type Kept = ParsedDelivery & { kind: Delivery['kind']; replayOfId: string | null }

/** Writes earlier refusals first, to keep the order of arrival. Returns the last job of each trigger, by the trigger's seq. */
function insertAccepted(tx: Tx, { jobs, deliveryLog }: AcceptDeps, accepted: readonly Accepted[]): Map<number, number> {
  for (const { trigger } of accepted) deliveryLog.writeBefore(tx, trigger.seq)
  const last = new Map<number, number>()
  const made = jobs.insertAll(
    tx,
    accepted.map(({ trigger, agentId, entityId, jobId, before, delivery }, i) => {
      const { kind, eventName, senderId, replayOfId, payload, headers, task, missing } = delivery
      const nth = last.get(trigger.seq)
      last.set(trigger.seq, i)
      // Defaults are left out, because this is stored with every delivery.
      const context: z.input<typeof DeliveryContext> = {
        trigger: { id: trigger.id, name: trigger.name, slug: trigger.slug },
        deliveryId: jobId,
        kind: kind === 'webhook' ? undefined : kind,
        eventName: eventName ?? undefined,
        senderId: senderId ?? undefined,
        replayOfId: replayOfId ?? undefined,
        missing: missing.length === 0 ? undefined : missing,
        wrapper: task.wrapper,
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
